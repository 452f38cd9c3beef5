"""Excess: where width is lost on tables of a known law, against the band that knows it.

y = f(x) + σ(x)·noise with Gaussian noise. The oracle knows f and σ, and is the narrowest band on average with a share
1 − ε of all rows inside: the density of y is the same at its ends at every x. It is narrower than z·σ(x), whose width
over the oracle's is printed as "σ". Each part of the excess is a quotient of two widths, and their product is the
whole:

- rank: the certificate of the oracle's band with N calibration rows, over the oracle: the price of a finite N.
- predictor: our T with the oracle's half-width in place of our σ̂, over the oracle. Each is measured at its own quantile
  of many test rows, as is the next.
- scale: our T and σ̂, over our T and the oracle's half-width.
- family: what is left: the certified width over all of the above. It is the price of choosing among candidates, and of
  the draw of the calibration rows.

The first law is the paper's, in one dimension; three harder ones have 1, 5 and 20. A fifth of N rows calibrates.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

import pacband
from benchmarks._bands import DELTA, EPS, certified
from benchmarks._tables import Array, Split
from benchmarks._timing import print_table
from pacband.datasets import paper_predictor, paper_scale

N_TEST = 50_000
BUDGET = 15.0


@dataclass(frozen=True)
class Law:
    """y = f(x) + σ(x)·noise, with x uniform in [−R, R]^d."""

    columns: int
    mean: Callable[[Array], Array]
    scale: Callable[[Array], Array]
    half_range: float = 1.0

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return rows of x, and their y."""
        X = rng.uniform(-self.half_range, self.half_range, (n, self.columns))
        return X, self.mean(X) + self.scale(X) * rng.standard_normal(n)


LAWS = {
    "the paper's (1)": Law(1, paper_predictor, paper_scale, half_range=2.5),
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
    print_table(["law (dimensions)", "rows", "in all", "predictor", "scale", "rank", "family", "σ", "s"], rows)


def _split_excess(law: Law, size: int, seed: int) -> tuple[float, ...]:
    """Return the whole quotient, its parts (predictor, scale, rank, family), and that of a band in proportion to σ."""
    rng = np.random.default_rng(seed)
    X, y = law.draw(size, rng)
    X_test, y_test = law.draw(N_TEST, rng)
    n = size // 5
    frames = [pd.DataFrame(part).add_prefix("x") for part in (X[n:], X[:n], X_test)]
    split = Split(frames[0], y[n:], frames[1], y[:n], frames[2], y_test)
    _, _, interval = certified(split, time_budget=BUDGET)
    ends = np.asarray(interval(split.X_test))
    centre, half = ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2.0

    density = _density_at_ends(law.scale(X_test))
    best = _halves(law.scale(X_test), density)
    oracle = float(best.mean())
    scores = np.abs(y[:n] - law.mean(X[:n])) / _halves(law.scale(X[:n]), density)
    rank = float(np.sort(scores)[n - pacband.max_rank(n, EPS, DELTA)])
    with_best = _width(y_test, centre, best)
    whole = float(half.mean()) / oracle
    predictor = with_best / _width(y_test, law.mean(X_test), best)
    scale = _width(y_test, centre, half) / with_best
    in_proportion = float(norm.ppf(1.0 - EPS / 2.0) * law.scale(X_test).mean()) / oracle
    return whole, predictor, scale, rank, whole / (predictor * scale * rank), in_proportion


def _density_at_ends(scale: Array) -> float:
    """Return the log of the density at the ends of the narrowest band that leaves a share ε of all rows outside."""

    def uncovered(log: float) -> float:
        return float(np.mean(2.0 * norm.cdf(-_halves(scale, log) / scale)) - EPS)

    return float(brentq(uncovered, -30.0, 10.0))


def _halves(scale: Array, log: float) -> Array:
    """Return the half-widths at which the density of a Gaussian error is exp(log), up to a constant factor."""
    return scale * np.sqrt(np.maximum(-2.0 * (log + np.log(scale)), 1e-6))


def _width(y: Array, centre: Array, scale: Array) -> float:
    """Return the mean half-width of the band that exactly ε of these rows leave."""
    return float(np.quantile(np.abs(y - centre) / scale, 1.0 - EPS) * scale.mean())
