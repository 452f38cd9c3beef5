"""The files that a monitor reads: CSV and JSON lines as they are, all others as CSV copies.

A position in a stream is a number of bytes and their SHA-256. Parquet files, Excel workbooks and texts in UTF-16 are
written to CSV in the same bytes each time, so that a position in them is found again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pacband.core.number_formats import find_format, refuse_unclear
from pacband.core.paths import files_named
from pacband.exceptions import InvalidInput
from pacband.monitoring.following import FollowedFile
from pacband.monitoring.ledger import MOST_STREAMS
from pacband.monitoring.parsing import UTF8, StreamFormat
from pacband.tables.delimited import find_numbers, found_words, is_parquet, read_layout
from pacband.tables.dialects import Dialect
from pacband.tables.encodings import find_encoding, is_utf8
from pacband.tables.workbooks import is_workbook

__all__ = ["Source", "open_sources", "stream_format"]


@dataclass(frozen=True)
class Source:
    """An open file, or standard input, and how its lines are written. Only a file on a disk has a path."""

    stream: BinaryIO
    written: StreamFormat
    path: str | None = None
    file: FollowedFile | None = None

    @property
    def piped(self) -> bool:
        """Whether it is standard input."""
        return self.path is None and self.file is None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path or (self.file.path if self.file else "standard input")


def open_sources(
    name: str,
    numbers: Sequence[str],
    words: Sequence[str],
    dialect: Dialect,
    *,
    inputs: Sequence[str] = (),
    form: str | None = None,
    follow: bool = False,
    note: Callable[[str], None] = lambda text: None,
) -> Generator[Source, None, None]:
    """Yield the files behind a name one after the other, in the order of their names; each is closed before the next.

    Parameters
    ----------
    name : str
        A file, a directory or a pattern.
    numbers, words : sequence of str
        The columns that are read.
    dialect : Dialect
        How the files are written, where the user says so.
    inputs : sequence of str
        The words that a model reads as numbers.
    form : {"csv", "jsonl"}, optional
        The form of the lines, if the user names it.
    follow : bool
        Whether the file may grow: it must then be one file of lines.
    note : function of a text
        Called with a sentence if a file is not written as plain CSV, and nobody said so.
    """
    names = files_named(name) or [name]
    if len(names) > MOST_STREAMS:
        raise InvalidInput(
            f"{name} has {len(names)} files, and a monitor remembers the last {MOST_STREAMS} that it read: name the "
            "new files, so that no row counts twice."
        )
    if follow and len(names) > 1:
        raise InvalidInput(f"--follow waits for the rows of one file, and {name} has {len(names)}.")
    for path in names:
        # A log that is followed may be new, and so may one file of many.
        if path == name and not follow and os.path.isfile(path) and not os.path.getsize(path):
            raise InvalidInput(f"{path} is empty.")
        written = None if form == "jsonl" else _text_format(path, [*numbers, *inputs], dialect, note)
        if form == "jsonl" or written is not None:
            with FollowedFile(path) as file:
                yield Source(file.source, written or stream_format(dialect), path if file.regular else None, file)
        elif follow:
            raise InvalidInput(f"--follow waits for lines at the end of a file, and {path} is not such a file.")
        else:
            yield from _copied(path, numbers, words, inputs, dialect, note)


def stream_format(dialect: Dialect) -> StreamFormat:
    """Return how lines are written if nothing can be found out beforehand, as on standard input."""
    if dialect.encoding is not None and not _is_by_line(dialect.encoding):
        raise InvalidInput(f"a stream cannot be read in {dialect.encoding} line by line: convert it to UTF-8.")
    numbers = find_format({}, decimal=dialect.decimal, thousands=dialect.thousands).numbers
    undecided = None if dialect.decimal is None and dialect.thousands is None else frozenset[str]()
    return StreamFormat(dialect.delimiter, numbers, dialect.encoding or UTF8.encoding, undecided)


def _text_format(
    path: str, numbers: Sequence[str], dialect: Dialect, note: Callable[[str], None]
) -> StreamFormat | None:
    """Return how the lines of a file are written; None if it is not read line by line."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return stream_format(dialect)
    if is_parquet(path, path) or is_workbook(path) or path.lower().endswith(".gz"):
        return None
    encoding = dialect.encoding or find_encoding(path, path)
    if not _is_by_line(encoding):
        return None
    with open(path, "rb") as file:
        if file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return stream_format(dialect)
    layout = read_layout(path, path, dialect, encoding="utf-8-sig" if is_utf8(encoding) else encoding)
    found = find_numbers([path], layout, dialect)
    refuse_unclear(found, numbers, path)
    said = [] if dialect.encoding is not None or is_utf8(encoding) else [f"encoding {encoding}"]
    if said := [*said, *found_words(layout, found, dialect)]:
        note(f"Read {path} with {', '.join(said)}.")
    encoding = UTF8.encoding if is_utf8(encoding) else encoding
    return StreamFormat(layout.delimiter, found.numbers, encoding, found.undecided)


def _is_by_line(encoding: str) -> bool:
    return "\n".encode(encoding) == b"\n"


def _copied(
    path: str,
    numbers: Sequence[str],
    words: Sequence[str],
    inputs: Sequence[str],
    dialect: Dialect,
    note: Callable[[str], None],
) -> Iterator[Source]:
    """Yield a file as plain CSV with the columns that are read."""
    from pacband.tables.files import open_files
    from pacband.tables.writing import write_table

    with open_files([path], dialect, note=note) as files, files.reading():
        copy = os.path.join(files.folder, "stream.csv")
        write_table(files.relation(numbers, inputs=inputs, only=[*numbers, *words], threads=1), copy)
        with open(copy, "rb") as stream:
            yield Source(stream, UTF8, path)
