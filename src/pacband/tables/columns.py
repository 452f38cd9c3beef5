"""The columns of a table: target, predictions, scales and groups, checked to be there and to hold numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from pacband.core.arrays import as_numbers, refuse_large_integers
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns, Names
from pacband.scores.expressions import beyond_exact
from pacband.tables.asks import ask_rows, count_rows
from pacband.tables.engines import rename_columns

__all__ = [
    "Frame",
    "as_frame",
    "check_columns",
    "column_of",
    "columns_of",
    "group_columns",
    "in_memory",
    "names_of",
    "read_predicted",
    "read_values",
    "refuse_empty",
    "refuse_inexact",
    "refuse_target_as_prediction",
]

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]


def as_frame(frame: Any) -> Frame:
    """Return a table of any library that narwhals knows, or raise."""
    if type(frame).__module__.startswith("pyarrow.") and hasattr(frame, "get_fragments"):
        from pacband.tables.connection import shared_connection

        frame = shared_connection().from_arrow(frame)
    try:
        known: Frame = nw.from_native(frame)
    except TypeError:
        raise InvalidInput(
            "frame must be a table of pandas, polars, pyarrow, DuckDB, Dask, PySpark or another library that narwhals "
            f"knows, got {type(frame).__name__}."
        ) from None
    return known


def names_of(what: str, given: Any) -> Names:
    """Return the names of the columns of one quantity."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else None
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidInput(
            f"{what} must be the name of a column, or a list of names for several outputs, got {given!r}."
        )
    return names


def columns_of(target: Any, prediction: Any, scale: Any, group: Any = None, *, of: str = "") -> Columns:
    """Return the columns that a user named. A scale pair is a tuple (lower, upper). The target may be empty.

    `group` is one column of labels, or a list of several, whose groups overlap.
    """
    if isinstance(scale, tuple) and len(scale) != 2:
        raise InvalidInput(f"a scale pair must be (lower, upper), got {len(scale)} parts.")
    parts = scale if isinstance(scale, tuple) else () if scale is None else (scale,)
    columns = Columns(
        target=names_of("target", target) if target else (),
        prediction=names_of(f"prediction{of}", prediction),
        scale=tuple(names_of(f"scale{of}", part) for part in parts),
        **group_columns(group),
    )
    n_outputs = len(columns.prediction)
    if columns.target and len(columns.target) != n_outputs:
        raise InvalidInput(
            f"target and prediction{of} must have the same number of columns, "
            f"got {len(columns.target)} and {n_outputs}."
        )
    for part in columns.scale:
        if len(part) not in (1, n_outputs):
            raise InvalidInput(f"scale{of} must have 1 column or {n_outputs}, got {len(part)}.")
    refuse_target_as_prediction(columns)
    return columns


def refuse_target_as_prediction(columns: Columns) -> None:
    """Raise if a column is both a target and a prediction or scale: the errors would be zero, or known beforehand."""
    both = [name for name in columns.target if name in columns.predicted]
    if both:
        raise InvalidInput(
            f"target, prediction and scale must be different columns: {both[0]!r} is the target, and it is also the "
            f"{'prediction' if both[0] in columns.prediction else 'scale'}."
        )


def group_columns(group: Any) -> dict[str, Any]:
    """Return the columns of groups that a user named, for `Columns`: one, or several whose groups overlap."""
    if group is None or (isinstance(group, str) and group):
        return {"group": group}
    if not isinstance(group, list) or not group or not all(isinstance(name, str) and name for name in group):
        raise InvalidInput(f"group must be the name of a column, or a list of names, got {group!r}.")
    if len(set(group)) < len(group):
        raise InvalidInput(f"group must name every column once, got {group!r}.")
    return {"group": group[0]} if len(group) == 1 else {"groups": tuple(group)}


def check_columns(frame: Frame, numeric: Iterable[str], *others: str | None) -> nw.Schema:
    """Raise unless all columns are there and the `numeric` ones hold numbers; return their types. Skips None."""
    schema = frame.collect_schema()
    wanted = list(dict.fromkeys(numeric))
    for name in [*wanted, *(other for other in others if other is not None)]:
        if name not in schema:
            folded = {known.casefold(): known for known in schema}
            similar = [folded[one] for one in get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
            hint = f"The columns are {listed(schema, 12)}."
            if similar:
                hint = f"Did you mean {' or '.join(map(repr, similar))}?"
            raise InvalidInput(f"there is no column {name!r}. {hint}")
    # Columns of Python objects (decimals, numbers with gaps) are checked by their values, as for arrays.
    also_accepted = (nw.Boolean, nw.Object) if isinstance(frame, nw.DataFrame) else (nw.Boolean,)
    for name in wanted:
        if not (schema[name].is_numeric() or schema[name] in also_accepted):
            raise InvalidInput(f"column {name!r} must be numeric, got {schema[name]}.")
    return schema


def refuse_empty(values: Mapping[str, Any]) -> None:
    """Raise if the columns of a table in memory have no rows."""
    if not len(next(iter(values.values()))):
        raise InvalidInput("the table is empty: at least one row is needed.")


def refuse_inexact(frame: nw.LazyFrame[Any], schema: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise if columns of a table in an engine hold integers or decimals beyond 2**53."""
    ours = {f"c{k}": name for k, name in enumerate(names)}
    beyond = {here: beyond_exact(here, schema[name]) for here, name in ours.items()}
    asks = {here: count_rows(condition) for here, condition in beyond.items() if condition is not None}
    if asks:
        answers = ask_rows(rename_columns(frame, {here: ours[here] for here in asks}), list(asks.values()))
        for here, ask in asks.items():
            if answers[ask]:
                refuse_large_integers(f"column {ours[here]!r}")


def column_of(frame: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    """Return a column of a table in memory under a plain name: polars takes some names for patterns."""
    return frame.get_column(name).alias("column")


def in_memory(frame: nw.DataFrame[Any], names: Iterable[str]) -> dict[str, Any]:
    """Return columns of a table in memory, for `read_values`."""
    return {name: column_of(frame, name).to_native() for name in names}


def read_values(values: Mapping[str, Any], names: Names) -> Any:
    """Return the columns of one quantity as numbers: one vector, or one matrix for several outputs."""
    found = [as_numbers(f"column {name!r}", values[name], empty=True) for name in names]
    return found[0] if len(found) == 1 else np.column_stack(found)


def read_predicted(values: Mapping[str, Any], columns: Columns) -> tuple[Any, Any]:
    """Return T and σ̂ as `certify` takes them; None and None for own scores, which have no prediction."""
    if not columns.prediction:
        return None, None
    parts = tuple(read_values(values, part) for part in columns.scale)
    return read_values(values, columns.prediction), parts if len(parts) == 2 else parts[0] if parts else None
