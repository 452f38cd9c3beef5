"""The columns of a dataframe in memory, at some rows, as the checks take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.checks.columns import identifies_rows
from pacband.checks.scored import Others, Picked

__all__ = ["FrameColumns", "columns_of_frame", "drop_columns", "id_columns", "plain_column"]


class FrameColumns(Mapping[str, npt.NDArray[Any]]):
    """Columns of a narwhals dataframe at some rows. A column is read when it is asked for."""

    def __init__(self, frame: Any, names: Sequence[str], rows: Picked) -> None:
        self._frame, self._names, self._rows = frame, names, rows

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        # polars takes some names for patterns.
        column = self._frame.get_column(name).alias("column")
        return plain_column(column[self._rows].to_numpy())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def columns_of_frame(X: Any) -> Others | None:
    """Return a function that reads the columns of a dataframe at some rows; None for arrays, which have no names."""
    if X is None or isinstance(X, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    frame = nw.from_native(X, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.Series):
        frame = frame.to_frame()
    if not isinstance(frame, nw.DataFrame):
        return None
    found = frame
    return lambda rows: FrameColumns(found, found.columns, rows)


def id_columns(X: Any) -> list[str]:
    """Return the names of the columns of a dataframe that identify rows; none for arrays."""
    others = columns_of_frame(X)
    if others is None:
        return []
    columns = others(slice(0, len(X)))
    return [name for name in columns if identifies_rows(columns[name])]


def drop_columns(X: Any, names: Sequence[str]) -> Any:
    """Return a dataframe without these columns; X itself if there are none, or if no other column is left."""
    if not names:
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return X if len(names) == len(frame.columns) else frame.drop(*names).to_native()


def plain_column(column: Any) -> npt.NDArray[Any]:
    """Return a column without a mask: a missing number is NaN, any other missing cell None. Lists become texts."""
    if isinstance(column, np.ma.MaskedArray):
        if not np.ma.getmaskarray(column).any():
            column = column.data
        elif column.dtype.kind in "iufb":
            return np.asarray(np.ma.filled(column.astype(np.float64), np.nan))
        else:
            column = np.ma.filled(column.astype(object), None)
    if column.dtype.kind == "O":
        simple = (str, int, float, type(None))
        if not all(isinstance(cell, simple) or hasattr(cell, "isoformat") for cell in column):
            return np.array([str(cell) for cell in column], dtype=object)
    return np.asarray(column)
