"""`certify` and `interval` against bare numpy, MAPIE and crepes, on the same columns (y, T, σ̂).

What is measured is the work between a column of predictions and a band: score every row, find the score of rank
r, and put the band around the same predictions. pacband also plans the rank, checks every value, takes the
fingerprint of the scores and writes the certificate; the others do none of that.

- floor: the least numpy one would write: |y − T|/σ̂, one partition, T − γσ̂ and T + γσ̂.
- tuned floor: the same with every temporary in one reused buffer, to be fair to numpy.
- MAPIE: `SplitConformalRegressor(prefit=True)` with the residual-normalised score. Its two models are columns
  of X handed back as they are (a view, no copy), so that no prediction is on its bill.
- crepes: `ConformalRegressor`, fitted on residuals and σ̂.

The peers promise coverage on average over calibrations, pacband with confidence 1 − δ. So that all do the same
work here, each is asked for the level at which its order statistic is pacband's rank, and the bands are
checked to be the same before anything is timed. Memory is the peak beyond the input columns, with the result,
in columns of N float64: the band itself is two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from crepes import ConformalRegressor
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin

import pacband
from benchmarks._timing import best_of, peak_memory, print_table, ratio, verdict

EPS, DELTA = 0.05, 1e-6
REPEATS = {10**4: 40, 10**6: 50, 10**7: 8}
FLOOR_AIM, MEMORY_AIM, SCRATCH = 1.3, 2.0, 1 << 20

Column = np.ndarray[Any, np.dtype[np.float64]]


def main(quick: bool = False) -> None:
    sizes = [10**4, 10**6] if quick else list(REPEATS)
    verdicts = []
    for n_rows in sizes:
        contenders = _contenders(n_rows)
        _check_agreement(contenders)
        times = best_of(contenders, repeats=3 if quick else REPEATS[n_rows])
        peaks = {name: peak_memory(function) / (8 * n_rows) for name, function in contenders.items()}
        print(f"\ncertify + interval, N = {n_rows:,}, ε = {EPS}, δ = {DELTA:g}")
        print_table(
            ["", "ms", "of floor", "of pacband", "peak memory / N"],
            [
                [
                    name,
                    f"{1e3 * seconds:.3f}",
                    ratio(seconds, times["floor"]),
                    ratio(seconds, times["pacband"]),
                    f"{peaks[name]:.3f}",
                ]
                for name, seconds in times.items()
            ],
        )
        verdicts += _verdicts(n_rows, times, peaks)
    print()
    print_table(["aim", "N", "found", ""], verdicts)


def _verdicts(n_rows: int, times: dict[str, float], peaks: dict[str, float]) -> list[list[str]]:
    rows = []
    if n_rows >= 10**6:
        found = times["pacband"] / times["floor"]
        rows.append([f"at most {FLOOR_AIM} × the floor", f"{found:.2f}×", found <= FLOOR_AIM])
        peak = peaks["pacband"]
        scratch = SCRATCH / (8 * n_rows)
        rows.append(["the band's 2 columns and 1 MiB of scratch", f"{peak:.3f}", peak <= MEMORY_AIM + scratch])
    rows += [
        [f"faster than {peer}", ratio(times["pacband"], times[peer]), times["pacband"] < times[peer]]
        for peer in ("MAPIE", "crepes")
    ]
    return [[aim, f"{n_rows:,}", found, verdict(met)] for aim, found, met in rows]


def _contenders(n_rows: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, n_rows)
    y_pred, scale = np.sin(x), 0.1 + 0.1 * np.abs(x)
    y = y_pred + scale * rng.standard_normal(n_rows)
    rank = pacband.max_rank(n_rows, EPS, DELTA)
    # Peers turn a level into a rank as ⌊(1 − level)(N + 1)⌋; half a rank more keeps clear of rounding.
    level = 1.0 - (rank + 0.5) / (n_rows + 1)
    X = np.array([y_pred, scale]).T
    return {
        "pacband": lambda: _with_pacband(y, y_pred, scale),
        "floor": lambda: _floor(y, y_pred, scale, rank),
        "tuned floor": lambda: _tuned_floor(y, y_pred, scale, rank),
        "MAPIE": lambda: _with_mapie(X, y, level),
        "crepes": lambda: _with_crepes(y, y_pred, scale, level),
    }


def _with_pacband(y: Column, y_pred: Column, scale: Column) -> Column:
    return pacband.certify(y, y_pred, scale, eps=EPS, delta=DELTA).interval(y_pred, scale)


def _floor(y: Column, y_pred: Column, scale: Column, rank: int) -> tuple[Column, Column]:
    scores = np.abs(y - y_pred) / scale
    scores.partition(len(scores) - rank)
    half = scores[-rank] * scale
    return y_pred - half, y_pred + half


def _tuned_floor(y: Column, y_pred: Column, scale: Column, rank: int) -> Column:
    buffer = np.subtract(y, y_pred)
    np.abs(buffer, out=buffer)
    np.divide(buffer, scale, out=buffer)
    buffer.partition(len(buffer) - rank)
    np.multiply(scale, buffer[-rank], out=buffer)
    ends = np.empty((2, len(y)))
    np.subtract(y_pred, buffer, out=ends[0])
    np.add(y_pred, buffer, out=ends[1])
    return ends


class _StoredColumn(RegressorMixin, BaseEstimator):
    """A fitted model whose predictions are a column of X."""

    def __init__(self, column: int = 0):
        self.column = column

    def fit(self, X: Column, y: Column) -> _StoredColumn:
        return self

    def predict(self, X: Column) -> Column:
        return X[:, self.column]

    # MAPIE takes a model without such an attribute for unfitted, and would spend its time on warnings.
    is_fitted = True


def _with_mapie(X: Column, y: Column, level: float) -> Column:
    score = ResidualNormalisedScore(residual_estimator=_StoredColumn(1), prefit=True)
    regressor = SplitConformalRegressor(_StoredColumn(0), confidence_level=level, conformity_score=score, prefit=True)
    _, ends = regressor.conformalize(X, y).predict_interval(X)
    return ends[:, :, 0]


def _with_crepes(y: Column, y_pred: Column, scale: Column, level: float) -> Column:
    regressor = ConformalRegressor().fit(y - y_pred, sigmas=scale)
    return regressor.predict_int(y_pred, sigmas=scale, confidence=level)


def _check_agreement(contenders: dict[str, Callable[[], Any]]) -> None:
    ours = contenders["pacband"]()
    for name, function in contenders.items():
        theirs = np.asarray(function())
        theirs = theirs if theirs.shape == ours.shape else theirs.T
        if not np.allclose(theirs, ours, rtol=1e-12, atol=1e-12):
            raise AssertionError(f"{name} computed another band: the comparison would not be fair.")
