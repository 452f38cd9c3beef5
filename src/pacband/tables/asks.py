"""Numbers that a pass over a table returns: the request, and how to read the result.

The caller keeps its `Ask`, and looks up the result by it. Only this module makes and knows the names of the columns
that are sent to the engine and come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from pacband.core.arrays import Floats
from pacband.tables.engines import fetch_rows, fetch_windows

__all__ = ["Answers", "Ask", "ask_groups", "ask_rows", "ask_windows", "count_rows"]

_N_ROWS = "n"


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A number that a pass returns.

    Attributes
    ----------
    term : Expr
        A value of every row: an integer where it is summed.
    fold : {"sum", "min", "max"}
        How the values of all rows become one.
    """

    term: nw.Expr
    fold: str = "sum"

    @property
    def expr(self) -> nw.Expr:
        """The number as an expression."""
        folded: nw.Expr = getattr(self.term, self.fold)()
        return folded

    def read(self, value: Any) -> Any:
        """Return what an engine answered as a Python number. Over no rows it is null, and reads as zero."""
        return int(value or 0) if self.fold == "sum" else float(value or 0.0)


def count_rows(condition: nw.Expr) -> Ask:
    """Ask for the number of rows for which the condition is true."""
    return Ask(condition.cast(nw.Int64))


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The number of rows that a pass read, and the answer to every `Ask`."""

    n_rows: int
    found: Mapping[Ask, Any]

    def __getitem__(self, ask: Ask) -> Any:
        return self.found[ask]


def ask_rows(frame: nw.LazyFrame[Any], asks: Sequence[Ask]) -> Answers:
    """Ask about all rows of a table, in one pass."""
    columns = {name: ask.expr for name, ask in _named(asks).items()}
    (row,) = fetch_rows(frame.select(nw.len().alias(_N_ROWS), **columns))
    return _read(row, asks)


def ask_groups(frame: nw.LazyFrame[Any], key: str, asks: Sequence[Ask]) -> list[tuple[Any, Answers]]:
    """Ask for sums over the rows with the same key, in one pass; return each key with its answers."""
    names = _named(asks)
    terms = frame.select(key, **{name: ask.term for name, ask in names.items()})
    sums = terms.group_by(key).agg(nw.len().alias(_N_ROWS), *(nw.col(name).sum() for name in names))
    return [(row[key], _read(row, asks)) for row in fetch_rows(sums)]


def ask_windows(
    frame: nw.LazyFrame[Any], inside: Mapping[str, nw.Expr], asks: Sequence[Ask]
) -> tuple[Answers, dict[str, Floats]] | None:
    """Ask for sums over all rows and for the values of columns for which a condition is true, in one reading.

    Returns None if the engine cannot do all of it in one reading.
    """
    row = fetch_windows(frame, inside, {name: ask.term for name, ask in _named(asks).items()}, n_rows=_N_ROWS)
    return None if row is None else (_read(row, asks), {column: row[column] for column in inside})


def _named(asks: Sequence[Ask]) -> dict[str, Ask]:
    return {f"a{k}": ask for k, ask in enumerate(asks)}


def _read(row: Mapping[str, Any], asks: Sequence[Ask]) -> Answers:
    return Answers(int(row[_N_ROWS]), {ask: ask.read(row[name]) for name, ask in _named(asks).items()})
