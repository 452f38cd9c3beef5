"""How much memory a prediction may use, and how its points are cut to fit."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn import get_config

__all__ = ["PORTION", "budget", "cut"]

# The few points of a batch that need all samples take them in portions of this many numbers.
PORTION = 1 << 21


def budget() -> int:
    """Return how many numbers fit in scikit-learn's `working_memory` (in MiB, `sklearn.set_config`)."""
    return int(get_config()["working_memory"] * 2**20 / 8)


def cut(n: int, *, each: int, room: int, most: int | None = None) -> Iterator[slice]:
    """Cut n rows into slices, of at most `most` rows each.

    A row needs `each` numbers of scratch space, and a slice has `room` for so many numbers.

    >>> list(cut(5, each=10, room=25, most=100))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, min(most or n, room // each))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))
