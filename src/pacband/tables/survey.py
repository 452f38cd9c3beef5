"""Which columns of a table a model uses, and how: as numbers, as categories, or not at all, and why.

The cells of a CSV file are texts. A model must get the same kind of column when it predicts as when it was fitted. So
the kind is chosen once, from all rows of the fit, and is saved in the model file. `pacband.core.cells` defines which
number or category a cell is; here the same rule is applied in SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pacband.core.cells import NUMBER_TYPES, TEXT_TYPES, known_sql, label_text_sql, number_sql, spelled_sql
from pacband.core.dates import UNCLEAR
from pacband.core.number_formats import SAY_HOW, looks_written_otherwise
from pacband.exceptions import InvalidInput
from pacband.tables.column_facts import Facts, count_facts
from pacband.tables.columns import as_frame, check_columns, refuse_inexact
from pacband.tables.connection import quoted
from pacband.tables.date_columns import (
    DATE_KINDS,
    DATE_TYPES,
    date_kind,
    days_of_column_sql,
    refuse_other_than_dates,
)
from pacband.tables.delimited import refuse_large_texts

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = [
    "Column",
    "check_kinds",
    "find_columns",
    "inputs_sql",
    "known_kinds",
    "label_sql",
    "model_kinds",
    "number_columns",
    "numeric_sql",
    "survey",
]

# A column with at least this share of numbers is taken for a numeric column with mistakes in it.
_MEANT_AS_NUMBERS = 0.9
# A column with more distinct texts than this share of its rows is taken for an id.
_LIKE_AN_ID = 0.5
_TIMES = ("DATE", "TIME", "INTERVAL")


@dataclass(frozen=True)
class Column:
    """A column of a table, how a model uses it, and why not.

    It is used as "number", "category" or, as days since 1970-01-01, "date-ymd", "date-dmy" or "date-mdy"; None: not
    at all.
    """

    name: str
    kind: str | None
    why: str = ""


def survey(
    relation: Any,
    target: str,
    *,
    features: Sequence[str] = (),
    exclude: Collection[str] = (),
    categories: Collection[str] = (),
    dates: Mapping[str, str | None] | None = None,
) -> list[Column]:
    """Choose how a model uses every column but the target.

    Parameters
    ----------
    relation : DuckDB relation
        The table.
    target : str
        The column to predict.
    features : sequence of str
        The only columns to use. By default all are used.
    exclude : collection of str
        Columns not to use.
    categories : collection of str
        Columns to use as categories, even if they hold numbers.
    dates : mapping of str to str or None, optional
        Columns of dates to use as days since 1970-01-01, and the order of their day, month and year if it is known.

    Raises
    ------
    InvalidInput
        If a named column does not exist, the target is not numeric, a column holds numbers except for a few texts, or
        no column can be used.
    """
    dates = dates or {}
    find_columns(relation, [target, *features, *exclude, *categories, *dates])
    facts = count_facts(relation, [name for name in relation.columns if name not in exclude], shape=True)
    if not facts[target].rows:
        raise InvalidInput("the table has no rows.")
    _check_numeric(target, facts[target])
    _refuse_inexact(relation, target)
    if target in features or target in categories or target in dates:
        raise InvalidInput(f"the target {target!r} cannot be a feature as well.")
    columns = []
    for name, held in zip(relation.columns, map(str, relation.types), strict=True):
        if name == target:
            continue
        if name in exclude or (features and name not in features):
            columns.append(Column(name, None, "excluded" if name in exclude else "not among the features"))
        else:
            found = facts[name]
            if name in dates:
                columns.append(Column(name, date_kind(name, held, found.order, found.text, dates[name])))
            else:
                columns.append(_choose(name, held, found, name in categories, name in features))
    if not any(column.kind for column in columns):
        raise InvalidInput(f"no column but the target {target!r} can be used: there is nothing to predict from.")
    return columns


def find_columns(relation: Any, names: Sequence[str]) -> None:
    """Raise unless the table has these columns. The error names similar columns."""
    frame = as_frame(relation)
    for name in names:
        check_columns(frame, (), name)


def model_kinds(model: Certified) -> dict[str, str | None]:
    """Return the kind of every column that a model predicts from, in its order; None where its file states none."""
    names = map(str, model.feature_names_in_)
    return {name: model.column_kinds_.get(name) for name in names}


def number_columns(model: Certified) -> list[str]:
    """Return the columns that a model predicts from as numbers."""
    return [name for name, kind in model_kinds(model).items() if kind == "number"]


def check_kinds(relation: Any, kinds: Mapping[str, str | None], *, texts: bool = False) -> dict[str, str]:
    """Return the kinds of the columns of a model, or raise where the new rows do not match them.

    Parameters
    ----------
    relation : DuckDB relation
        The new rows.
    kinds : mapping of str to str or None
        The kinds of the columns in the fit; None where the model file does not state them.
    texts : bool
        Whether categories must be texts, as they were in the fit. This is so for a model of the user's own, which gets
        a category as it is written.
    """
    known = known_kinds(kinds)
    facts = count_facts(relation, list(kinds))
    if not next(iter(facts.values())).rows:
        raise InvalidInput("the table has no rows.")
    for name, held in zip(relation.columns, map(str, relation.types), strict=True):
        if kinds.get(name) == "number":
            _check_numeric(name, facts[name])
        elif kinds.get(name) in DATE_KINDS:
            refuse_other_than_dates(relation, name, held, str(kinds[name]))
        elif texts and name in kinds and not held.startswith(TEXT_TYPES):
            raise InvalidInput(
                f"column {name!r} held texts in the fit, and holds {held} now: write it as the texts of the fit, "
                "because a model of your own distinguishes 1 from 1.0."
            )
    return known


def known_kinds(kinds: Mapping[str, str | None]) -> dict[str, str]:
    """Return the kinds of the columns of a model, or raise if its file does not state them."""
    unknown = [name for name, kind in kinds.items() if kind is None]
    if unknown:
        raise InvalidInput(
            f"the model file does not state whether column {unknown[0]!r} holds numbers or texts: fit the model on a "
            "dataframe with numbers, booleans, or texts in this column, NaN for a gap, and save it with this pacband."
        )
    return {name: str(kind) for name, kind in kinds.items()}


def inputs_sql(relation: Any, kinds: Mapping[str, str], *, texts: bool = False) -> str:
    """Return the columns as the model needs them, for a SELECT: numbers, and the canonical text of every category.

    With `texts`, categories are the texts as they are in the table; a gap is null.
    """
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    parts = []
    for name, kind in kinds.items():
        column = quoted(name)
        if kind == "number":
            value = number_sql(column, types[name])
        elif kind in DATE_KINDS:
            value = days_of_column_sql(column, types[name], kind)
        else:
            value = known_sql(column) if texts else spelled_sql(column, types[name])
        parts.append(f"{value} as {column}")
    return ", ".join(parts)


def numeric_sql(relation: Any, name: str) -> str:
    """Return a column as numbers, for a SELECT; what is no number is null."""
    return number_sql(quoted(name), str(relation.types[relation.columns.index(name)]))


def label_sql(relation: Any, name: str) -> str:
    """Return a column as the labels of units, for a SELECT; a gap is null."""
    return label_text_sql(quoted(name), str(relation.types[relation.columns.index(name)]))


def _choose(name: str, held: str, facts: Facts, wanted: bool, named: bool) -> Column:
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
    if facts.foreign and facts.numbers - facts.truths + facts.foreign >= _MEANT_AS_NUMBERS * facts.known:
        raise InvalidInput(
            f"column {name!r} holds {facts.foreign} numbers in another format, or with two meanings, such as "
            f"{facts.text!r}: state how numbers are written with --decimal and --thousands, use the column as "
            "categories, or exclude it."
        )
    if facts.numbers - facts.truths >= _MEANT_AS_NUMBERS * facts.known:
        raise InvalidInput(
            f"column {name!r} holds numbers but for {facts.known - facts.numbers} of {facts.known} values, such as "
            f"{facts.text!r}: correct them, use the column as categories, or exclude it."
        )
    if facts.order == UNCLEAR:
        why = f"its dates have two meanings, such as {facts.text!r}: --dates {name}:dmy or {name}:mdy states which"
        return Column(name, None, why)
    if facts.order is not None or held.startswith(DATE_TYPES):
        return Column(name, None, f"it holds dates or times; --dates {name} uses them as days since 1970-01-01")
    if facts.times == facts.known or held.startswith(_TIMES):
        return Column(name, None, "it holds dates or times; convert them to numbers, such as days, to use them")
    if facts.levels > _LIKE_AN_ID * facts.known and not named:
        return Column(name, None, "most rows have a different text, as in an id")
    return Column(name, "category")


def _check_numeric(name: str, facts: Facts) -> None:
    if facts.numbers < facts.known:
        bad = facts.known - facts.numbers
        how = f" {SAY_HOW}" if looks_written_otherwise(facts.text or "") else ""
        raise InvalidInput(
            f"column {name!r} must be numeric, got {facts.text!r} (values that are no numbers: {bad}).{how}"
        )
    if facts.infinite:
        raise InvalidInput(f"column {name!r} must be finite or missing, got {facts.infinite} infinite values.")


def _refuse_inexact(relation: Any, name: str) -> None:
    """Raise where a column holds integers or decimals that float64 cannot represent, as numbers or as texts."""
    if str(relation.types[relation.columns.index(name)]).startswith(TEXT_TYPES):
        refuse_large_texts(relation, name)
    else:
        frame: Any = as_frame(relation)
        refuse_inexact(frame, frame.collect_schema(), [name])
