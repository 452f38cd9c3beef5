"""Which rows a screen looks at: all of a few rows; of many, short runs of neighbours from everywhere.

The rows depend on their number alone, so that the same data have the same findings. Neighbours show whether a row
depends on the row before, and eight numbers are one line of the processor's cache: rows one by one would take eight
times as long to read.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["FEWEST_ROWS", "MOST_ROWS", "RUN", "rows_to_look_at"]

# The number of rows in a run of neighbours.
RUN = 8
# So many rows are looked at: of an array one in 200, but at least and at most so many; of a table, whose rows take
# longer to read anyway, MOST_ROWS.
_SHARE, FEWEST_ROWS, _MOST_OF_ARRAYS, MOST_ROWS = 200, 2000, 4000, 10_000


@lru_cache(maxsize=16)
def rows_to_look_at(n_rows: int, *, at_least: int = FEWEST_ROWS) -> slice | npt.NDArray[np.intp]:
    """Return which of n rows are looked at, in increasing order; every row if there are no more than twice `at_least`.

    Examples
    --------
    >>> rows = rows_to_look_at(1_000_000)
    >>> len(rows), rows[:10].tolist()
    (4000, [1269, 1270, 1271, 1272, 1273, 1274, 1275, 1276, 2537, 2538])
    """
    size = max(at_least, min(_MOST_OF_ARRAYS, n_rows // _SHARE))
    if n_rows <= 2 * size:
        return slice(0, n_rows)
    # One run from each of equal parts: in order, and no row twice.
    n_runs = size // RUN
    ends = np.arange(n_runs + 1) * n_rows // n_runs
    starts = ends[:-1] + (np.random.default_rng(0).random(n_runs) * (np.diff(ends) - RUN + 1)).astype(np.intp)
    rows: npt.NDArray[np.intp] = (starts[:, None] + np.arange(RUN)).ravel()
    rows.flags.writeable = False
    return rows
