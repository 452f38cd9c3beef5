"""Many rows as few numbers: means over bins with equally many rows, and means over finite values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats

__all__ = ["bin_means", "equal_bins", "finite_mean", "mean"]


def equal_bins(values: Floats, n_bins: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the order that sorts the values, and where bins with equally many of them start.

    Examples
    --------
    >>> order, starts = equal_bins(np.array([3.0, 1.0, 2.0, 4.0]), 2)
    >>> order.tolist(), starts.tolist()
    ([1, 2, 0, 3], [0, 2])
    """
    order = np.argsort(values, kind="stable")
    return order, np.unique(np.linspace(0, len(values), min(n_bins, len(values)) + 1).astype(int)[:-1])


def bin_means(values: Floats, order: npt.NDArray[np.intp], starts: npt.NDArray[np.intp]) -> Any:
    """Return the mean of every bin, or None if all are infinite: the band is not bounded on this side."""
    sizes = np.diff([*starts, len(values)])
    # Divided first: the sum of large values may overflow.
    means = np.add.reduceat(values[order] / np.repeat(sizes, sizes), starts)
    return means if np.isfinite(means).any() else None


def mean(values: Floats) -> float:
    """Return the mean of values whose sum may overflow."""
    return float((values / len(values)).sum())


def finite_mean(values: Floats) -> float | None:
    """Return the mean of the finite values, or None if there is none."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None
