"""What comes back from an engine: a few exact values, a few columns, or the first rows that break a rule."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

__all__ = ["fetch_columns", "fetch_rows", "first_rows"]

_ROW = "pacband_row"


def fetch_rows(frame: nw.LazyFrame[Any]) -> list[dict[str, Any]]:
    """Return a few rows, integers exact whatever their size."""
    if frame.implementation is nw.Implementation.DUCKDB:
        relation = frame.to_native()
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    if frame.implementation is nw.Implementation.PYSPARK:
        return [row.asDict() for row in frame.to_native().collect()]
    return list(_collected(frame).iter_rows(named=True))


def fetch_columns(frame: nw.LazyFrame[Any], names: list[str]) -> dict[str, Any]:
    """Return these columns as numpy arrays, nulls masked or NaN."""
    chosen = frame.select(*names)
    if frame.implementation is nw.Implementation.DUCKDB:
        return dict(chosen.to_native().fetchnumpy())
    if frame.implementation is nw.Implementation.PYSPARK:
        rows = chosen.to_native().collect()
        return {name: np.array([row[name] for row in rows]) for name in names}
    collected = _collected(chosen)
    return {name: collected.get_column(name).to_numpy() for name in names}


def first_rows(frame: nw.LazyFrame[Any], condition: nw.Expr, most: int = 3) -> list[int]:
    """Return the first rows for which the condition is true, counted from 0; none where the engine has no order."""
    native = frame.to_native()
    if frame.implementation is nw.Implementation.DUCKDB:
        numbered = native.project(f'*, row_number() over () - 1 as "{_ROW}"')
    elif frame.implementation is nw.Implementation.POLARS:
        numbered = native.with_row_index(_ROW)
    else:
        return []
    found = nw.from_native(numbered).filter(condition).select(_ROW).sort(_ROW).head(most)
    return [int(row[_ROW]) for row in fetch_rows(found)]


def _collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    if frame.implementation is nw.Implementation.POLARS:
        return nw.from_native(frame.to_native().collect(engine="streaming"), eager_only=True)
    return frame.collect()
