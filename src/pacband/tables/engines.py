"""Expressions in the language of an engine: columns by their place, and the results of a pass.

A name that a user chose never reaches an expression: to some engines ``*`` is every column and ``^a$`` a pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from pacband.exceptions import InvalidInput

__all__ = [
    "fetch_columns",
    "fetch_rows",
    "fetch_windows",
    "first_rows",
    "lazy_frame",
    "refuse_unless",
    "rename_columns",
    "take_columns",
]

_ROW = "pacband_row"
_CHANGED = (
    "rows changed between two readings of the table: a prediction, a scale or a group that was checked cannot be used "
    "any more. Use a copy of the table that does not change."
)


def lazy_frame(native: Any) -> nw.LazyFrame[Any]:
    """Return an engine's own lazy table as a narwhals LazyFrame."""
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame


def rename_columns(frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Return some columns of a table under other names; `columns` maps new names to present names."""
    place = {name: k for k, name in enumerate(frame.collect_schema())}
    return take_columns(frame, list(columns), [place[name] for name in columns.values()])


def take_columns(frame: nw.LazyFrame[Any], names: Sequence[str], places: Sequence[int]) -> nw.LazyFrame[Any]:
    """Return the columns at these places of a table, counted from 0, under these names."""
    native: Any = frame.to_native()
    pairs = list(zip(names, places, strict=True))
    if frame.implementation is nw.Implementation.DUCKDB:
        from pacband.tables.connection import quoted

        return lazy_frame(native.project(", ".join(f"#{place + 1} as {quoted(name)}" for name, place in pairs)))
    if frame.implementation is nw.Implementation.POLARS:
        import polars as pl

        return lazy_frame(native.select(pl.nth(place).alias(name) for name, place in pairs))
    if frame.implementation is nw.Implementation.DASK:
        taken = native.iloc[:, list(places)]
        taken.columns = list(names)
        return lazy_frame(taken)
    if frame.implementation in (nw.Implementation.PYSPARK, nw.Implementation.PYSPARK_CONNECT):
        plain = [f"c{k}" for k in range(len(native.columns))]
        return lazy_frame(native.toDF(*plain).select(*(plain[place] for place in places)).toDF(*names))
    present = list(frame.collect_schema())
    return frame.select(*(nw.col(present[place]).alias(name) for name, place in pairs))


def refuse_unless(frame: nw.LazyFrame[Any], condition: str, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return a table without its column `condition`. Computing `columns` raises in rows where it is not true.

    DuckDB, polars and Spark raise their own error, which contains our sentence; Dask raises ours.
    """
    native: Any = frame.to_native()
    rest = [name for name in frame.collect_schema() if name != condition]
    if frame.implementation is nw.Implementation.DUCKDB:
        ends = ", ".join(
            f"case when {condition} then {name} else error('{_CHANGED}') end as {name}" for name in columns
        )
        return lazy_frame(native.project(f"* exclude ({condition}) replace ({ends})"))
    if frame.implementation is nw.Implementation.POLARS:
        import polars as pl

        # A text that is not a number cannot be cast to one, and the error quotes it.
        checked = pl.when(pl.col(condition)).then(pl.lit("0")).otherwise(pl.lit(_CHANGED)).cast(pl.Float64)
        kept = native.with_columns(pl.when(checked == 0.0).then(pl.col(name)).alias(name) for name in columns)
        return lazy_frame(kept.select(rest))
    if frame.implementation is nw.Implementation.DASK:
        return lazy_frame(native.map_partitions(_refuse_partition, condition, meta=native._meta)[rest])
    if frame.implementation in (nw.Implementation.PYSPARK, nw.Implementation.PYSPARK_CONNECT):
        from pyspark.sql import functions as sql

        for name in columns:
            end = sql.when(sql.col(condition), sql.col(name)).otherwise(sql.raise_error(sql.lit(_CHANGED)))
            native = native.withColumn(name, end.cast("double"))
        return lazy_frame(native.select(*rest))
    return frame.select(*rest)


def _refuse_partition(rows: Any, condition: str) -> Any:
    if not rows[condition].fillna(False).astype(bool).all():
        raise InvalidInput(_CHANGED)
    return rows


def fetch_rows(frame: nw.LazyFrame[Any]) -> list[dict[str, Any]]:
    """Return a few rows as plain Python values. Integers of any size are exact."""
    if frame.implementation is nw.Implementation.DUCKDB:
        relation = frame.to_native()
        names = relation.columns
        return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    if frame.implementation is nw.Implementation.PYSPARK:
        return [row.asDict() for row in frame.to_native().collect()]
    rows = _collect(frame).iter_rows(named=True)
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def fetch_columns(frame: nw.LazyFrame[Any], names: list[str]) -> dict[str, Any]:
    """Return these columns as numpy arrays, nulls masked or NaN."""
    wanted = frame.select(*names)
    if frame.implementation is nw.Implementation.DUCKDB:
        return dict(wanted.to_native().fetchnumpy())
    if frame.implementation is nw.Implementation.PYSPARK:
        rows = wanted.to_native().collect()
        return {name: np.array([row[name] for row in rows]) for name in names}
    collected = _collect(wanted)
    return {name: collected.get_column(name).to_numpy() for name in names}


def fetch_windows(
    frame: nw.LazyFrame[Any], inside: Mapping[str, nw.Expr], sums: Mapping[str, nw.Expr], *, n_rows: str
) -> dict[str, Any] | None:
    """Return sums over all rows, and the values of columns for which a condition is true, from one reading.

    Parameters
    ----------
    inside : mapping of str to Expr
        The columns to return values of, and the condition for each.
    sums : mapping of str to Expr
        What to sum up, by the name of the result.
    n_rows : str
        The name of the number of rows in the result.

    Returns
    -------
    dict or None
        None if the engine cannot do all of it in one reading.
    """
    marks = {f"in_{name}": condition for name, condition in inside.items()}
    marked: Any = frame.with_columns(**marks, **sums).to_native()
    if frame.implementation is nw.Implementation.DUCKDB:
        parts = [f"count(*) as {n_rows}", *(f"sum({name}) as {name}" for name in sums)]
        parts += [f"list({name}) filter (where in_{name}) as {name}" for name in inside]
        (row,) = fetch_rows(nw.from_native(marked.aggregate(", ".join(parts))))
    elif frame.implementation is nw.Implementation.POLARS:
        import polars as pl

        values = [pl.col(name).filter(pl.col(f"in_{name}")).implode() for name in inside]
        found = marked.select(pl.len().alias(n_rows), *(pl.col(name).sum() for name in sums), *values)
        (row,) = found.collect(engine="streaming").to_dicts()
    else:
        return None
    return row | {name: np.array(row[name] or [], dtype=np.float64) for name in inside}


def first_rows(frame: nw.LazyFrame[Any], condition: nw.Expr, most: int = 3) -> list[int]:
    """Return the first rows for which the condition is true, counted from 0; none if the engine has no row order."""
    native = frame.to_native()
    if frame.implementation is nw.Implementation.DUCKDB:
        numbered = native.project(f'*, row_number() over () - 1 as "{_ROW}"')
    elif frame.implementation is nw.Implementation.POLARS:
        numbered = native.with_row_index(_ROW)
    else:
        return []
    found = nw.from_native(numbered).filter(condition).select(_ROW).sort(_ROW).head(most)
    return [int(row[_ROW]) for row in fetch_rows(found)]


def _plain(value: Any) -> Any:
    """Return a scalar of numpy or pandas as a Python value. A missing value is None or NaN."""
    return value.item() if isinstance(value, np.generic) else None if type(value).__name__ == "NAType" else value


def _collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    if frame.implementation is nw.Implementation.POLARS:
        return nw.from_native(frame.to_native().collect(engine="streaming"), eager_only=True)
    return frame.collect()
