"""Shares as the user wrote them: 0.99 of 100 is 99, although the float 0.99 is a little less."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["count_of_share"]


def count_of_share(share: float, n: int) -> int:
    """Return ⌈share·n⌉: the least number of n that is at least this share of them.

    Examples
    --------
    >>> count_of_share(0.99, 100), count_of_share(0.07, 100), count_of_share(0.5, 5)
    (99, 7, 3)
    """
    # repr of a float is the shortest decimal that reads back as it: the one that the user wrote.
    return math.ceil(n * Fraction(repr(float(share))))
