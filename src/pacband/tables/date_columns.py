"""Columns of dates that a model predicts from: it gets days since 1970-01-01.

The kind of such a column states where day, month and year stand. It is chosen from all rows of the fit and saved in the
model file, so that a date means the same day when the model predicts. Typed columns and texts in ISO format have one
meaning, and are read whatever the kind.
"""

from __future__ import annotations

from typing import Any

from pacband.core.cells import known_sql
from pacband.core.dates import ORDERS, UNCLEAR, days_sql, order_words
from pacband.exceptions import InvalidInput
from pacband.tables.connection import quoted
from pacband.tables.files import reading

__all__ = ["DATE_KINDS", "DATE_TYPES", "date_kind", "days_of_column_sql", "refuse_other_than_dates"]

# The kinds of columns of dates, and the order of day, month and year of each.
DATE_KINDS = {f"date-{order}": order for order in ORDERS}
# DuckDB types by the start of their names.
DATE_TYPES = ("DATE", "TIMESTAMP")


def date_kind(name: str, held: str, found: str | None, example: str | None, wanted: str | None) -> str:
    """Return the kind of a column that the user calls a column of dates, or raise if it is no such column.

    Parameters
    ----------
    name, held : str
        The column and its DuckDB type.
    found : str or None
        The order of day, month and year in its texts, as `find_order` returns it.
    example : str or None
        One of its texts.
    wanted : str or None
        The order that the user states.
    """
    if held.startswith(DATE_TYPES):
        found = "ymd"
    if found == UNCLEAR and wanted is None:
        raise InvalidInput(
            f"the dates of column {name!r} have two meanings, such as {example!r}: state --dates {name}:dmy or "
            f"{name}:mdy."
        )
    if found == UNCLEAR and wanted in ("dmy", "mdy"):
        found = wanted
    if found is None or wanted not in (None, found):
        order = "" if wanted is None else f", {order_words(wanted)},"
        raise InvalidInput(f"column {name!r} must hold dates{order} in every row, got {example!r} or others.")
    return f"date-{found}"


def refuse_other_than_dates(relation: Any, name: str, held: str, kind: str) -> None:
    """Raise if a cell of a column of dates is neither a date in the order of its kind, nor in ISO format, nor a gap."""
    known = known_sql(quoted(name))
    strange = f"filter ({known} is not null and {days_of_column_sql(quoted(name), held, kind)} is null)"
    with reading():
        ((n_bad, text),) = relation.aggregate(f"count(*) {strange}, min({known}) {strange}").fetchall()
    if n_bad:
        raise InvalidInput(
            f"column {name!r} must hold dates, {order_words(DATE_KINDS[kind])} as in the fit or in ISO format, got "
            f"{text!r} (in all, {n_bad} values are no such dates)."
        )


def days_of_column_sql(column: str, held: str, kind: str) -> str:
    """Return a column of dates as days since 1970-01-01, for a SELECT; null for a gap and for what is no date."""
    if held.startswith(DATE_TYPES):
        # The days of a moment must not depend on the time zone of the machine. A text with a zone is read in UTC, too.
        moment = f"{column} at time zone 'UTC'" if held == "TIMESTAMP WITH TIME ZONE" else column
        # By way of a text, so that a date gives the same bits in a file of texts.
        return days_sql(f"cast(cast({moment} as timestamp) as varchar)", "ymd")
    text = f"trim({known_sql(column)})"
    return f"coalesce({', '.join(days_sql(text, order) for order in dict.fromkeys((DATE_KINDS[kind], 'ymd')))})"
