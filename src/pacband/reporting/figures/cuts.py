"""Rows cut by one feature: quantile bins of numbers, or categories, and the counts in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats
from pacband.core.wording import compact, significant
from pacband.reporting.figures.bins import finite_mean

__all__ = ["Cut", "cut_rows", "quantile_codes"]

N_BINS = 8
MOST_CATEGORIES = 10


@dataclass(frozen=True)
class Cut:
    """Slices of one feature, none of them empty: labels, rows, rows outside the band, and mean half-widths."""

    feature: str
    labels: tuple[str, ...]
    n_rows: tuple[int, ...]
    n_violations: tuple[int, ...]
    half_width: tuple[float, ...]

    @property
    def chi2_per_df(self) -> float:
        """How much the share of rows outside varies over the slices: χ² by its degrees of freedom, 1 by chance."""
        rows, outside = np.array(self.n_rows, dtype=float), np.array(self.n_violations, dtype=float)
        share = outside.sum() / rows.sum()
        if not 0.0 < share < 1.0 or len(rows) < 2:
            return 0.0
        return float(((outside - rows * share) ** 2 / (rows * share * (1.0 - share))).sum() / (len(rows) - 1))


def cut_rows(
    feature: str,
    column: npt.NDArray[Any],
    outside: npt.NDArray[np.bool_],
    half_width: Floats,
    *,
    n_bins: int = N_BINS,
) -> Cut | None:
    """Cut rows by a feature; return None if the feature has one value only."""
    labels, codes = quantile_codes(column, n_bins) if column.dtype.kind in "fiu" else _category_codes(column)
    if len(labels) < 2:
        return None
    rows = np.bincount(codes, minlength=len(labels))
    violations = np.bincount(codes[outside], minlength=len(labels))
    kept = np.flatnonzero(rows).tolist()
    widths = (finite_mean(half_width[codes == k]) for k in kept)
    return Cut(
        feature=feature,
        labels=tuple(labels[k] for k in kept),
        n_rows=tuple(rows[kept].tolist()),
        n_violations=tuple(violations[kept].tolist()),
        half_width=tuple(float("inf") if width is None else width for width in widths),
    )


def quantile_codes(column: npt.NDArray[Any], n_bins: int) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the labels of up to `n_bins` intervals with equally many rows, and the interval of every row."""
    values = column.astype(np.float64)
    known = values[~np.isnan(values)]
    if not len(known):
        return ["missing"], np.zeros(len(values), dtype=np.intp)
    distinct = np.unique(known[:1000])
    if len(distinct) <= n_bins and np.isin(known, distinct).all():
        labels = [significant(value, 6) for value in distinct.tolist()]
        codes = np.searchsorted(distinct, values)
    else:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, n_bins + 1), method="inverted_cdf"))
        inner = edges[1:-1]
        # Every interval but the first is open to the left.
        labels = [f"{compact(low, 3)} to {compact(high, 3)}" for low, high in pairwise(edges.tolist())]
        labels = labels or [significant(float(edges[0]), 6)]
        codes = np.searchsorted(inner, values, side="left")
    missing = np.isnan(values)
    if missing.any():
        codes = np.where(missing, len(labels), codes)
        labels = [*labels, "missing"]
    return labels, np.asarray(codes, dtype=np.intp)


def _category_codes(column: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the labels of the most frequent categories and of all others, and the category of every row."""
    names, codes, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
    labels = [str(name) for name in names]
    if len(labels) <= MOST_CATEGORIES:
        return labels, codes
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1])
    position = np.full(len(labels), len(kept), dtype=np.intp)
    position[kept] = np.arange(len(kept))
    return [*(labels[k] for k in kept), f"{len(labels) - len(kept)} others"], position[codes]
