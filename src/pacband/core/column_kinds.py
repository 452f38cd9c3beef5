"""The columns of a table of any library, each of one kind: numbers or categories.

The kind of a column is chosen once, from the rows on which a model is fitted. After that, every cell is read by itself
(`pacband.core.cells`), so that the meaning of a row does not depend on other rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from pacband.core.arrays import Floats, name_rows
from pacband.core.cells import NUMBERS, canonical, number, spelled
from pacband.exceptions import InvalidInput

__all__ = ["Column", "Texts", "column_kinds", "is_frame", "refuse_other_kinds", "table_columns"]

Texts: TypeAlias = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Column:
    """A column as the user passed it: its name, its cells, and the type that the table's library declares."""

    name: str
    cells: npt.NDArray[Any]
    declared: str = ""

    @property
    def kind(self) -> str:
        """Return "number" or "category".

        It is "category" if the library declares the column as texts or categories, or if a cell that is not missing
        is no number.
        """
        if self.cells.dtype.kind in "fiub":
            return "category" if self.declared.startswith(("Categorical", "Enum")) else "number"
        if self.declared.startswith(("Categorical", "Enum", "String")):
            return "category"
        known = [cell for cell in self.cells if spelled(cell) is not None]
        return "number" if known and all(isinstance(cell, NUMBERS) for cell in known) else "category"

    @property
    def texts_only(self) -> bool:
        """Return whether a file keeps every cell unchanged: each is NaN, or a text that is no word for a gap."""
        return all(
            spelled(cell) is not None if isinstance(cell, str) else isinstance(cell, float) and cell != cell
            for cell in self.cells
        )

    def floats(self) -> Floats:
        """Return the cells as numbers, NaN for a gap. Raise if a cell is no number, or infinite."""
        self._refuse_times()
        if self.cells.dtype.kind in "fiub":
            numbers = self.cells.astype(np.float64)
        else:
            found = [number(cell) for cell in self.cells]
            bad = np.array([value is None for value in found], dtype=bool)
            if bad.any():
                raise InvalidInput(
                    f"column {self.name!r} held numbers in the fit, and now holds {self.cells[bad.argmax()]!r} in "
                    f"{name_rows(bad)}: correct these cells or leave them empty; to use a column of texts, fit the "
                    "model on a table that has texts in this column."
                )
            numbers = np.array(found, dtype=np.float64)
        if np.isinf(numbers).any():
            raise InvalidInput(
                f"column {self.name!r} must be finite or missing: it is infinite in {name_rows(np.isinf(numbers))}."
            )
        return numbers

    def texts(self) -> Texts:
        """Return the canonical text of every cell, None for a gap."""
        self._refuse_times()
        found = np.full(len(self.cells), None, dtype=object)
        known: dict[str, str | None] = {}
        for row, cell in enumerate(self.cells):
            if type(cell) is not str:
                found[row] = spelled(cell)
            elif cell in known:
                found[row] = known[cell]
            else:
                found[row] = known[cell] = canonical(cell)
        return found

    def _refuse_times(self) -> None:
        if self.cells.dtype.kind in "mM" or self.declared.startswith(("Date", "Time", "Duration")):
            raise InvalidInput(
                f"column {self.name!r} must hold numbers, texts or booleans, got {self.declared or self.cells.dtype}; "
                "turn times into numbers first, such as the days since a date."
            )


def table_columns(X: Any) -> Iterator[Column]:
    """Yield every column of an array, a list of rows or a dataframe."""
    if issparse(X):
        raise InvalidInput(f"X must be a dense table, got a sparse {type(X).__name__}; X.toarray() makes it dense.")
    if isinstance(X, (list, tuple)):
        array = np.asarray(X)
        X = array if array.dtype.kind in "fiub" else np.asarray(X, dtype=object)
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise InvalidInput(f"X must have shape (n, columns), got {X.shape}.")
        yield from (Column(f"x{k}", X[:, k]) for k in range(X.shape[1]))
        return
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"X must be an array or a dataframe, got {type(X).__name__}.")
    for series in frame.iter_columns():
        yield Column(str(series.name), _cells(series), str(series.dtype))


def column_kinds(X: Any, *, texts_only: bool = False) -> dict[str, str]:
    """Return the kind of every column by its name.

    With `texts_only`, columns of categories are left out if a cell is neither a text nor NaN. A user's own model gets
    such cells unchanged, and a file cannot keep their types.
    """
    return {
        column.name: kind
        for column in table_columns(X)
        for kind in [column.kind]
        if kind == "number" or not texts_only or column.texts_only
    }


def refuse_other_kinds(X: Any, kinds: Mapping[str, str]) -> None:
    """Raise if a calibration cell is no number in a column that has only numbers in the training rows."""
    for column in table_columns(X):
        if kinds[column.name] == "number" and column.cells.dtype.kind == "O":
            texts = [cell for cell in column.cells if number(cell) is None]
            if texts:
                raise InvalidInput(
                    f"column {column.name!r} has only numbers in the training rows, and holds {texts[0]!r} in a "
                    "calibration row, which must not decide how the column is read: convert the whole column to texts, "
                    "or correct these cells."
                )


def is_frame(X: Any) -> bool:
    """Return whether this is a dataframe, whose columns have names."""
    import narwhals as nw

    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def _cells(series: Any) -> npt.NDArray[Any]:
    import narwhals as nw

    if series.dtype == nw.Float32:
        # In a list the values would become float64, and the shortest texts of these differ.
        return np.asarray(series.to_numpy())
    if series.dtype == nw.Float64:
        return np.asarray(series.cast(nw.Float64).to_numpy())
    if (series.dtype.is_integer() or series.dtype == nw.Boolean) and not series.is_null().any():
        return np.asarray(series.to_numpy())
    cells = series.to_list()
    return np.fromiter(cells, dtype=object, count=len(cells))
