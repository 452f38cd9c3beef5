"""Facts about the columns of a table, counted over all rows in one pass: what a survey chooses by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pacband.core.cells import TEXT_TYPES, known_sql, number_sql, spelled_sql
from pacband.core.dates import ORDERS, find_order, matches_sql
from pacband.core.number_formats import other_format_sql
from pacband.tables.connection import quoted
from pacband.tables.reading_errors import reading

__all__ = ["Facts", "count_facts"]


@dataclass(frozen=True)
class Facts:
    """Counts over all rows of a column."""

    rows: int
    known: int
    numbers: int
    infinite: int
    text: str | None
    truths: int = 0
    foreign: int = 0
    times: int = 0
    levels: int = 0
    constant: bool = False
    ymd: int = 0
    dmy: int = 0
    mdy: int = 0

    @property
    def order(self) -> str | None:
        """The order of day, month and year, if all cells are dates; `UNCLEAR` if two fit."""
        return find_order(self.known, {"ymd": self.ymd, "dmy": self.dmy, "mdy": self.mdy})


# The aggregates that count the facts, in the order of `Facts`. New rows need the first few only.
_COUNTS = (
    "count({known})",
    "count({number})",
    "count_if(isinf({number}))",
    "min({known}) filter ({number} is null)",
)
_SHAPE = (
    "count_if(lower({known}) in ('true', 'false'))",
    "count_if({number} is null and {foreign})",
    "count(try_cast({known} as timestamp))",
    "approx_count_distinct({spelled})",
    "coalesce(min({spelled}) = max({spelled}), true)",
    *(f"count_if({{{order}}})" for order in ORDERS),
)


def count_facts(relation: Any, names: Sequence[str], *, shape: bool = False) -> dict[str, Facts]:
    """Return the facts of these columns, in one pass over all rows. New rows need no `shape`."""
    asked = (*_COUNTS, *_SHAPE) if shape else _COUNTS
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    questions = [
        question.format(
            known=known_sql(quoted(name)),
            number=number_sql(quoted(name), types[name]),
            spelled=spelled_sql(quoted(name), types[name]),
            **_text_questions(known_sql(quoted(name)), is_text=types[name].startswith(TEXT_TYPES)),
        )
        for name in names
        for question in asked
    ]
    with reading():
        ((rows, *values),) = relation.aggregate(", ".join(["count(*)", *questions])).fetchall()
    return {name: Facts(rows, *values[k * len(asked) :][: len(asked)]) for k, name in enumerate(names)}


def _text_questions(known: str, *, is_text: bool) -> dict[str, str]:
    """Return SQL for whether a text is a number in another format, or a date in each order."""
    if not is_text:
        return dict.fromkeys(("foreign", *ORDERS), "false")
    return {"foreign": other_format_sql(known)} | {order: matches_sql(f"trim({known})", order) for order in ORDERS}
