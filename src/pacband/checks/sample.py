"""Which rows a screen looks at: all of a few rows; of many, some neighbours and some rows from everywhere.

The rows depend on their number alone, so that the same data have the same findings.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["FEWEST_ROWS", "MOST_ROWS", "Looked", "rows_to_look_at"]

# So many rows of each kind are looked at: of an array one in 200, but at least and at most so many; of a table, whose
# rows take longer to read anyway, MOST_ROWS.
_SHARE, FEWEST_ROWS, _MOST_OF_ARRAYS, MOST_ROWS = 200, 2000, 5000, 10_000


class Looked:
    """The rows that are looked at.

    Attributes
    ----------
    rows : slice or array of int
        The row numbers: first neighbours, the first rows of all; then rows from everywhere, in increasing order.
    n_first : int
        How many neighbours there are; 0 if the others are all rows.
    """

    __slots__ = ("n_first", "rows")

    def __init__(self, rows: slice | npt.NDArray[np.intp], n_first: int) -> None:
        self.rows, self.n_first = rows, n_first


@lru_cache(maxsize=16)
def rows_to_look_at(n_rows: int, *, at_least: int = FEWEST_ROWS) -> Looked:
    """Return which of n rows are looked at; every row if there are no more than twice `at_least`.

    Examples
    --------
    >>> looked = rows_to_look_at(1_000_000)
    >>> looked.n_first, looked.rows[[0, 4999, 5000, 5001]].tolist()
    (5000, [0, 4999, 127, 253])
    """
    size = max(at_least, min(_MOST_OF_ARRAYS, n_rows // _SHARE))
    if n_rows <= 2 * size:
        return Looked(slice(0, n_rows), 0)
    # One row from each of `size` equal parts: in order, and never twice.
    ends = np.arange(size + 1) * n_rows // size
    drawn = ends[:-1] + (np.random.default_rng(0).random(size) * np.diff(ends)).astype(np.intp)
    rows = np.concatenate([np.arange(size), drawn])
    rows.flags.writeable = False
    return Looked(rows, size)
