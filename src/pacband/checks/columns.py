"""What another column of a table can show: labels of rows that belong together, or the order of time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.dates import UNCLEAR, date_order, to_days

__all__ = ["Labels", "counts_rows", "identifies_rows", "may_hold_labels", "read_labels", "read_times", "without_ids"]

# Fewer texts name kinds of rows, such as day and night, rather than units. Numbers are compared in pairs.
_FEWEST_TEXTS, _FEWEST_NUMBERS = 5, 10
# Rows beyond the first of their label: fewer show too little.
_FEWEST_REPEATS = 30
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")


@dataclass(frozen=True, eq=False)
class Labels:
    """A label for every row.

    Attributes
    ----------
    codes : array of int
        The label of every row, as its place among the sorted labels; −1 where it is missing.
    n_labels : int
        How many labels there are.
    ordered : bool
        Whether labels are numbers, so that near ones may be alike for other reasons.
    """

    codes: npt.NDArray[np.intp]
    n_labels: int
    ordered: bool

    @property
    def together(self) -> bool:
        """Whether the rows of every label stand together."""
        return int(np.count_nonzero(np.diff(self.codes))) < self.n_labels


def may_hold_labels(column: npt.NDArray[Any]) -> bool:
    """Return whether a column of the first rows of a table may hold labels or dates of all its rows.

    Texts and integers may, unless every row has its own. One label for all may be the first of many.
    """
    if read_times(column) is not None:
        return True
    if column.ndim != 1 or column.dtype.kind not in "iufOUST":
        return False
    numbers = _as_numbers(column)
    if numbers is None:
        return len(np.unique(_as_texts(column))) < len(column)
    known = numbers[~np.isnan(numbers)]
    return np.array_equal(known, np.round(known)) and len(np.unique(known)) < len(known)


def read_labels(column: npt.NDArray[Any]) -> Labels | None:
    """Return the labels of a column, or None if it holds no labels of rows that belong together.

    Texts and integers are labels if they repeat. Columns of other numbers, of dates or truth values, with few texts, or
    with a value of its own in every row are not.
    """
    if column.ndim != 1 or column.dtype.kind not in "iufOUST" or read_times(column) is not None:
        return None
    numbers = _as_numbers(column)
    if numbers is None:
        texts = _as_texts(column)
        missing, values = texts == "", texts
    else:
        missing, values = np.isnan(numbers), numbers
        if not np.array_equal(values[~missing], np.round(values[~missing])):
            return None
    names, codes = np.unique(values[~missing], return_inverse=True)
    fewest = _FEWEST_TEXTS if numbers is None else _FEWEST_NUMBERS
    if len(names) < fewest or len(codes) - len(names) < _FEWEST_REPEATS:
        return None
    whole = np.full(len(column), -1, dtype=np.intp)
    whole[~missing] = codes
    return Labels(whole, len(names), numbers is not None)


def identifies_rows(column: npt.NDArray[Any]) -> bool:
    """Return whether a column has a value of its own in every row, such as a row number, a key or a time stamp.

    A copy of a row may get a new one. Numbers that are not whole are measured and identify nothing.
    """
    if column.ndim != 1 or len(column) < 2 or column.dtype.kind == "b":
        return False
    if column.dtype.kind == "f" and not np.array_equal(column, np.round(column)):
        return False
    if column.dtype.kind == "O":
        if any(isinstance(cell, float) and cell != round(cell) for cell in column if cell == cell):
            return False
        return len(set(column.tolist())) == len(column)
    return len(np.unique(column)) == len(column)


def counts_rows(numbers: npt.NDArray[np.float64]) -> bool:
    """Return whether a column counts the rows, up or down: whole numbers in order, with few gaps.

    Examples
    --------
    >>> counts_rows(np.array([7.0, 8.0, 9.0, 11.0])), counts_rows(np.array([7.0, 9.0, 8.0, 10.0]))
    (True, False)
    """
    steps = np.diff(numbers)
    if len(steps) == 0 or not np.array_equal(numbers, np.round(numbers)):
        return False
    in_order = (steps > 0.0).all() or (steps < 0.0).all()
    return bool(in_order and np.abs(steps).sum() < 2 * len(steps))


def without_ids(columns: Iterable[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Return the columns that a copy of a row shares with it: all that do not identify rows."""
    return [column for column in columns if not identifies_rows(column)]


def read_times(column: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return a column of dates as values that sort in the order of time; None if it holds anything else.

    Dates may be in a national form, such as 31.12.2025, unless day and month cannot be told apart in any row.
    """
    if column.dtype.kind == "M":
        return None if np.isnat(column).any() else column
    if column.ndim != 1 or column.dtype.kind not in "OUT" or not len(column):
        return None
    if _is_date(column[0]) and all(map(_is_date, column)):
        return _as_texts(column)
    if not isinstance(column[0], str) or not all(isinstance(cell, str) for cell in column):
        return None
    order = date_order(column)
    days = [] if order is None or order == UNCLEAR else [to_days(cell, order) for cell in column]
    return np.array(days) if days and None not in days else None


def _is_date(cell: Any) -> bool:
    """Return whether a cell is a date, or a text such as 2024-05-01 12:00, whose order as texts is that of time."""
    return hasattr(cell, "isoformat") if not isinstance(cell, str) else _DATE.fullmatch(cell) is not None


def _as_texts(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return cells as texts; a missing cell is an empty text."""
    return np.array(["" if cell is None or cell != cell else str(cell) for cell in column], dtype=str)


def _as_numbers(column: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return a column as numbers, NaN where a cell is missing; None if a cell is no number."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    try:
        return np.array([np.nan if cell is None or cell == "" else float(cell) for cell in column])
    except (TypeError, ValueError):
        return None
