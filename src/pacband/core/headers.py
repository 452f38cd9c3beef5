"""The first lines of delimited texts: lines before the header, the delimiter, and the names of the columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

__all__ = ["DELIMITERS", "LONGEST_ROW", "declared_delimiter", "find_delimiter", "is_before_header", "split_line"]

DELIMITERS = ",;\t|"
# The longest row, in bytes: DuckDB looks no further for the end of a row.
LONGEST_ROW = 2_000_000
_DECLARED = re.compile(r"sep=(.)\s*", re.IGNORECASE)


def is_before_header(line: str) -> bool:
    """Return whether a first line is not the header: it is empty, a comment, or the line ``sep=;`` of Excel.

    A comment starts with ``# `` or ``##``, or starts with ``#`` and has no delimiter: ``#id,y`` may be a header.

    Examples
    --------
    >>> [is_before_header(line) for line in ("", "# made by hand", "#made", "sep=;", "#id,y", "y,yhat")]
    [True, True, True, True, False, False]
    """
    text = line.strip("\r\n\ufeff")
    if not text.strip() or declared_delimiter(text) is not None or text.startswith(("# ", "##")):
        return True
    return text.startswith("#") and not any(mark in text for mark in DELIMITERS)


def declared_delimiter(line: str) -> str | None:
    """Return the delimiter that a line such as ``sep=;`` declares, which Excel writes and reads; None for others."""
    found = _DECLARED.fullmatch(line.strip("\r\n\ufeff"))
    return None if found is None else found[1]


def find_delimiter(header: str, lines: Sequence[str] = ()) -> str:
    """Return the delimiter of a header: the most frequent one outside quotes.

    If some of the `lines` that follow have another number of cells with it, and none has with another delimiter, it is
    that one. Commas are more frequent in names than other delimiters.

    Examples
    --------
    >>> find_delimiter("area, net, m2;price"), find_delimiter("area, net, m2;price", ["1,5;2", "3;4,5"])
    (',', ';')
    """
    bare = re.sub(r'"[^"]*"', "", header)
    ranked = sorted(DELIMITERS, key=lambda mark: (-bare.count(mark), mark == ","))
    if not bare.count(ranked[0]):
        # One column: its cells may contain commas.
        return next((mark for mark in DELIMITERS if _fits(header, lines, mark)), ",")
    fitting = [mark for mark in ranked if mark in bare and _fits(header, lines, mark)]
    return fitting[0] if fitting else ranked[0]


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line. Raises ``csv.Error`` if it is too long."""
    return next(csv.reader([line], delimiter=delimiter), [])


def _fits(header: str, lines: Sequence[str], delimiter: str) -> bool:
    try:
        n_cells = len(split_line(header, delimiter))
        return all(len(split_line(line, delimiter)) == n_cells for line in lines)
    except csv.Error:
        return False
