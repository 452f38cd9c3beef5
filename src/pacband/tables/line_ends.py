"""The ends of lines in CSV files: CR LF or LF. DuckDB reads files with one of both; a copy of a file with both has LF.

A line end within quotes is a part of its cell, and stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pacband.core.headers import LONGEST_ROW
from pacband.exceptions import InvalidInput
from pacband.tables.encodings import open_packed, sample_pieces
from pacband.tables.paths import Found, copied_file

__all__ = ["other_line_end", "with_one_line_end"]

_NAMES = {True: "CR LF", False: "LF"}


def with_one_line_end(file: Found, folder: str, number: int, delimiter: str) -> Found:
    """Return a CSV file, or a copy in our own folder if parts from all over the file have both ends of lines."""
    quoted = _quoted_cells(delimiter)
    bare = b"".join(quoted.sub(rb"\g<before>", piece) for piece in sample_pieces(file.path))
    if not 0 < bare.count(b"\r\n") < bare.count(b"\n"):
        return file
    copy = os.path.join(folder, f"lines-{number}.csv")
    with open(copy, "wb") as copied:
        for line, is_end in _lines(file, quoted):
            copied.write(line[:-2] + b"\n" if is_end and line.endswith(b"\r\n") else line)
    file.refuse_change()
    return copied_file(copy, file.shown)


def other_line_end(file: Found, delimiter: str) -> str:
    """Return a sentence that names the first line that does not end as the first one does; empty if there is none."""
    ends = (
        (number, line.endswith(b"\r\n"))
        for number, (line, is_end) in enumerate(_lines(file, _quoted_cells(delimiter)), 1)
        if is_end and line.endswith(b"\n")
    )
    first = next(ends, None)
    for number, end in ends:
        if first is not None and end != first[1]:
            return f"Line {number} of {file.shown} ends in {_NAMES[end]}, and line {first[0]} in {_NAMES[first[1]]}."
    return ""


def _quoted_cells(delimiter: str) -> re.Pattern[bytes]:
    """Return a pattern of quoted cells. One that does not end in the text has an empty `end`."""
    before = rb"\A(?:\xef\xbb\xbf)?|\n|" + re.escape(delimiter.encode())
    return re.compile(rb'(?P<before>%s)"(?:[^"]++|"")*+(?P<end>"|\Z)' % before)


def _lines(file: Found, quoted: re.Pattern[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a file, and whether the end of each is outside of quotes."""
    is_open, number = False, 0
    with open_packed(file.path) as source:
        while line := source.readline(LONGEST_ROW + 1):
            number += 1
            if len(line) > LONGEST_ROW:
                raise InvalidInput(f"{file.shown}, line {number}: a row must have at most {LONGEST_ROW:,} bytes.")
            if b'"' in line:
                cells = [*quoted.finditer(b'"' + line if is_open else line)]
                is_open = bool(cells) and not cells[-1]["end"]
            yield line, not is_open
