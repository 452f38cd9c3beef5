"""Which columns of a file a model takes, and how: as numbers, as categories, or not at all, and why.

The cells of a CSV file are texts; a model has to see the same kind of column when it predicts as when it was fitted.
So the kind is chosen once, from all rows of the fit, and goes into the model file. What a cell says as a number or as
a category is the rule of `pacband.core.cells`, in SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pacband.core.cells import NUMBER_TYPES, TEXT_TYPES, gap_sql, matching, number_sql, spelled_sql
from pacband.exceptions import InvalidInput
from pacband.tables.columns import as_frame, check_columns, refuse_inexact
from pacband.tables.connection import connect, quoted
from pacband.tables.delimited import refuse_large_texts
from pacband.tables.files import reading

__all__ = [
    "Column",
    "batches",
    "check_kinds",
    "find_columns",
    "inputs_sql",
    "match_groups",
    "numeric_sql",
    "row_hash_sql",
    "survey",
]

# A column with this share of numbers was meant to be one of numbers.
_MEANT_AS_NUMBERS = 0.9
# A column with more texts than this share of its rows tells rows apart, not kinds of rows.
_LIKE_AN_ID = 0.5
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
    truths: int = 0
    times: int = 0
    levels: int = 0
    constant: bool = False


# How the facts are asked for, in their order; the first few are all that new rows need.
_COUNTS = (
    "count({known})",
    "count({number})",
    "count_if(isinf({number}))",
    "min({known}) filter ({number} is null)",
)
_SHAPE = (
    "count_if(lower({known}) in ('true', 'false'))",
    "count(try_cast({known} as timestamp))",
    "approx_count_distinct({spelled})",
    "coalesce(min({spelled}) = max({spelled}), true)",
)


def survey(
    relation: Any,
    target: str,
    *,
    features: Sequence[str] = (),
    exclude: Collection[str] = (),
    categories: Collection[str] = (),
) -> list[Column]:
    """Choose what to make of every column but the target.

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
    _refuse_inexact(relation, target)
    if target in features or target in categories:
        raise InvalidInput(f"the target {target!r} cannot be a feature as well.")
    columns = []
    for name, held in zip(relation.columns, map(str, relation.types), strict=True):
        if name == target:
            continue
        if name in exclude or (features and name not in features):
            columns.append(Column(name, None, "excluded" if name in exclude else "not among the features"))
        else:
            columns.append(_chosen(name, held, facts[name], name in categories, name in features))
    if not any(column.kind for column in columns):
        raise InvalidInput(f"no column but the target {target!r} can be used: there is nothing to predict from.")
    return columns


def find_columns(relation: Any, names: Sequence[str]) -> None:
    """Raise unless the table has these columns; the error names the nearest ones."""
    frame = as_frame(relation)
    for name in names:
        check_columns(frame, (), name)


def check_kinds(relation: Any, kinds: Mapping[str, str | None], *, texts: bool = False) -> dict[str, str]:
    """Return the kinds of the columns of a model, or raise where new rows do not fit them.

    Parameters
    ----------
    relation : DuckDB relation
        The new rows.
    kinds : mapping of str to str or None
        The kinds of the columns in the fit; None where the model file does not state them.
    texts : bool
        Whether categories were texts in the fit, and have to be texts now: the model is one of the user's own, which
        sees a category as it is written.
    """
    unknown = [name for name, kind in kinds.items() if kind is None]
    if unknown:
        raise InvalidInput(
            f"the model file does not tell whether column {unknown[0]!r} holds numbers or texts: fit the model on a "
            "dataframe with numbers, booleans, or texts in this column, NaN for a gap, and save it with this pacband."
        )
    facts = _facts(relation, list(kinds), _COUNTS)
    if not next(iter(facts.values())).rows:
        raise InvalidInput("the table has no rows.")
    for name, held in zip(relation.columns, map(str, relation.types), strict=True):
        if kinds.get(name) == "number":
            _check_numeric(name, facts[name])
        elif texts and name in kinds and not held.startswith(TEXT_TYPES):
            raise InvalidInput(
                f"column {name!r} held texts in the fit, and holds {held} now: write it as the texts of the fit, for "
                "a model of your own distinguishes 1 from 1.0."
            )
    return {name: str(kind) for name, kind in kinds.items()}


def inputs_sql(relation: Any, kinds: Mapping[str, str], *, texts: bool = False) -> str:
    """Return the columns as a model takes them, for a SELECT: numbers, and the one text of every category.

    With `texts`, categories are the texts as they stand in the table; a gap is null.
    """
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    parts = []
    for name, kind in kinds.items():
        column = quoted(name)
        if kind == "number":
            value = number_sql(column, types[name])
        else:
            value = _known(column) if texts else spelled_sql(column, types[name])
        parts.append(f"{value} as {column}")
    return ", ".join(parts)


def numeric_sql(relation: Any, name: str) -> str:
    """Return a column as numbers, for a SELECT; what is not one is missing."""
    return number_sql(quoted(name), str(relation.types[relation.columns.index(name)]))


def match_groups(estimator: Any, table: Any) -> None:
    """Write the groups of a pandas table as the certificate does, where a file spells them otherwise. In place."""
    group = estimator.grouping_
    if isinstance(group, str):
        match = matching(estimator.certificate_.groups)
        table[group] = [match(cell) for cell in table[group]]


def row_hash_sql(names: Iterable[str], of: str = "") -> str:
    """Return a number that rows with the same cells in these columns have in common, for a SELECT."""
    return f"hash({', '.join(f'{of}{quoted(name)}' for name in names)})"


def _chosen(name: str, held: str, facts: _Facts, wanted: bool, named: bool) -> Column:
    if not held.startswith((*NUMBER_TYPES, *TEXT_TYPES, *_TIMES)):
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
    if facts.numbers - facts.truths >= _MEANT_AS_NUMBERS * facts.known:
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


def _refuse_inexact(relation: Any, name: str) -> None:
    """Raise where a column holds integers or decimals that float64 cannot hold, as numbers or as texts."""
    if str(relation.types[relation.columns.index(name)]).startswith(TEXT_TYPES):
        refuse_large_texts(relation, name)
    else:
        frame: Any = as_frame(relation)
        refuse_inexact(frame, frame.collect_schema(), [name])


def _facts(relation: Any, names: Sequence[str], asked: Sequence[str]) -> dict[str, _Facts]:
    """Look at all rows, once."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    questions = [
        question.format(
            known=_known(quoted(name)),
            number=number_sql(quoted(name), types[name]),
            spelled=spelled_sql(quoted(name), types[name]),
        )
        for name in names
        for question in asked
    ]
    with reading():
        ((rows, *values),) = relation.aggregate(", ".join(["count(*)", *questions])).fetchall()
    return {name: _Facts(rows, *values[k * len(asked) :][: len(asked)]) for k, name in enumerate(names)}


def _known(column: str) -> str:
    """Return the texts of a column as they are; null for a gap."""
    return f"(case when {gap_sql(column)} then null else cast({column} as varchar) end)"


def batches(relation: Any, columns: str, n_rows: int = 20_480) -> Iterator[Any]:
    """Yield these columns of all rows in order as dataframes of pandas, so many rows at a time.

    A gap in a column of texts is NaN, as pandas reads it from a file: some models distinguish it from None.
    """
    # By a connection of its own, for a relation would hold all rows at once; in one thread, for the rows that several
    # of them read come in any order.
    with reading(), connect(threads=1) as connection:
        stream = connection.execute(f"select {columns} from ({relation.sql_query()})")
        while len(batch := stream.fetch_df_chunk(n_rows // 2048)):
            for name in (name for name in batch.columns if batch[name].dtype.kind == "O"):
                batch[name] = batch[name].where(batch[name].notna(), float("nan"))
            yield batch
