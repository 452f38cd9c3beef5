"""Two floats between which the r-th largest score lies, and the edges that split the floats between them evenly.

Floats are represented by their places: consecutive floats have consecutive places, so that half of the places is half
of the floats, whatever their sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from pacband.core.floats import float_at, ordinal
from pacband.selection.passes import Window

__all__ = ["Bracket"]

# Edges of a pass that has nothing to guess from: five bits a pass.
SPLITS = 32

_START, _END = ordinal(-math.inf), ordinal(math.inf) + 1


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two floats between which q_(r) lies.

    Attributes
    ----------
    low, high : int
        The place of q_(r) is at least `low` and below `high`.
    from_low, from_high : int
        How many scores lie at or above either float.
    """

    low: int
    high: int
    from_low: int
    from_high: int

    @classmethod
    def of_all_floats(cls, n_samples: int) -> Self:
        """Return the bracket of all floats, with N scores in it."""
        return cls(_START, _END, n_samples, 0)

    @property
    def n_inside(self) -> int:
        """How many scores lie in the bracket."""
        return self.from_low - self.from_high

    @property
    def is_one_float(self) -> bool:
        """Whether there is only one float in the bracket, which is q_(r)."""
        return self.high - self.low == 1

    @property
    def window(self) -> Window:
        """The bracket as a window of scores."""
        return float_at(self.low), float_at(self.high) if self.high < _END else None

    def narrow(self, rank: int, edges: tuple[float, ...], at_least: tuple[int, ...]) -> Self:
        """Return the bracket between the two edges around q_(r), from the number of scores at or above each edge."""
        low, from_low = self.low, self.from_low
        for edge, count in sorted(zip(edges, at_least, strict=True)):
            if count < rank:
                return type(self)(low, ordinal(edge), from_low, count)
            low, from_low = ordinal(edge), count
        return type(self)(low, self.high, from_low, self.from_high)

    def splits(self) -> tuple[float, ...]:
        """Return edges that split the floats in the bracket evenly."""
        step = max(1, (self.high - self.low) // SPLITS)
        return tuple(float_at(place) for place in range(self.low + step, self.high, step))
