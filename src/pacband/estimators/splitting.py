"""Which rows calibrate: random draws, from every group where there are groups; of a series, the latest rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from pacband.core.arrays import Indices
from pacband.core.labels import Label
from pacband.core.row_tables import take_rows
from pacband.draws import Sample
from pacband.exceptions import InvalidInput

__all__ = [
    "calibration_draws",
    "calibration_parts",
    "count_rows",
    "divide_rows",
    "draw_rows",
    "latest_rows",
    "rows_of_units",
]


def calibration_draws(size: int | float | None, n_draws: int, planned: int, counted: str = "rows") -> int:
    """Return how many of n draws calibrate; `counted` is what the draws are called.

    If `size` is None: the planned number or a fifth of the draws, whichever is larger, but at most half of them.
    """
    if size is None:
        return max(1, min(max(planned, n_draws // 5), n_draws // 2))
    if isinstance(size, (float, np.floating)) and 0.0 < size < 1.0:
        return min(max(1, round(float(size) * n_draws)), n_draws - 1)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and 1 <= size < n_draws:
        return int(size)
    raise InvalidInput(
        f"calibration_size must be a share in (0, 1) or a number of {counted} below {n_draws}, got {size!r}."
    )


def draw_rows(
    parts: Mapping[Label | None, Indices], sizes: Mapping[Label | None, int], random_state: Any
) -> tuple[Indices, Indices]:
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


def rows_of_units(sample: Sample, fit: Indices, calibrate: Indices) -> tuple[Indices, Indices]:
    """Return the rows of the units that fit and of the units that calibrate.

    The rows of a training unit stay together: folds that a model makes without shuffling then divide few units.

    Examples
    --------
    >>> from pacband.draws import Units
    >>> sample = Units(["a", "b", "c", "a", "c"]).sample(5)
    >>> [rows.tolist() for rows in rows_of_units(sample, np.array([2, 0]), np.array([1]))]
    [[2, 4, 0, 3], [1]]
    """
    assert sample.codes is not None  # a unit has several rows
    place = np.full(sample.n_draws, -1)
    place[fit] = np.arange(len(fit))
    places = place[sample.codes]
    rows = np.argsort(places, kind="stable")
    n_calibrate = int(np.count_nonzero(places < 0))
    return rows[n_calibrate:], rows[:n_calibrate]


def latest_rows(n_rows: int, n_draws: int, gap: int) -> tuple[Indices, Indices]:
    """Return the earliest rows of a series, to fit, and its latest rows, which hold `n_draws` draws, to calibrate.

    The last row that fits and the first row that calibrates are `gap` apart.

    Examples
    --------
    >>> [rows.tolist() for rows in latest_rows(10, 2, 3)]
    [[0, 1], [4, 5, 6, 7, 8, 9]]
    """
    start = n_rows - n_draws * gap
    return np.arange(start - gap + 1), np.arange(start, n_rows)


def count_rows(y: Any) -> int:
    """Return the number of targets, in any container."""
    return len(y if hasattr(y, "__len__") else np.asarray(y))


def divide_rows(X: Any, y: Any, fit: Indices | None, calibrate: Indices | None) -> tuple[Any, Any, Any, Any]:
    """Return (X_fit, X_cal, y_fit, y_cal); if nothing has to be fitted, all rows calibrate."""
    if fit is None or calibrate is None:
        return None, X, None, y
    return take_rows(X, fit), take_rows(X, calibrate), take_rows(y, fit), take_rows(y, calibrate)


def calibration_parts(calibration: Any) -> tuple[Any, Any, Any]:
    """Return X, y and the draws of calibration rows as given to `fit`; None if there are no draws. Raises otherwise."""
    if not isinstance(calibration, (tuple, list)) or len(calibration) not in (2, 3):
        raise InvalidInput(f"calibration must be a pair (X_cal, y_cal), got {type(calibration).__name__}.")
    return calibration[0], calibration[1], calibration[2] if len(calibration) == 3 else None
