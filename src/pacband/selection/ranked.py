"""Scores in order, to look up many ranks: all scores, or a summary of very many that is never too small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats

__all__ = ["Ranked"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """The r-th largest score for every r; from a summary, the smallest known number that is at least as large.

    Attributes
    ----------
    values : array
        All scores, or the largest score of every bin, in increasing order.
    above : array of int or None
        For every value, the most scores that are larger; None if the values are all scores.
    n_samples : int
        N.
    """

    values: Floats
    above: npt.NDArray[np.int64] | None
    n_samples: int

    @classmethod
    def of(cls, scores: Floats) -> Self:
        """Sort all scores."""
        ordered = np.sort(scores)
        ordered.flags.writeable = False
        return cls(ordered, None, len(ordered))

    @classmethod
    def of_bins(cls, largest: Floats, counts: npt.NDArray[Any]) -> Self:
        """Summarise scores by the largest score of every bin and the number of scores in it.

        The bins may be cut in any way and may overlap. A score larger than `values[j]` lies in a bin whose largest
        score is larger, so the counts of these bins add up to at least the number of larger scores.

        Examples
        --------
        >>> bins = Ranked.of_bins(np.array([3.0, 9.0, 5.0]), np.array([10, 2, 4]))
        >>> [bins.largest(rank) for rank in (1, 2, 3, 6, 7)]
        [9.0, 9.0, 5.0, 5.0, 3.0]
        """
        order = np.argsort(largest, kind="stable")
        ordered, sizes = np.asarray(largest, dtype=np.float64)[order], np.asarray(counts, dtype=np.int64)[order]
        total = int(sizes.sum())
        return cls(ordered, total - np.cumsum(sizes), total)

    def __len__(self) -> int:
        return self.n_samples

    def at(self, ranks: npt.NDArray[np.int64]) -> Floats:
        """Return the scores of these ranks from the top; from a summary, the next larger known numbers."""
        if self.above is None:
            return self.values[self.n_samples - ranks]
        # `above` decreases. Find the first value with at most r − 1 larger scores.
        return self.values[np.searchsorted(-self.above, 1 - np.asarray(ranks), side="left")]

    def largest(self, rank: int) -> float:
        """Return the score of this rank from the top; from a summary, the next larger known number."""
        return float(self.at(np.array([rank]))[0])
