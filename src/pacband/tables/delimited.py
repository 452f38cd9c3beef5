"""CSV files: header, delimiter and number format, and texts read as numbers."""

from __future__ import annotations

import csv
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pacband.core.arrays import EXACT, refuse_large_integers
from pacband.core.headers import LONGEST_ROW, declared_delimiter, find_delimiter, is_before_header, split_line
from pacband.core.labels import listed
from pacband.core.number_formats import PLAIN, FoundFormat, NumberFormat, find_format, is_grouped_sql
from pacband.exceptions import InvalidInput
from pacband.tables.connection import literal, quoted
from pacband.tables.dialects import FIND, Dialect, delimiter_name
from pacband.tables.encodings import open_packed, sample_pieces

__all__ = [
    "FIRST_LINE",
    "LARGE_INTEGER",
    "NO_LAYOUT",
    "NO_NUMBER",
    "TWO_MEANINGS",
    "Layout",
    "find_numbers",
    "float_sql",
    "found_words",
    "guarded_sql",
    "is_parquet",
    "plain_text_sql",
    "read_layout",
    "refuse_large_texts",
    "refuse_long_end",
    "refuse_twins",
]

# The longest header, in characters.
FIRST_LINE = 1 << 24

# The error of SQL for an integer in a column of texts that float64 cannot hold; the name of the column follows.
LARGE_INTEGER = "pacband found an integer beyond 2**53 in column "

# The error of SQL for a text that is no number in the format of the file; the name of the column and the text follow.
NO_NUMBER = "pacband found no number in column "

# The error of SQL for a number with two meanings; the name of the column follows.
TWO_MEANINGS = "pacband found two meanings in column "

# The number of files, and of lines, that are looked at to find out how they are written.
_FILES, _LINES = 16, 64


@dataclass(frozen=True)
class Layout:
    """The columns of a CSV file, the delimiter between its cells, and the number of lines before its header."""

    header: tuple[str, ...]
    delimiter: str = ","
    skip: int = 0


# The layout of files that are no CSV.
NO_LAYOUT = Layout(())


def float_sql(name: str, numbers: NumberFormat = PLAIN) -> str:
    """Return SQL for a column of texts as float64. It raises for integers that float64 cannot hold."""
    text = quoted(name)
    plain = text if numbers.is_plain else numbers.plain_sql(text)
    number = f"cast({plain} as double)"
    refused = f"error({literal(LARGE_INTEGER + name)})"
    # The first case is only for speed.
    first = f"case when abs({number}) < {EXACT} then {number} when {_is_large(plain)} then {refused} "
    if numbers.is_plain:
        return f"{first}else {number} end"
    # A text in another format must not reach the cast: it may be a number there, another one.
    words = f"regexp_full_match({text}, '\\s*[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])\\s*')"
    return (
        f"{first}when {text} is null then null when {words} then cast({text} as double) "
        f"when {plain} is null then {_no_number(name)} else {number} end"
    )


def plain_text_sql(name: str, numbers: NumberFormat) -> str:
    """Return SQL for a column of texts with its numbers in the plain format, and other texts, such as gaps, unchanged.

    It raises for a text that is a number in the plain format only: in the format of the file it is none.
    """
    text, plain = quoted(name), numbers.plain_sql(quoted(name))
    return (
        f"case when {plain} is not null then {plain} when {PLAIN.plain_sql(text)} is not null "
        f"then {_no_number(name)} else {text} end"
    )


def guarded_sql(name: str, cell: str) -> str:
    """Return SQL for a cell that raises if the text of the column is a number with two meanings, such as 1.234."""
    refused = f"error({literal(TWO_MEANINGS + name)})"
    return f"case when {is_grouped_sql(quoted(name))} then {refused} else {cell} end"


def _no_number(name: str) -> str:
    """Return SQL that raises because a text is no number in the format of the file."""
    return f"error({literal(f'{NO_NUMBER}{name}: ')} || {quoted(name)})"


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


def read_layout(path: str, shown: str, dialect: Dialect = FIND, *, encoding: str = "utf-8-sig") -> Layout:
    """Return the columns, the delimiter and the number of lines before the header of a CSV file."""
    line, before = _header_line(path, shown, encoding)
    if line.startswith("{"):
        raise InvalidInput(f"{shown} is neither CSV nor Parquet: it looks like JSON.")
    if "\0" in line:
        raise InvalidInput(f"{shown} is neither Parquet nor text in UTF-8.")
    skip = sum(text.count("\n") for text in before)
    declared = [mark for mark in map(declared_delimiter, before) if mark is not None]
    delimiter = dialect.delimiter or (declared[-1] if declared else find_delimiter(line, _some_lines(path, skip + 1)))
    try:
        names = split_line(line, delimiter)
    except csv.Error as error:
        raise InvalidInput(f"{shown} has a first line that is not a header: {error}.") from None
    if not any(names):
        raise InvalidInput(f"{shown} has no header: its first line must name the columns.")
    # A column without a name, such as the index that pandas writes, gets one.
    names = [name or f"unnamed_{place}" for place, name in enumerate(names)]
    refuse_twins(names, shown)
    return Layout(tuple(names), delimiter, skip)


def find_numbers(paths: Sequence[str], layout: Layout, dialect: Dialect = FIND) -> FoundFormat:
    """Return how numbers are written in CSV files, from cells that are taken from all over the files."""
    step = max(1, -(-len(paths) // _FILES))
    columns: dict[str, list[str]] = {name: [] for name in layout.header}
    for path in dict.fromkeys([*paths[::step], paths[-1]]):
        for number, piece in enumerate(sample_pieces(path)):
            lines = _lines(piece)[0 if number else layout.skip + 1 :]
            for row in _rows(lines, layout.delimiter):
                if len(row) == len(layout.header):
                    for name, cell in zip(layout.header, row, strict=True):
                        columns[name].append(cell)
    grouping_points = layout.delimiter != ","
    return find_format(columns, decimal=dialect.decimal, thousands=dialect.thousands, grouping_points=grouping_points)


def found_words(layout: Layout, found: FoundFormat, dialect: Dialect) -> list[str]:
    """Return how CSV files are written, where that is not plain CSV and nobody said so, in words."""
    said = []
    if dialect.delimiter is None and layout.delimiter != ",":
        said.append(f"delimiter {delimiter_name(layout.delimiter)}")
    if dialect.decimal is None and not found.numbers.is_plain:
        said.append(str(found.numbers))
    return said


def refuse_long_end(path: str, shown: str) -> None:
    """Raise if the last row is too long: DuckDB drops it silently. DuckDB itself refuses other long rows.

    A packed file is read to its end, where it has a sum of its bytes that DuckDB does not compare.
    """
    if path.lower().endswith(".gz"):
        end = _last_bytes(path, shown)
    else:
        with open(path, "rb") as file:
            file.seek(max(file.seek(0, 2) - LONGEST_ROW - 2, 0))
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


def _last_bytes(path: str, shown: str) -> bytes:
    end = b""
    try:
        with open_packed(path) as file:
            while block := file.read(1 << 22):
                end = (end + block)[-LONGEST_ROW - 2 :]
    except (OSError, EOFError, zlib.error):
        raise InvalidInput(f"{shown} is damaged or cut off: it cannot be unpacked to its end.") from None
    return end


def _header_line(path: str, shown: str, encoding: str) -> tuple[str, list[str]]:
    """Return the header of a file, and the lines before it. Line breaks inside quotes do not end a header."""
    before: list[str] = []
    line, size = "", 0
    try:
        with io.TextIOWrapper(open_packed(path), encoding=encoding, newline="") as file:
            while size < FIRST_LINE and (part := file.readline(FIRST_LINE - size)):
                size += len(part)
                line += part
                if not part.endswith("\n"):
                    continue
                if line == part and is_before_header(line):
                    before, line = [*before, line], ""
                elif line.count('"') % 2 == 0:
                    break
            if size >= FIRST_LINE:
                raise InvalidInput(f"{shown} has no header: its first line does not end within 16 MB.")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error):
        raise InvalidInput(f"{shown} is neither Parquet nor text in UTF-8.") from None
    return line, before


def _some_lines(path: str, start: int) -> list[str]:
    """Return some lines of rows, from all over the file after its first `start` lines, that contain no quotes."""
    pieces = [_lines(piece) for piece in sample_pieces(path)]
    pieces[0] = pieces[0][start:]
    lines = [line for piece in pieces for line in piece[: _LINES // len(pieces)]]
    return [line for line in lines if line.strip() and '"' not in line]


def _lines(piece: bytes) -> list[str]:
    return piece.decode("utf-8", "replace").split("\n")


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the rows of some lines; none after a row that cannot be read."""
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error:
        return
