"""The r-th largest score of an array, q_(r): the generalized maximum of the paper's Definition 1."""

from __future__ import annotations

from dataclasses import dataclass

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive_integer
from pacband.exceptions import InvalidInput
from pacband.selection.fingerprint import fingerprint

__all__ = ["Measured", "measure", "rth_largest"]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a certificate takes from its scores: how many there are, the one at its rank, and their fingerprint."""

    n_samples: int
    gamma: float
    digest: str


def rth_largest(scores: Floats, rank: int) -> float:
    """Return the r-th largest score. Reorders `scores` in place.

    At most r − 1 scores are strictly larger than the result. Ties are conservative: with equal scores, fewer
    are. The rank is an integer, never a quantile level.

    Examples
    --------
    >>> import numpy as np
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
    # Of the two zeros, the positive one.
    return float(scores[position]) + 0.0


def measure(scores: Floats, rank: int) -> Measured:
    """Return the r-th largest score and the fingerprint. Reorders `scores` in place."""
    gamma = rth_largest(scores, rank)
    return Measured(len(scores), gamma, fingerprint(scores, gamma))
