"""CSV files: header and delimiter, and texts read as numbers."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from typing import Any

from pacband.core.arrays import EXACT, refuse_large_integers
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput
from pacband.tables.connection import literal, quoted

__all__ = [
    "FIRST_LINE",
    "LARGE_INTEGER",
    "LONGEST_ROW",
    "csv_header",
    "is_parquet",
    "float_sql",
    "refuse_large_texts",
    "refuse_long_end",
    "refuse_twins",
]

# The longest header, in characters.
FIRST_LINE = 1 << 24

# The longest row, in bytes: DuckDB looks no further for the end of a row.
LONGEST_ROW = 2_000_000

# The error of SQL for an integer in a column of texts that float64 cannot hold; the name of the column follows.
LARGE_INTEGER = "pacband found an integer beyond 2**53 in column "

_DELIMITERS = ",;\t|"


def float_sql(name: str) -> str:
    """Return SQL for a column of texts as float64. It raises for integers that float64 cannot hold."""
    text = quoted(name)
    number = f"cast({text} as double)"
    refused = f"error({literal(LARGE_INTEGER + name)})"
    # The first case is only for speed.
    return f"case when abs({number}) < {EXACT} then {number} when {_is_large(text)} then {refused} else {number} end"


def refuse_large_texts(relation: Any, name: str) -> None:
    """Raise if a column of texts has an integer that float64 cannot hold."""
    text = f"cast({quoted(name)} as varchar)"
    ((found,),) = relation.aggregate(f"count_if({_is_large(text)})").fetchall()
    if found:
        refuse_large_integers(f"column {name!r}")


def _is_large(text: str) -> str:
    """Return SQL for whether a text is an integer beyond 2**53. A point or an exponent makes it no integer."""
    return (
        f"(regexp_full_match({text}, '\\s*[+-]*[0-9_]+\\s*') "
        f"and coalesce(abs(try_cast({text} as hugeint)) > {EXACT}, true))"
    )


def is_parquet(path: str, shown: str) -> bool:
    """Return whether a file begins like a Parquet file."""
    with open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise InvalidInput(f"{shown} is empty.")
    return start == b"PAR1"


def csv_header(path: str, shown: str) -> tuple[tuple[str, ...], str]:
    """Return the columns and the delimiter of a CSV file."""
    line = _first_line(path, shown)
    # A delimiter inside quotes is part of a name.
    delimiter = max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", line).count)
    if line.startswith("{"):
        raise InvalidInput(f"{shown} is neither CSV nor Parquet: it looks like JSON.")
    if "\0" in line:
        raise InvalidInput(f"{shown} is neither Parquet nor text in UTF-8.")
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise InvalidInput(f"{shown} has a first line that is not a header: {error}.") from None
    if not any(names):
        raise InvalidInput(f"{shown} has no header: its first line must name the columns.")
    # A column without a name, such as the index that pandas writes, gets one.
    names = [name or f"unnamed_{place}" for place, name in enumerate(names)]
    refuse_twins(names, shown)
    return tuple(names), delimiter


def refuse_long_end(path: str, shown: str) -> None:
    """Raise if the last row is too long: DuckDB drops it silently. DuckDB itself refuses other long rows."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        if path.endswith(".gz"):
            # A kilobyte of gzip unpacks to at most a megabyte.
            end = _last_bytes(path) if size * 1032 > LONGEST_ROW else b""
        else:
            file.seek(max(size - LONGEST_ROW - 2, 0))
            end = file.read()
    if len(end) > LONGEST_ROW and b"\n" not in end.rstrip(b"\r\n"):
        raise InvalidInput(f"{shown}, last line: a row must have at most {LONGEST_ROW:,} bytes.")


def refuse_twins(names: list[str], shown: str) -> None:
    """Raise if two columns have the same name. DuckDB takes Y for y."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(f"{shown} has {len(twice)} column name(s) more than once: {listed(twice)}.")
    known: dict[str, str] = {}
    for name in names:
        if (first := known.setdefault(name.lower(), name)) != name:
            raise InvalidInput(f"{shown} has columns {first!r} and {name!r}: names must differ by more than case.")


def _last_bytes(path: str) -> bytes:
    end = b""
    try:
        with gzip.open(path, "rb") as file:
            while block := file.read(1 << 22):
                end = (end + block)[-LONGEST_ROW - 2 :]
    except (OSError, EOFError, zlib.error):
        # DuckDB reports what is wrong.
        return b""
    return end


def _first_line(path: str, shown: str) -> str:
    """Return the first line of a file. Line breaks inside quotes do not end it."""
    opener: Any = gzip.open if path.endswith(".gz") else open
    line = ""
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            while len(line) < FIRST_LINE and (part := file.readline(FIRST_LINE - len(line))):
                line += part
                if part.endswith("\n") and line.count('"') % 2 == 0:
                    break
            else:
                if len(line) >= FIRST_LINE:
                    raise InvalidInput(f"{shown} has no header: its first line does not end within 16 MB.")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error):
        raise InvalidInput(f"{shown} is neither Parquet nor text in UTF-8.") from None
    return line
