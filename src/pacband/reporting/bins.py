"""Many rows as few numbers: quantile bins, densities, and exact intervals for shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats
from pacband.judging.counts import exact_interval, exceedance

__all__ = ["Density", "Slice", "Slicing", "density", "mark_weak", "quantile_codes", "slice_rows"]

MOST_CATEGORIES = 10


@dataclass(frozen=True)
class Slice:
    """Rows of one slice: how many, how many outside the band, and how wide the band is."""

    label: str
    n_rows: int
    n_violations: int
    low: float
    high: float
    half_width: float
    weak: bool

    @property
    def violation(self) -> float:
        """The share of rows outside the band."""
        return self.n_violations / self.n_rows


@dataclass(frozen=True)
class Slicing:
    """The rows cut by one feature."""

    feature: str
    slices: tuple[Slice, ...]

    @property
    def telling(self) -> float:
        """How much the share of rows outside varies over slices, beyond chance: a χ² by its degrees of freedom."""
        rows = np.array([part.n_rows for part in self.slices], dtype=float)
        outside = np.array([part.n_violations for part in self.slices], dtype=float)
        share = outside.sum() / rows.sum()
        if not 0.0 < share < 1.0 or len(rows) < 2:
            return 0.0
        return float(((outside - rows * share) ** 2 / (rows * share * (1.0 - share))).sum() / (len(rows) - 1))


def slice_rows(
    feature: str,
    column: npt.NDArray[Any],
    outside: npt.NDArray[np.bool_],
    half_width: Floats,
    *,
    n_bins: int = 8,
) -> Slicing | None:
    """Cut rows by a feature, no slice marked yet; None where the feature has one value only."""
    labels, codes = quantile_codes(column, n_bins) if column.dtype.kind in "fiu" else _category_codes(column)
    if len(labels) < 2:
        return None
    rows = np.bincount(codes, minlength=len(labels))
    violations = np.bincount(codes[outside], minlength=len(labels))
    width = np.where(np.isfinite(half_width), half_width, np.nan)
    slices = []
    for k, label in enumerate(labels):
        if not rows[k]:
            continue
        low, high = exact_interval(int(violations[k]), int(rows[k]))
        here = width[codes == k]
        here = here[~np.isnan(here)]
        slices.append(
            Slice(
                label=label,
                n_rows=int(rows[k]),
                n_violations=int(violations[k]),
                low=low,
                high=high,
                half_width=float(here.mean()) if len(here) else float("inf"),
                weak=False,
            )
        )
    return Slicing(feature, tuple(slices))


def mark_weak(slicing: Slicing, *, eps: float, level: float) -> Slicing:
    """Mark the slices whose share of rows outside is beyond ε with a p-value of at most `level`."""
    return replace(
        slicing,
        slices=tuple(
            replace(part, weak=exceedance(part.n_violations, part.n_rows, eps) <= level) for part in slicing.slices
        ),
    )


def quantile_codes(column: npt.NDArray[Any], n_bins: int) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return labels of up to `n_bins` intervals with as many rows each, and the interval of every row."""
    values = column.astype(np.float64)
    known = values[~np.isnan(values)]
    if not len(known):
        return ["missing"], np.zeros(len(values), dtype=np.intp)
    distinct = np.unique(known[:1000])
    if len(distinct) <= n_bins and np.isin(known, distinct).all():
        labels = [f"{value:g}" for value in distinct]
        codes = np.searchsorted(distinct, values)
    else:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, n_bins + 1), method="inverted_cdf"))
        inner = edges[1:-1]
        # Each interval is open to the left, but for the first.
        labels = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges.tolist())] or [f"{edges[0]:g}"]
        codes = np.searchsorted(inner, values, side="left")
    missing = np.isnan(values)
    if missing.any():
        codes = np.where(missing, len(labels), codes)
        labels = [*labels, "missing"]
    return labels, np.asarray(codes, dtype=np.intp)


def _category_codes(column: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[np.intp]]:
    names, codes, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
    labels = [str(name) for name in names]
    if len(labels) <= MOST_CATEGORIES:
        return labels, codes
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1])
    position = np.full(len(labels), len(kept), dtype=np.intp)
    position[kept] = np.arange(len(kept))
    return [*(labels[k] for k in kept), f"{len(labels) - len(kept)} others"], position[codes]


@dataclass(frozen=True)
class Density:
    """Counts of points on a grid, column by column from the lower left."""

    x_edges: Floats
    y_edges: Floats
    counts: Floats


def density(x: Floats, y: Floats, *, y_range: tuple[float, float], shape: tuple[int, int] = (90, 60)) -> Density:
    """Count points on a grid; what lies above or below the range is left out."""
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=shape, range=((x.min(), x.max()), y_range))
    return Density(x_edges, y_edges, counts)
