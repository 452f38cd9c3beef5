"""Which rows calibrate: a random share, drawn within every group where there are groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, indexable

from pacband.core.labels import Label
from pacband.estimators.grouping import Rows
from pacband.exceptions import InvalidInput

__all__ = ["calibration_rows", "draw_rows", "take_rows"]


def calibration_rows(size: int | float | None, n_rows: int, planned: int) -> int:
    """Return how many of n rows calibrate.

    If `size` is None: the planned number or a fifth of the rows, whichever is larger, but at most half of them.
    """
    if size is None:
        return max(1, min(max(planned, n_rows // 5), n_rows // 2))
    if isinstance(size, (float, np.floating)) and 0.0 < size < 1.0:
        return min(max(1, round(float(size) * n_rows)), n_rows - 1)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and 1 <= size < n_rows:
        return int(size)
    raise InvalidInput(f"calibration_size must be a share in (0, 1) or a number of rows below {n_rows}, got {size!r}.")


def draw_rows(
    parts: Mapping[Label | None, Rows], sizes: Mapping[Label | None, int], random_state: Any
) -> tuple[Rows, Rows]:
    """Return the rows to fit and the rows to calibrate, `sizes` of every part.

    Examples
    --------
    >>> fit, calibrate = draw_rows({"a": np.arange(4), "b": np.arange(4, 10)}, {"a": 2, "b": 3}, 0)
    >>> len(fit), [int((calibrate < 4).sum()), int((calibrate >= 4).sum())]
    (5, [2, 3])
    """
    random = check_random_state(random_state)
    drawn = [train_test_split(rows, test_size=sizes[label], random_state=random) for label, rows in parts.items()]
    fit, calibrate = (np.concatenate(rows) for rows in zip(*drawn, strict=True))
    # In the order of groups, folds that a model draws without shuffling would miss whole groups.
    # Rows that calibrate keep their order, so that dependence on the rows before can be seen.
    return (fit if len(drawn) == 1 else random.permutation(fit)), np.sort(calibrate)


def take_rows(table: Any, rows: Rows) -> Any:
    """Return these rows of an array, a list or a table of any dataframe library, as one of its kind."""
    (table,) = indexable(table)
    if isinstance(table, (list, tuple)):
        return [table[row] for row in rows]
    import narwhals as nw

    native = nw.from_native(table, eager_only=True, allow_series=True, pass_through=True)
    return native[rows].to_native() if isinstance(native, (nw.DataFrame, nw.Series)) else table[rows]
