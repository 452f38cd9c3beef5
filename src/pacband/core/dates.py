"""Dates as people of different countries write them: 2025-12-31, 31.12.2025, 31/12/2025, 12/31/2025; with times, too.

An order of a date is "ymd", "dmy" or "mdy": where year, month and day stand. 31.12.2025 is always day first. With
slashes and dashes, 01/02/2025 is a day in January or in February: only the other rows of a column show which, and if no
row does, the column is `UNCLEAR`. `to_days` is the number of days since 1970-01-01; `days_sql` is its twin in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

__all__ = ["ORDERS", "UNCLEAR", "date_order", "days_sql", "find_order", "matches_sql", "order_words", "to_days"]

UNCLEAR = "unclear"
_DAY, _MONTH, _YEAR = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])", "([12][0-9]{3})"
_TIME = (
    r"([T ]([01]?[0-9]|2[0-3]):([0-5][0-9])(:([0-5][0-9])([.][0-9]{1,6})?)?( ?([AaPp])[Mm])?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# The patterns of the orders. Both marks of a date are the same.
ORDERS = {
    "ymd": "|".join(f"{_YEAR}{mark}{_MONTH}{mark}{_DAY}{_TIME}" for mark in ("-", "/", "[.]")),
    "dmy": "|".join(f"{_DAY}{mark}{_MONTH}{mark}{_YEAR}{_TIME}" for mark in ("[.]", "/", "-")),
    "mdy": "|".join(f"{_MONTH}{mark}{_DAY}{mark}{_YEAR}{_TIME}" for mark in ("/", "-")),
}
_compiled = {order: re.compile(pattern) for order, pattern in ORDERS.items()}
_PARTS = re.compile(r"([0-9]+)[-/.]([0-9]+)[-/.]([0-9]+)" + _TIME)
# The same parts of a time, each by a pattern of its own: SQL has at most nine groups in a pattern.
_TIME_PARTS = {
    "hour": "[T ]([0-9]+):",
    "minute": "[T ][0-9]+:([0-9]{2})",
    "second": "[T ][0-9]+:[0-9]{2}:([0-9]{2})",
    "part": ":[0-9]{2}([.][0-9]+)",
    "half": "([AaPp])[Mm]",
    "zone": ":[0-9]{2}.*(Z|[+-][0-9]{2}:?[0-9]{2})$",
}
_EPOCH = datetime(1970, 1, 1)
_WORDS = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}


def order_words(order: str) -> str:
    """Return an order in words."""
    return _WORDS[order]


def find_order(n_cells: int, n_matches: Mapping[str, int]) -> str | None:
    """Return the order of a column of dates; `UNCLEAR` if two fit, None if it holds anything else.

    Parameters
    ----------
    n_cells : int
        The number of cells that are not missing.
    n_matches : mapping of str to int
        How many of them match the pattern of each order.
    """
    fitting = [order for order in ORDERS if n_cells and n_matches[order] == n_cells]
    return None if not fitting else UNCLEAR if len(fitting) > 1 else fitting[0]


def date_order(cells: Iterable[str]) -> str | None:
    """Return the order of the dates in texts; `UNCLEAR` if two fit, None if a text is no date.

    Examples
    --------
    >>> date_order(["31.12.2025", "1.1.2026 12:30"]), date_order(["31/12/2025"]), date_order(["12/31/2025"])
    ('dmy', 'dmy', 'mdy')
    >>> date_order(["01/02/2025", "3/4/2025"]), date_order(["31.12.2025", "12/31/2025"])
    ('unclear', None)
    """
    fitting = list(ORDERS)
    n_cells = 0
    for cell in cells:
        n_cells += 1
        fitting = [order for order in fitting if _compiled[order].fullmatch(cell)]
        if not fitting:
            return None
    return find_order(n_cells, {order: n_cells * (order in fitting) for order in ORDERS})


def to_days(cell: str, order: str) -> float | None:
    """Return a date as days since 1970-01-01, with the time of day as a fraction; None if it is no date.

    Examples
    --------
    >>> [to_days(text, "dmy") for text in ("1.1.1970", "02.01.1970 12:00", "31.02.2025", "soon")]
    [0.0, 1.5, None, None]
    """
    if not _compiled[order].fullmatch(cell):
        return None
    found = _PARTS.fullmatch(cell)
    assert found is not None  # every order has these parts
    parts = dict(zip(order, map(int, found.group(1, 2, 3)), strict=True))
    hour, minute, second, part, half, zone = found.group(5, 6, 8, 9, 11, 12)
    hours = int(hour or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half in "Pp")
    try:
        day = datetime(parts["y"], parts["m"], parts["d"])
    except ValueError:
        return None
    seconds = hours * 3600 + int(minute or 0) * 60 + int(second or 0) + float(part or 0) - _offset(zone)
    return (day - _EPOCH) / timedelta(days=1) + seconds / 86400


def days_sql(text: str, order: str) -> str:
    """Return SQL for a text as days since 1970-01-01; null if it is no date in this order."""
    numbers = "^([0-9]+)[-/.]([0-9]+)[-/.]([0-9]+)"
    first = [f"try_cast(regexp_extract({text}, '{numbers}', {k}) as integer)" for k in (1, 2, 3)]
    part = {name: f"regexp_extract({text}, '{pattern}', 1)" for name, pattern in _TIME_PARTS.items()}
    place = {name: first[order.index(name)] for name in "ymd"}
    day = f"try_cast(format('{{:04d}}-{{:02d}}-{{:02d}}', {place['y']}, {place['m']}, {place['d']}) as date)"
    hour = f"coalesce(try_cast({part['hour']} as integer), 0)"
    half = f"lower({part['half']})"
    hours = (
        f"(case when {half} = '' then {hour} when {hour} between 1 and 12 "
        f"then {hour} % 12 + 12 * cast({half} = 'p' as integer) end)"
    )
    sign = f"(case when {part['zone']} like '-%' then -1 else 1 end)"
    digits = f"replace({part['zone']}, ':', '')"
    offset = (
        f"(case when {part['zone']} in ('', 'Z') then 0 else {sign} * (cast(substr({digits}, 2, 2) as integer) * 3600 "
        f"+ cast(substr({digits}, 4, 2) as integer) * 60) end)"
    )
    seconds = (
        f"(cast({hours} * 3600 + coalesce(try_cast({part['minute']} as integer), 0) * 60 "
        f"+ coalesce(try_cast({part['second']} as integer), 0) as double) "
        f"+ coalesce(try_cast(nullif({part['part']}, '') as double), 0) - {offset})"
    )
    days = f"cast(date_diff('day', date '1970-01-01', {day}) as double) + {seconds} / 86400"
    return f"(case when {matches_sql(text, order)} then {days} end)"


def matches_sql(text: str, order: str) -> str:
    """Return SQL for whether a text matches the pattern of an order."""
    return f"regexp_full_match({text}, '{ORDERS[order]}')"


def _offset(zone: str | None) -> int:
    """Return the seconds of a time zone such as +01:00 before Greenwich."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    return (-1 if zone.startswith("-") else 1) * (int(digits[:2]) * 3600 + int(digits[2:4]) * 60)
