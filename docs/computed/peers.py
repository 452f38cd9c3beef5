"""pacband beside its peers on the same rows: width, how often the true violation exceeds ε, and time.

One model is fitted on 3,000 rows of the paper's example. Every calibration draws 1,000 fresh rows, and every method
makes its band from them. The true violation of a band is its violation on a million other rows. Quantile regression
has no calibration rows: it is fitted anew on 3,000 + 1,000 rows. Certified quantile regression is fitted on 3,000 rows,
and the other 1,000 calibrate it. `python docs/computed/peers.py` writes `peers.json`; it needs the dependency groups
bench and test.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from time import perf_counter, process_time
from typing import Any

import measured
import numpy as np

import pacband
from pacband.planning.costs import split_conformal_rank

EPS, DELTA, N, CALIBRATIONS, TRAININGS = 0.1, 0.05, 1000, 400, 10

Array = np.ndarray[Any, Any]
# From calibration rows to the ends of the band, relative to the prediction.
Method = Callable[[Array, Array], tuple[float, float]]

PROMISES = {
    f"pacband, δ = {DELTA:g}": "(ε, δ)",
    "pacband, δ = 1e-06": "(ε, δ)",
    "MAPIE, split conformal at 90 %": "on average",
    "crepes, conformal regressor at 90 %": "on average",
    "MAPIE, at the level of pacband's rank": "(ε, δ)",
    "normal tolerance interval, 90 % with confidence 95 %": "(ε, δ) if errors are Gaussian",
    "quantile regression, 5 % and 95 %": "none",
    f"the same, certified by pacband, δ = {DELTA:g}": "(ε, δ)",
}


def methods(model: Any) -> dict[str, Method]:
    """Return the methods that make a band from calibration rows and a fitted model."""
    from crepes import WrapRegressor
    from mapie.regression import SplitConformalRegressor
    from toleranceinterval.twoside import normal

    def certified(delta: float) -> Method:
        def band(X: Array, y: Array) -> tuple[float, float]:
            bound = pacband.certify(y, model.predict(X), eps=EPS, delta=delta).gamma
            return -bound, bound

        return band

    def mapie(level: float) -> Method:
        def band(X: Array, y: Array) -> tuple[float, float]:
            made = SplitConformalRegressor(model, confidence_level=level, prefit=True).conformalize(X, y)
            centre, ends = made.predict_interval(X[:1])
            return float(ends[0, 0, 0] - centre[0]), float(ends[0, 1, 0] - centre[0])

        return band

    def crepes(X: Array, y: Array) -> tuple[float, float]:
        made = WrapRegressor(model)
        made.calibrate(X, y)
        lower, upper = made.predict_int(X[:1], confidence=1 - EPS)[0]
        centre = model.predict(X[:1])[0]
        return float(lower - centre), float(upper - centre)

    def tolerance(X: Array, y: Array) -> tuple[float, float]:
        lower, upper = normal(y - model.predict(X), 1 - EPS, 1 - DELTA)[0]
        return float(lower), float(upper)

    # MAPIE takes the ⌈(N + 1)·level⌉-th smallest score.
    level = (N + 0.5 - pacband.max_rank(N, EPS, DELTA)) / (N + 1)
    found = certified(DELTA), certified(1e-6), mapie(1 - EPS), crepes, mapie(level), tolerance
    return dict(zip(PROMISES, found, strict=False))


def measure(calibrations: int = CALIBRATIONS, trainings: int = TRAININGS) -> list[dict[str, Any]]:
    """Return one row for every method."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, y = pacband.datasets.paper_sample(3000, random_state=rng)
    model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    X_test, y_test = pacband.datasets.paper_sample(1_000_000, random_state=rng)
    errors = np.sort(y_test - model.predict(X_test))
    drawn = [pacband.datasets.paper_sample(N, random_state=rng) for _ in range(calibrations)]
    rows = []
    for name, method in methods(model).items():
        results = []
        for X_cal, y_cal in drawn:
            start = process_time()
            lower, upper = method(X_cal, y_cal)
            seconds = process_time() - start
            inside = np.searchsorted(errors, upper, "right") - np.searchsorted(errors, lower, "left")
            results.append((upper - lower, 1 - inside / len(errors), seconds))
        rows.append(_row(name, results))
    X_test, y_test = X_test[:100_000], y_test[:100_000]
    fitted = [_quantile_regression(X_test, y_test, rng) for _ in range(trainings)]
    rows += [_row(name, results) for name, results in zip(list(PROMISES)[-2:], zip(*fitted, strict=True), strict=True)]
    narrow = rows[0]["width"]
    return [{**row, "width": round(row["width"] / narrow, 3)} for row in rows]


def markdown(part: str = "promises") -> str:
    """Return the table of widths and violations, or that of times."""
    rows = measured.read("peers")["rows"]
    words = {row["method"]: row["method"].replace("1e-06", "10⁻⁶") for row in rows}
    if part == "times":
        header = ["| method | CPU of a calibration |", "|---|---:|"]
        return "\n".join([*header, *(f"| {words[row['method']]} | {1000 * row['seconds']:.1f} ms |" for row in rows)])
    lines = [
        "| method | promise | width | mean violation | above 10 % | exactly |",
        "|---|---|---:|---:|---:|---:|",
    ]
    exact = _exact_failures()
    for row in rows:
        cells = (
            f"{row['width']:.2f}",
            f"{100 * row['violation']:.1f} %",
            f"{100 * row['failures']:.1f} %",
            exact.get(row["method"], "–"),
        )
        lines.append(f"| {words[row['method']]} | {PROMISES[row['method']]} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", measured.origin("peers")])


def _exact_failures() -> dict[str, str]:
    """Return how often the violation exceeds ε for errors without ties, by the binomial law of the rank."""
    conformal, certified = split_conformal_rank(N, EPS), pacband.max_rank(N, EPS, DELTA)
    ranks = certified, pacband.max_rank(N, EPS, 1e-6), conformal, conformal, certified
    shares = [pacband.attained_delta(N, rank, EPS) for rank in ranks]
    words = [f"{100 * share:.1f} %" if share > 1e-3 else "< 10⁻⁶" for share in shares]
    return dict(zip(PROMISES, words, strict=False))


def _row(name: str, results: Iterable[tuple[float, float, float]]) -> dict[str, Any]:
    widths, violations, seconds = np.array(list(results)).T
    return {
        "method": name,
        "width": float(widths.mean()),
        "violation": round(float(violations.mean()), 5),
        "failures": float(np.mean(violations > EPS)),
        "seconds": round(float(np.median(seconds)), 5),
    }


def _quantile_regression(X_test: Array, y_test: Array, rng: Any) -> tuple[tuple[float, float, float], ...]:
    """Return width, violation and seconds of two quantile regressors, as they are and certified."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = pacband.datasets.paper_sample(3000 + N, random_state=rng)
    results = []
    for n_train in (3000 + N, 3000):
        start = process_time()
        lower, upper = (
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=0).fit(X[:n_train], y[:n_train])
            for level in (EPS / 2, 1 - EPS / 2)
        )
        gamma = 1.0
        if n_train < len(X):
            middle, half = _middle(lower, upper, X[n_train:])
            gamma = pacband.certify(y[n_train:], middle, half, eps=EPS, delta=DELTA).gamma
        seconds = process_time() - start
        middle, half = _middle(lower, upper, X_test)
        outside = np.abs(y_test - middle) > gamma * half
        results.append((2 * gamma * float(half.mean()), float(outside.mean()), seconds))
    return tuple(results)


def _middle(lower: Any, upper: Any, X: Array) -> tuple[Array, Array]:
    """Return the middle of two quantiles and half of their distance, which is kept positive."""
    low, high = lower.predict(X), upper.predict(X)
    return (low + high) / 2, np.maximum((high - low) / 2, 1e-6)


if __name__ == "__main__":
    began = perf_counter()
    found = measure()
    packages = ("pacband", "MAPIE", "crepes", "toleranceinterval", "scikit-learn")
    measured.save("peers", found, seconds=perf_counter() - began, packages=packages)
