"""Messages of DuckDB about files, each as one sentence: which file, line and column, what is there, what is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pacband.core.arrays import refuse_large_integers
from pacband.core.headers import LONGEST_ROW
from pacband.core.number_formats import UNCLEAR_NUMBERS, UNCLEAR_POINTS
from pacband.tables.delimited import LARGE_INTEGER, NO_NUMBER, TWO_MEANINGS

__all__ = ["LINE_ENDS", "NO_NUMBER_COLUMN", "SOURCE_COLUMN", "explain"]

SOURCE_COLUMN = re.compile(
    r"Could not convert string '(?P<text>.*)' to DOUBLE when casting from source column (?P<column>.*)"
)
_CSV_COLUMN = re.compile(r'Error when converting column "(?P<column>.*)". Could not convert string "(?P<text>.*)" to')
NO_NUMBER_COLUMN = re.compile(f"{re.escape(NO_NUMBER)}(?P<column>.*): (?P<text>.*)")
# With the options that we use, DuckDB writes this about the ends of lines, and about a CR elsewhere, only.
LINE_ENDS = re.compile("CSV Parser state machine reached an invalid state")
_LARGE = re.compile(f"{re.escape(LARGE_INTEGER)}(?P<column>.*)")
_NOT_A_NUMBER = "column {column!r} must be numeric, got {text!r}."
_TOO_LONG = f"a row must have at most {LONGEST_ROW:,} bytes."
# What DuckDB writes, and our sentence. The first that matches is used.
_SENTENCES = {
    _CSV_COLUMN: _NOT_A_NUMBER,
    SOURCE_COLUMN: _NOT_A_NUMBER,
    NO_NUMBER_COLUMN: _NOT_A_NUMBER,
    _LARGE: "",
    re.compile(f"{re.escape(TWO_MEANINGS)}(?P<column>.*)"): UNCLEAR_NUMBERS + UNCLEAR_POINTS,
    re.compile(r"Expected Number of Columns: (?P<header>\d+) Found: (?P<row>\d+)"): (
        "a row must have {header} cells like the header, got {row}."
    ),
    re.compile(r'Could not write file \\?".*?\\?": (?P<why>[^"]*[^"\s])'): "{why}.",
    re.compile("not utf-8 encoded"): "the file must be text in UTF-8, or --encoding must name its encoding.",
    re.compile("Maximum line size|Parallel CSV Reader currently does not support"): _TOO_LONG,
    LINE_ENDS: "all lines must end in the same way, in CR LF or in LF, and a CR elsewhere must be within quotes.",
    re.compile("unterminated quote"): "a cell that begins with a quote must end with one.",
    re.compile("No space left on device"): "there is no space left on the device.",
}


def explain(message: str, path: str | None, names: Mapping[str, str]) -> str:
    """Return a message of DuckDB as one sentence.

    Parameters
    ----------
    path : str or None
        The file to name if the message names none.
    names : mapping of str to str
        The user's names of files, by their absolute paths.
    """
    file = re.search(r"^\s*file = (.*)$", message, re.MULTILINE)
    found = file.group(1).strip() if file else ""
    place = names.get(found, found) or path or "the table"
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line:
        place = f"{place}, line {line.group(1)}"
    # The name of a file says nothing about the error.
    said = message.replace(file.group(), "") if file else message
    for pattern, sentence in _SENTENCES.items():
        if match := pattern.search(said):
            if pattern is _LARGE:
                refuse_large_integers(f"{place}: column {match['column']!r}")
            return f"{place}: {sentence.format(**match.groupdict())}"
    for absolute, shown in names.items():
        message = message.replace(absolute, shown)
    lines = message.strip().splitlines()
    return f"{place}: {lines[1] if line else lines[0].split(': ', 1)[-1]}"
