"""Values of every group, joined to its rows: a small table with one row a group, joined by the label.

The engine hashes the labels once, so that a hundred thousand groups cost little more than ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw

from pacband.core.labels import Label
from pacband.tables.engines import lazy_frame

__all__ = ["join_values", "rank_rows"]

Values = Mapping[Label, float]

_LABEL = "pacband_label"
_ORDER = "pacband_order"
# Up to so many groups, conditions are as fast as a join and keep the order of the rows.
_FEW = 32
_KINDS = {str: "varchar", bool: "boolean", int: "bigint", float: "double"}


def join_values(
    frame: nw.LazyFrame[Any], column: str, values: Mapping[str, Values], *, ordered: bool = False
) -> nw.LazyFrame[Any]:
    """Return a table with more columns: the values of every row's label; null or NaN if a label has no values.

    Parameters
    ----------
    column : str
        The column of labels. It may hold labels that have no values.
    values : mapping of str to mapping of label to float
        The new columns. All have the same labels.
    ordered : bool
        Keep the order of the rows, in engines that have one.
    """
    native: Any = frame.to_native()
    labels = list(next(iter(values.values())))
    if frame.implementation is nw.Implementation.DUCKDB and len(labels) <= _FEW:
        joined = _cases_duckdb(native, column, values)
    elif frame.implementation is nw.Implementation.DUCKDB:
        joined = _join_duckdb(native, column, labels, values, ordered=ordered)
    elif frame.implementation is nw.Implementation.POLARS:
        joined = _join_polars(native, column, labels, values)
    elif frame.implementation is nw.Implementation.DASK:
        joined = _map_dask(native, column, labels, values)
    else:
        joined = _join_spark(native, column, labels, values)
    return lazy_frame(joined)


def rank_rows(
    frame: nw.LazyFrame[Any],
    group: str,
    score: str,
    values: Mapping[str, Values],
    sums: Sequence[nw.Expr],
    *,
    most: int,
) -> list[tuple[Any, ...]] | None:
    """Return the place, the number of rows, the score at its rank and the sums of every group, in one pass.

    DuckDB keeps the largest scores of every group. Returns None for other engines.

    Parameters
    ----------
    group, score : str
        The columns of labels and of scores.
    values : mapping of str to mapping of label to float
        The "place" and the "rank" of every group.
    sums : sequence of Expr
        What to sum up in every group.
    most : int
        The largest rank, if every group may keep that many scores: then the rows themselves are not joined. Else 0.
    """
    if frame.implementation is not nw.Implementation.DUCKDB:
        return None
    names = [f"t{k}" for k in range(len(sums))]
    summed = frame.with_columns(**dict(zip(names, sums, strict=True)))
    totals = ", ".join(["count(*) as n", *(f"sum({name}) as {name}" for name in names)])
    if most:
        kept = summed.to_native().aggregate(f"{group}, max({score}, {most}) as top, {totals}", group)
        ranked = join_values(lazy_frame(kept), group, values).to_native()
    else:
        joined = join_values(summed, group, values).to_native()
        kept_scores = f"max({score}, coalesce(rank, 1)::bigint)"
        ranked = joined.aggregate(f"place, any_value(rank) as rank, {kept_scores} as top, {totals}", "place")
    at_rank = "list_extract(top, coalesce(rank, 1)::bigint)"
    rows: list[tuple[Any, ...]] = ranked.project(", ".join(["place::integer", "n", at_rank, *names])).fetchall()
    return rows


def _cases_duckdb(relation: Any, column: str, values: Mapping[str, Values]) -> Any:
    from duckdb import CaseExpression, ColumnExpression, ConstantExpression, SQLExpression

    found = []
    for name, of in values.items():
        pairs = [(ColumnExpression(column) == ConstantExpression(label), float(of[label])) for label in of]
        cases = CaseExpression(pairs[0][0], ConstantExpression(pairs[0][1]))
        for is_label, value in pairs[1:]:
            cases = cases.when(is_label, ConstantExpression(value))
        found.append(cases.otherwise(SQLExpression("null::double")).alias(name))
    return relation.select(*map(ColumnExpression, relation.columns), *found)


def _join_duckdb(
    relation: Any, column: str, labels: list[Label], values: Mapping[str, Values], *, ordered: bool
) -> Any:
    from duckdb import ColumnExpression, ConstantExpression, FunctionExpression

    # The small table must belong to the connection of the relation. That connection is not known, so the table is made
    # from a relation of one row. The engine splits long texts into its columns: a list of constants would take seconds.
    one = relation.limit(0).aggregate("count(*) as n")
    texts = [str(label) if type(label) is not float else repr(label) for label in labels]
    separator = _separator(texts)

    def split(items: Iterable[str], at: str) -> Any:
        return FunctionExpression("string_split", ConstantExpression(at.join(items)), ConstantExpression(at))

    lists = [split(texts, separator).alias(_LABEL)]
    lists += [split(map(repr, map(float, of.values())), " ").alias(name) for name, of in values.items()]
    kind = _KINDS[type(labels[0])]
    if kind == "bigint" and any(abs(label) >= 2**63 for label in labels):  # type: ignore[arg-type]
        kind = "hugeint"
    columns = [f"unnest({_LABEL}::{kind}[]) as {_LABEL}", *(f"unnest({name}::double[]) as {name}" for name in values)]
    small = one.select(*lists).project(", ".join(columns)).set_alias("small")
    numbered = ordered and one.project("current_setting('threads')").fetchall() != [(1,)]
    if numbered:
        # Several threads join rows in any order. One thread keeps the order.
        relation = relation.project(f"*, row_number() over () as {_ORDER}")
    rows = relation.set_alias("many")
    key = f'many."{column}"' + ("::varchar" if kind == "varchar" else "")
    joined = rows.join(small, f"{key} = small.{_LABEL}", how="left")
    if numbered:
        joined = joined.order(_ORDER)
    kept = [name for name in rows.columns if name != _ORDER]
    return joined.select(*map(ColumnExpression, kept), *map(ColumnExpression, values))


def _separator(texts: list[str]) -> str:
    """Return a character that is in none of the texts."""
    used = set().union(*texts)
    return next(char for char in map(chr, range(31, 0x110000)) if char not in used and not char.isalnum())


def _join_polars(lazy: Any, column: str, labels: list[Label], values: Mapping[str, Values]) -> Any:
    import polars as pl

    kind = lazy.collect_schema()[column]
    if kind in (pl.Categorical, pl.Enum):
        kind = pl.String
    small = pl.DataFrame(
        [
            pl.Series(_LABEL, labels, dtype=kind),
            *(pl.Series(name, list(of.values()), dtype=pl.Float64) for name, of in values.items()),
        ]
    )
    keyed = lazy.with_columns(pl.col(column).cast(kind).alias(_LABEL))
    return keyed.join(small.lazy(), on=_LABEL, how="left", maintain_order="left").drop(_LABEL)


def _map_dask(frame: Any, column: str, labels: list[Label], values: Mapping[str, Values]) -> Any:
    import pandas as pd

    keys = frame[column].astype(object) if frame[column].dtype == "category" else frame[column]
    small = {name: pd.Series(list(of.values()), index=labels, dtype="float64") for name, of in values.items()}
    found = {name: keys.map(of, meta=(name, "float64")).astype("float64") for name, of in small.items()}
    return frame.assign(**found)


def _join_spark(frame: Any, column: str, labels: list[Label], values: Mapping[str, Values]) -> Any:
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    fields = [StructField(_LABEL, frame.schema[column].dataType), *(StructField(name, DoubleType()) for name in values)]
    rows = [{_LABEL: label, **{name: float(of[label]) for name, of in values.items()}} for label in labels]
    # As JSON that Spark reads itself: rows of Python would need workers of the same Python on every machine.
    listed = functions.from_json(functions.lit(json.dumps(rows)), ArrayType(StructType(fields)))
    small = frame.sparkSession.range(1).select(functions.explode(listed).alias("row")).select("row.*")
    joined = frame.join(functions.broadcast(small), frame[column] == small[_LABEL], "left")
    return joined.drop(_LABEL)
