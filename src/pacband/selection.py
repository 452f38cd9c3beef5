"""The exact r-th largest score: q_(r), the generalized maximum of the paper's Definition 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pacband._checks import check_positive_integer
from pacband.exceptions import InvalidInput

__all__ = ["rth_largest"]


def rth_largest(scores: npt.NDArray[np.float64], rank: int) -> float:
    """Return the r-th largest score, reordering `scores` in place.

    At most r − 1 scores are strictly larger than the result. Ties are conservative: with equal scores, fewer
    are. The rank is an integer, never a quantile level.

    Examples
    --------
    >>> rth_largest(np.array([3.0, 1.0, 2.0, 3.0]), 2)
    3.0
    >>> rth_largest(np.array([3.0, 1.0, 2.0, 3.0]), 3)
    2.0
    """
    rank = check_positive_integer("rank", rank)
    if rank > len(scores):
        raise InvalidInput(f"rank must not exceed the number of scores, {len(scores)}, got {rank}.")
    position = len(scores) - rank
    scores.partition(position)
    return float(scores[position])
