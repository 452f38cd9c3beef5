"""From values to numbers that any distribution shares: signs about the middle, and ranks. Both are centred.

Under every order of the rows, signs and ranks are the same numbers in another order. So tests on them assume no
distribution: heavy tails, ties and a changing scale do not matter.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats

__all__ = ["centred_ranks", "centred_signs", "middle"]

# If fewer rows than this share are on one side, that side shows too little.
_SMALLER_SIDE = 0.1


def middle(values: Floats) -> float:
    """Return a value that parts the rows into those above and the others, nearly in halves.

    Zero is tried first, because signed errors lie on both sides of it, and that is quicker than a median.
    """
    above = np.count_nonzero(values > 0.0) / len(values)
    if 0.3 <= above <= 0.7:
        return 0.0
    half = len(values) // 2
    median = float(np.partition(values, half)[half])
    if np.count_nonzero(values > median) >= _SMALLER_SIDE * len(values):
        return median
    # Many values equal the median, and few are larger.
    below = values[values < median]
    return float(below.max()) if len(below) else median


def centred_signs(values: Floats, threshold: float) -> Floats | None:
    """Return, for every row, whether its value is above, minus the mean of that; None if nearly all are on one side."""
    above = values > threshold
    share = np.count_nonzero(above) / len(above)
    return above - share if _SMALLER_SIDE <= share <= 1.0 - _SMALLER_SIDE else None


def centred_ranks(values: Floats, groups: npt.NDArray[np.intp] | None = None) -> Floats | None:
    """Return the ranks, ties at their mean rank, scaled to (−1/2, 1/2); within groups if they are given.

    Returns None if all values of every group are equal.
    """
    if groups is None:
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        ranks = (last - 0.5 * (counts - 1))[codes]
        ranks = (ranks - 0.5) / len(values) - 0.5
        return ranks if len(counts) > 1 else None
    ranks = np.zeros(len(values))
    for code in np.unique(groups):
        rows = np.flatnonzero(groups == code)
        within = centred_ranks(values[rows])
        if within is not None:
            ranks[rows] = within
    return ranks if ranks.any() else None
