"""Which columns of a file a model takes, and how: as numbers, as categories, or not at all, and why.

The cells of a CSV file are texts; a model has to see the same kind of column when it predicts as when it was fitted.
So the kind is settled once, from all rows, and goes into the model file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pacband.exceptions import InvalidInput
from pacband.frames.columns import as_frame, check_columns
from pacband.frames.connection import connect, quoted
from pacband.frames.files import reading

__all__ = ["Column", "batches", "check_kinds", "find_columns", "inputs_sql", "numeric_sql", "row_hash_sql", "survey"]

# What stands for a missing value in a text, in any case.
_MISSING = ("", "na", "n/a", "nan", "null", "none", "#n/a")
# A column with this share of numbers was meant to be one of numbers.
_MEANT_AS_NUMBERS = 0.9
# A column with more texts than this share of its rows tells rows apart, not kinds of rows.
_LIKE_AN_ID = 0.5
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "U")
_TEXTS = ("VARCHAR", "ENUM", "UUID")
_TIMES = ("DATE", "TIME", "INTERVAL")


@dataclass(frozen=True)
class Column:
    """A column of a table, and what a model makes of it: "number", "category", or None for nothing."""

    name: str
    kind: str | None
    why: str = ""


@dataclass(frozen=True)
class _Facts:
    """What all rows say of a column."""

    rows: int
    known: int
    numbers: int
    infinite: int
    text: str | None
    times: int = 0
    levels: int = 0
    constant: bool = False


# How the facts are asked for, in their order; the first few are all that new rows need.
_COUNTS = (
    "count({known})",
    "count({number})",
    "count_if(isinf({number}))",
    "min(cast({known} as varchar)) filter ({number} is null)",
)
_SHAPE = (
    "count(try_cast(cast({known} as varchar) as timestamp))",
    "approx_count_distinct(cast({known} as varchar))",
    "coalesce(min(cast({known} as varchar)) = max(cast({known} as varchar)), true)",
)


def survey(
    relation: Any,
    target: str,
    *,
    features: Sequence[str] = (),
    exclude: Collection[str] = (),
    categories: Collection[str] = (),
) -> list[Column]:
    """Settle what to make of every column but the target.

    Parameters
    ----------
    relation : DuckDB relation
        The table.
    target : str
        The column to predict.
    features : sequence of str
        The only columns to use; by default all.
    exclude : collection of str
        Columns to leave out.
    categories : collection of str
        Columns to take as categories, whatever they hold.

    Raises
    ------
    InvalidInput
        If a named column is not there, the target is not numeric, a column holds numbers but for a few texts, or no
        column can be used.
    """
    find_columns(relation, [target, *features, *exclude, *categories])
    facts = _facts(relation, [name for name in relation.columns if name not in exclude], (*_COUNTS, *_SHAPE))
    if not facts[target].rows:
        raise InvalidInput("the table has no rows.")
    _check_numeric(target, facts[target])
    if target in features or target in categories:
        raise InvalidInput(f"the target {target!r} cannot be a feature as well.")
    columns = []
    for name, held in zip(relation.columns, map(str, relation.types), strict=True):
        if name == target:
            continue
        if name in exclude or (features and name not in features):
            columns.append(Column(name, None, "excluded" if name in exclude else "not among the features"))
        else:
            columns.append(_settled(name, held, facts[name], name in categories, name in features))
    if not any(column.kind for column in columns):
        raise InvalidInput(f"no column but the target {target!r} can be used: there is nothing to predict from.")
    return columns


def find_columns(relation: Any, names: Sequence[str]) -> None:
    """Raise unless the table has these columns; the error names the nearest ones."""
    frame = as_frame(relation)
    for name in names:
        check_columns(frame, (), name)


def check_kinds(relation: Any, kinds: Mapping[str, str | None]) -> dict[str, str]:
    """Return the kinds of columns of new rows, where None is for the rows to tell; raise where they do not fit."""
    facts = _facts(relation, list(kinds), _COUNTS)
    if not next(iter(facts.values())).rows:
        raise InvalidInput("the table has no rows.")
    settled = {}
    for name, kind in kinds.items():
        settled[name] = kind or ("number" if facts[name].numbers == facts[name].known else "category")
        if settled[name] == "number":
            _check_numeric(name, facts[name])
    return settled


def inputs_sql(kinds: Mapping[str, str]) -> str:
    """Return the columns as a model takes them, for a SELECT."""
    return ", ".join(
        f"{numeric_sql(name) if kind == 'number' else f'cast({_known(name)} as varchar)'} as {quoted(name)}"
        for name, kind in kinds.items()
    )


def numeric_sql(name: str) -> str:
    """Return a column as numbers, for a SELECT; what is not one is missing."""
    return f"try_cast({_known(name)} as double)"


def row_hash_sql(names: Iterable[str], of: str = "") -> str:
    """Return a number that rows with the same cells in these columns have in common, for a SELECT."""
    return f"hash({', '.join(f'{of}{quoted(name)}' for name in names)})"


def _settled(name: str, held: str, facts: _Facts, wanted: bool, named: bool) -> Column:
    if not held.startswith((*_NUMBERS, *_TEXTS, *_TIMES)):
        return Column(name, None, f"it holds {held}, neither numbers nor texts")
    if facts.known == 0:
        return Column(name, None, "it holds no values")
    if facts.constant and facts.known == facts.rows:
        return Column(name, None, "it is constant")
    if wanted:
        return Column(name, "category")
    if facts.numbers == facts.known and not held.startswith(_TIMES):
        _check_numeric(name, facts)
        return Column(name, "number")
    if facts.numbers >= _MEANT_AS_NUMBERS * facts.known:
        raise InvalidInput(
            f"column {name!r} holds numbers but for {facts.known - facts.numbers} of {facts.known} values, such as "
            f"{facts.text!r}: mend them, take it as categories, or exclude it."
        )
    if facts.times == facts.known or held.startswith(_TIMES):
        return Column(name, None, "it holds dates or times; turn them into numbers, such as days, to use them")
    if facts.levels > _LIKE_AN_ID * facts.known and not named:
        return Column(name, None, "it has a text of its own in most rows, as an id has")
    return Column(name, "category")


def _check_numeric(name: str, facts: _Facts) -> None:
    if facts.numbers < facts.known:
        bad = facts.known - facts.numbers
        raise InvalidInput(
            f"column {name!r} must be numeric, got {facts.text!r} (in all, {bad} values are no numbers)."
        )
    if facts.infinite:
        raise InvalidInput(f"column {name!r} must be finite or missing, got {facts.infinite} infinite values.")


def _facts(relation: Any, names: Sequence[str], asked: Sequence[str]) -> dict[str, _Facts]:
    """Look at all rows, once."""
    questions = [question.format(known=_known(name), number=numeric_sql(name)) for name in names for question in asked]
    with reading():
        ((rows, *values),) = relation.aggregate(", ".join(["count(*)", *questions])).fetchall()
    return {name: _Facts(rows, *values[k * len(asked) :][: len(asked)]) for k, name in enumerate(names)}


def _known(name: str) -> str:
    """Return a column without the texts, and the NaN, that stand for a missing value."""
    column = quoted(name)
    words = ", ".join(f"'{word}'" for word in _MISSING)
    return f"(case when lower(trim(cast({column} as varchar))) in ({words}) then null else {column} end)"


def batches(relation: Any, columns: str, n_rows: int = 20_480) -> Iterator[Any]:
    """Yield these columns of all rows in order as dataframes of pandas, so many rows at a time."""
    # By a connection of its own, for a relation would hold all rows at once; in one thread, for the rows that several
    # of them read come in any order.
    with reading(), connect(threads=1) as connection:
        stream = connection.execute(f"select {columns} from ({relation.sql_query()})")
        while len(batch := stream.fetch_df_chunk(n_rows // 2048)):
            yield batch
