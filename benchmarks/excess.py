"""Excess: where width is lost on tables of a known law, against the band that knows it.

y = f(x) + σ(x)·noise with Gaussian noise. The oracle knows f, σ and the quantile: its half-width is z·σ(x), with z the
(1 − ε)-quantile of |noise|. Each part of the excess is a quotient of two widths, and their product is the whole:

- rank: the certificate of the true f and σ with N calibration rows, over the oracle: the price of a finite N.
- predictor: our T with the true σ in place of σ̂, over the true f and σ. Each is measured at its own quantile of many
  test rows, as are the two that follow.
- scale: our T and σ̂, over our T and the true σ.
- family: what is left: the certified width over all of the above. It is the price of choosing among candidates, and of
  the draw of the calibration rows.

The tables: the paper's, and three harder ones in 1, 5 and 20 dimensions. A fifth of N rows calibrates, the rest trains.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pandas as pd
from scipy.stats import norm

import pacband
from benchmarks._bands import DELTA, EPS, certified
from benchmarks._tables import Array, Split
from benchmarks._timing import print_table

N_TEST = 50_000
BUDGET = 60.0


@dataclass(frozen=True)
class Law:
    """y = f(x) + σ(x)·noise, with x uniform in [−1, 1]^d."""

    columns: int
    mean: Callable[[Array], Array]
    scale: Callable[[Array], Array]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return rows of x, and their y."""
        X = rng.uniform(-1.0, 1.0, (n, self.columns))
        return X, self.mean(X) + self.scale(X) * rng.standard_normal(n)


LAWS = {
    "sine, rising noise (1)": Law(1, lambda X: np.sin(4 * X[:, 0]), lambda X: 0.05 + 0.4 * (X[:, 0] + 1) ** 2),
    "steps and spikes (1)": Law(
        1,
        lambda X: np.sign(np.sin(9 * X[:, 0])) + X[:, 0],
        lambda X: 0.05 + np.exp(-50 * (X[:, 0] - 0.4) ** 2) + 0.3 * (X[:, 0] < -0.5),
    ),
    "interactions (5)": Law(
        5,
        lambda X: np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 - X[:, 3],
        lambda X: 0.1 + 0.6 * (X[:, 4] > 0) * np.abs(X[:, 0]),
    ),
    "two of twenty (20)": Law(
        20,
        lambda X: 2 * X[:, 0] + np.cos(3 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3],
        lambda X: np.exp(1.2 * X[:, 5] - 1.0) * (1 + (X[:, 6] > 0.5)),
    ),
}


def main(quick: bool = False) -> None:
    warnings.simplefilter("ignore")
    sizes, seeds = ((2000,), 1) if quick else ((2_000, 20_000, 200_000), 3)
    print(f"\nwidth over the oracle's, ε = {EPS}, δ = {DELTA}; mean of {seeds} seeds, with a budget of {BUDGET:.0f} s")
    rows = []
    for name, law in LAWS.items():
        for size in sizes:
            start = perf_counter()
            parts = np.mean([_split_excess(law, size, seed) for seed in range(seeds)], axis=0)
            seconds = (perf_counter() - start) / seeds
            rows.append([name, f"{size:,}", *(f"{part:.3f}" for part in parts), f"{seconds:.0f}"])
    print_table(["law (dimensions)", "rows", "in all", "predictor", "scale", "rank", "family", "s"], rows)


def _split_excess(law: Law, size: int, seed: int) -> tuple[float, ...]:
    """Return the whole quotient, and its parts: predictor, scale, rank, family."""
    rng = np.random.default_rng(seed)
    X, y = law.draw(size, rng)
    X_test, y_test = law.draw(N_TEST, rng)
    n = size // 5
    frames = [pd.DataFrame(part).add_prefix("x") for part in (X[n:], X[:n], X_test)]
    split = Split(frames[0], y[n:], frames[1], y[:n], frames[2], y_test)
    _, _, interval = certified(split, time_budget=BUDGET)
    ends = np.asarray(interval(split.X_test))
    centre, half = ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2.0
    true_mean, true_scale = law.mean(X_test), law.scale(X_test)
    oracle = float(norm.ppf(1.0 - EPS / 2.0) * true_scale.mean())
    scores = np.abs(y[:n] - law.mean(X[:n])) / law.scale(X[:n])
    rank = np.sort(scores)[n - pacband.max_rank(n, EPS, DELTA)] * true_scale.mean() / oracle
    known = _width(y_test, true_mean, true_scale)
    ours_true_scale = _width(y_test, centre, true_scale)
    ours = _width(y_test, centre, half)
    whole = float(half.mean()) / oracle
    predictor, scale = ours_true_scale / known, ours / ours_true_scale
    return whole, predictor, scale, rank, whole / (predictor * scale * rank)


def _width(y: Array, centre: Array, scale: Array) -> float:
    """Return the mean half-width of the band that exactly ε of these rows leave."""
    return float(np.quantile(np.abs(y - centre) / scale, 1.0 - EPS) * scale.mean())
