"""Read a cell of a table as a number or as a category: one rule, in Python and in SQL side by side.

The same value has several texts. pandas writes a column of 1, 2 and a missing value as "1.0", "2.0" and "". DuckDB
writes True as "true", and a DECIMAL(9, 2) as "1.50". This module gives every category one canonical text, so that a
model recognises the category in every kind of table:

* The text of a whole number is its digits: 1, 1.0, "1", "1.0", 1e0 and Decimal("1.00") are "1".
* The text of any other number is the shortest text of its float64: 0.1, "0.10" and Decimal("0.1") are "0.1"; 1e-05
  and "0.00001" are "1e-05". A float32 is first converted to its own shortest text: float32 0.1 is "0.1".
* True, "True", "TRUE" and "true" are "true".
* A gap (a missing value) is None, NaN, an empty text, or one of the words NA, N/A, NaN, null, None in any case.
* Every other text stays as it is. No program writes the number 7 as "007", "+7", " 7" or "7.", so these texts may be
  codes. They stay different categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = [
    "NUMBERS",
    "NUMBER_TYPES",
    "TEXT_TYPES",
    "canonical",
    "gap_sql",
    "is_gap",
    "known_sql",
    "label_text",
    "label_text_sql",
    "matching",
    "number",
    "number_sql",
    "short_texts",
    "spelled",
    "spelled_sql",
]

# The number types of Python and numpy.
NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal)
# The words for a missing value, in lower case.
_GAPS = ("", "na", "n/a", "nan", "null", "none", "#n/a")
_TRUTHS = {word: word.lower() for truth in ("true", "false") for word in (truth, truth.capitalize(), truth.upper())}
_BLANKS = " \t\r\n"
# `_WHOLE` and `_PART` match the numbers that programs write into tables. `_READ` matches every text that is accepted as
# a number in a column of numbers.
_WHOLE = r"-?(0|[1-9][0-9]*)(\.0+)?"
_PART = r"-?(0|[1-9][0-9]*)\.[0-9]+|-?[1-9](\.[0-9]+)?[eE][+-]?[0-9]{1,3}"
_READ = r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
# A float64 beyond this is not written out in digits, because DuckDB's widest integer ends there.
_WIDEST = 1e36
_LARGEST_SINGLE = float(np.finfo(np.float32).max)

# DuckDB types by the start of their names: types of texts, then types of numbers.
TEXT_TYPES = ("VARCHAR", "ENUM", "UUID")
_WIDE = ("DECIMAL", "HUGEINT", "UHUGEINT")
_PLAIN = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE")
NUMBER_TYPES = (*_PLAIN, *_WIDE, "BOOLEAN")

_whole, _part, _read = (re.compile(pattern, re.ASCII) for pattern in (_WHOLE, _PART, _READ))


def spelled(value: Any) -> str | None:
    """Return the canonical text of a category, or None for a gap.

    Examples
    --------
    >>> [spelled(value) for value in (1, 1.0, "1.0", np.float32(0.1), True, "TRUE", "007", "NA", None)]
    ['1', '1', '1', '0.1', 'true', 'true', '007', None, None]
    """
    return None if value is None else canonical(value if type(value) is str else _to_text(value))


def canonical(text: str) -> str | None:
    """Return the canonical text of a category that is given as text, or None for a gap. `spelled_sql` is its twin."""
    if is_gap(text):
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if _whole.fullmatch(text):
        digits = text.partition(".")[0]
        return "0" if digits == "-0" else digits
    if _part.fullmatch(text):
        value = float(text)
        if value == np.trunc(value) and abs(value) < _WIDEST:
            return str(int(value))
        return repr(value) if abs(value) < np.inf else text
    return text


def label_text(label: Any) -> str | None:
    """Return the text by which a unit is known in every table, or None for a gap.

    It is the canonical text, except that texts of fractions stay as they are: "1.1" and "1.10" may be two machines.

    >>> [label_text(label) for label in (7, "7.0", 1.1, "1.10", "A7")]
    ['7', '7', '1.1', '1.10', 'A7']
    """
    return label if type(label) is str and _is_fraction(label) else spelled(label)


def label_text_sql(column: str, column_type: str) -> str:
    """Return a SQL expression for `label_text` of a column."""
    known = spelled_sql(column, column_type)
    if not column_type.startswith(TEXT_TYPES):
        return known
    text = f"cast({column} as varchar)"
    value = f"try_cast({text} as double)"
    is_fraction = f"regexp_full_match({text}, '{_PART}') and {value} <> trunc({value})"
    return f"(case when {is_fraction} then {text} else {known} end)"


def spelled_sql(column: str, column_type: str) -> str:
    """Return a SQL expression for the canonical text of a column's categories; it is null for a gap.

    `column` is the quoted name of the column, and `column_type` is its DuckDB type.
    """
    text = f"cast({column} as varchar)"
    if column_type == "FLOAT":
        tries = [f"format('{{:.{digits}g}}', cast({column} as double))" for digits in (6, 7, 8, 9)]
        fits = "".join(f"when cast({one} as float) = {column} then {one} " for one in tries)
        text = f"(case {fits} else {text} end)"
    truths = " ".join(f"when '{word}' then '{truth}'" for word, truth in _TRUTHS.items())
    value = f"try_cast({text} as double)"
    return (
        f"(case when {gap_sql(column)} then null "
        f"when {text} in ({', '.join(map(repr, _TRUTHS))}) then case {text} {truths} end "
        f"when regexp_full_match({text}, '{_WHOLE}') then "
        f"case split_part({text}, '.', 1) when '-0' then '0' else split_part({text}, '.', 1) end "
        f"when regexp_full_match({text}, '{_PART}') then "
        f"case when {value} = trunc({value}) and abs({value}) < {_WIDEST!r} "
        f"then cast(try_cast({value} as hugeint) as varchar) "
        f"when isinf({value}) then {text} else cast({value} as varchar) end "
        f"else {text} end)"
    )


def number(value: Any) -> float | None:
    """Return the number in a cell, NaN for a gap, and None if the cell is no number. `number_sql` is its twin.

    Examples
    --------
    >>> [number(value) for value in (1, "1.5", " 007", True, "false", "NA", "1,5", "much")]
    [1.0, 1.5, 7.0, 1.0, 0.0, nan, None, None]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return float("nan")
    if isinstance(value, np.timedelta64) or not isinstance(value, (str, *NUMBERS)):
        return None
    if not isinstance(value, str):
        return float(value)
    if is_gap(value):
        return float("nan")
    if value in _TRUTHS:
        return float(_TRUTHS[value] == "true")
    return float(value.strip(_BLANKS)) if _read.fullmatch(value.strip(_BLANKS)) else None


def number_sql(column: str, column_type: str) -> str:
    """Return a SQL expression for the numbers of a column; it is null for a gap and for a cell that is no number."""
    text = f"trim(cast({column} as varchar), E' \\t\\r\\n')"
    if column_type.startswith(_PLAIN):
        # DuckDB answers isnan from the statistics of a Parquet file, which leave NaN out. So isnan is not used here.
        value = f"cast({column} as double)"
        return f"(case when isfinite({value}) or isinf({value}) then {value} end)"
    if column_type == "BOOLEAN":
        return f"cast(cast({column} as integer) as double)"
    if column_type.startswith(_WIDE):
        # Cast by way of a text, because DuckDB's direct cast rounds twice.
        return f"cast(cast({column} as varchar) as double)"
    if not column_type.startswith(TEXT_TYPES):
        return "cast(null as double)"
    truths = " ".join(f"when '{word}' then {float(truth == 'true')}" for word, truth in _TRUTHS.items())
    return (
        f"(case when {gap_sql(column)} then null "
        f"when cast({column} as varchar) in ({', '.join(map(repr, _TRUTHS))}) "
        f"then case cast({column} as varchar) {truths} end "
        f"when regexp_full_match({text}, '{_READ}') then try_cast({text} as double) end)"
    )


def matching(labels: Iterable[Any], *, exact_texts: bool = False) -> Callable[[Any], Any]:
    """Return a function that maps a cell to its label: the equal label, or else the label with the same canonical text.

    The function returns a cell unchanged if no label matches, or several do. With `exact_texts`, two texts match only
    if they are equal, because "1.0" and "1" may be different sites.

    Examples
    --------
    >>> match = matching([1, 2, "x"])
    >>> [match(cell) for cell in (2, "1.0", "x", 1.4, "007")]
    [2, 1, 'x', 1.4, '007']
    """
    known = set(labels)
    whole: dict[str | None, Any] = {}
    for label in known:
        whole[spelled(label)] = None if spelled(label) in whole else label
    by_text = short_texts(known) | whole | {None: None}

    def match(cell: Any) -> Any:
        if cell in known:
            return cell
        label = by_text.get(spelled(cell))
        if label is None or (exact_texts and isinstance(cell, str) and isinstance(label, str)):
            return cell
        return label

    return match


def is_gap(text: str) -> bool:
    """Return whether a text means a missing value. `gap_sql` is its twin."""
    return text.strip(_BLANKS).lower() in _GAPS


def short_texts(labels: Iterable[Any]) -> dict[str | None, Any]:
    """Return the labels that are float32 numbers, by their texts as float32.

    Examples
    --------
    >>> short_texts([0.10000000149011612, 0.1, 2.0])
    {'0.1': 0.10000000149011612, '2': 2.0}
    """
    numbers = [label for label in labels if type(label) is float and abs(label) <= _LARGEST_SINGLE]
    return {spelled(np.float32(label)): label for label in numbers if float(np.float32(label)) == label}


def gap_sql(column: str) -> str:
    """Return a SQL expression that is true where a cell is a gap."""
    words = ", ".join(f"'{word}'" for word in _GAPS)
    return f"({column} is null or lower(trim(cast({column} as varchar), E' \\t\\r\\n')) in ({words}))"


def known_sql(column: str) -> str:
    """Return a SQL expression for the cells of a column as texts, unchanged; it is null for a gap."""
    return f"(case when {gap_sql(column)} then null else cast({column} as varchar) end)"


def _is_fraction(text: str) -> bool:
    return bool(_part.fullmatch(text)) and float(text) != np.trunc(float(text))


def _to_text(value: Any) -> str:
    """Return the text of a value before it is made canonical."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (np.float32, np.float16)):
        return _shortest_text(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value.item() if isinstance(value, np.generic) else value)


def _shortest_text(value: Any) -> str:
    """Return the shortest text that gives the same float when it is read back, for a float of fewer than 64 bits."""
    texts = (f"{float(value):.{digits}g}" for digits in (6, 7, 8, 9))
    return next((text for text in texts if type(value)(text) == value), repr(float(value)))
