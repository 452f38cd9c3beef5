"""The columns of a table that a promise does not name, at some rows: labels, dates and inputs, for the checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from pacband.checks.frames import FrameColumns, plain_column
from pacband.checks.scored import Others, Picked
from pacband.tables.columns import Frame

__all__ = ["fetch_at", "other_columns", "other_names"]


def other_names(names: Iterable[str], used: Iterable[str | None]) -> list[str]:
    """Return the names of all columns but the used ones."""
    taken = set(used)
    return [name for name in names if name not in taken]


def other_columns(frame: Frame, used: Iterable[str | None]) -> Others | None:
    """Return a function that reads all columns but the used ones at some rows; None if the engine has no row order."""
    names = other_names(frame.collect_schema(), used)
    if isinstance(frame, nw.DataFrame):
        eager = frame
        return lambda rows: FrameColumns(eager, names, rows)
    native: Any = frame.to_native()
    is_relation = frame.implementation.is_duckdb()
    return (lambda rows: fetch_at(native, names, rows)) if is_relation else None


def fetch_at(relation: Any, names: Sequence[str], rows: Picked) -> dict[str, npt.NDArray[Any]]:
    """Return columns of a DuckDB relation at some rows, in the order of `rows`. Lists and records become texts."""
    from pacband.tables.connection import quoted

    if not names:
        return {}
    listed = ", ".join(map(quoted, names))
    if isinstance(rows, slice):
        found = relation.project(listed).limit(rows.stop - rows.start, offset=rows.start).fetchnumpy()
        return {name: plain_column(found[name]) for name in names}
    wanted, places = np.unique(rows, return_inverse=True)
    # DuckDB takes Row for row.
    number = "row" + "_" * sum(name.casefold().startswith("row") for name in names)
    numbered = relation.project(f"row_number() over () - 1 as {quoted(number)}, {listed}")
    # The last row number bounds how much of the table is read.
    numbered = numbered.limit(int(wanted[-1]) + 1)
    found = numbered.filter(f"{quoted(number)} in ({', '.join(map(str, wanted.tolist()))})").fetchnumpy()
    order = np.argsort(np.asarray(found[number]), kind="stable")[places]
    return {name: plain_column(found[name])[order] for name in names}
