"""Read rows from a file or an endless stream, batch by batch in bounded memory, and resume where reading stopped.

A stream is CSV with a header or JSON lines, one row a line. After every batch the reader knows how many bytes it has
read and their SHA-256. A monitor saves this position together with its counts, so that every row is counted exactly
once: after a crash at any moment, reading the same stream again resumes after the last batch that was counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BufferedReader, RawIOBase
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from pacband.core.headers import LONGEST_ROW, declared_delimiter, is_before_header
from pacband.exceptions import InvalidInput
from pacband.monitoring.following import FollowedFile
from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.overlap import Overlap, extend_sample, find_overlap
from pacband.monitoring.parsing import UTF8, CsvParser, JsonParser, Parser, StreamFormat, decode_lines

__all__ = ["Rows", "RowStream"]

# Bytes that are skipped at a time, and seconds between two looks at a followed file.
_PIECE = 1 << 20
_PAUSE = 0.25
# Up to this many bytes that were read ahead are in memory, and more are in a temporary file.
_MOST_IN_MEMORY = 1 << 24
# This many of the last bytes are kept. They differ if a file was rewritten.
_TAIL = 256


@dataclass(frozen=True)
class Rows:
    """A batch of rows: a list of values for every column, and the position of the stream after the batch."""

    columns: dict[str, list[Any]]
    position: StreamPosition


class RowStream:
    """Read rows from a binary file.

    Parameters
    ----------
    source : binary file
        The file to read. It need not be seekable.
    numbers, words : sequence of str
        The columns to read as numbers (NaN for a missing value) and the columns to read unchanged.
    form : {"csv", "jsonl"}, optional
        By default, a stream that begins with a brace is JSON lines, and any other is CSV.
    late : sequence of str
        The columns of labels, which a JSON row may lack; see `JsonParser`.
    written : StreamFormat
        How the lines are written.
    inputs : sequence of str
        The words that a model reads as numbers; see `Parser`.
    path : str, optional
        The path of the file, if it is one. Its position remembers the path and some rows; see `overlap`.
    """

    def __init__(
        self,
        source: BinaryIO,
        numbers: Sequence[str],
        words: Sequence[str],
        form: str | None = None,
        *,
        late: Sequence[str] = (),
        written: StreamFormat = UTF8,
        inputs: Sequence[str] = (),
        path: str | None = None,
    ) -> None:
        self._source = source
        self._numbers, self._words, self._late = tuple(numbers), tuple(words), tuple(late)
        self._inputs = tuple(inputs)
        self._hash, self._offset, self._rows = sha256(), 0, 0
        # Bytes that were read from the source but not returned yet, and the last bytes that were returned.
        self._pending, self._tail = b"", b""
        self._parser: Parser | None = None
        self._form, self._written = form, written
        self._file = None if path is None else sha256(os.fsencode(os.path.realpath(path))).hexdigest()
        self._sample: tuple[int, ...] = ()

    @property
    def position(self) -> StreamPosition:
        """The position after the last row that was returned."""
        return StreamPosition(self._offset, self._rows, self._hash.hexdigest(), self._file, self._sample)

    def skip(self, known: Sequence[StreamPosition], *, wait: bool = False) -> StreamPosition | None:
        """Go to the farthest known position of this stream, and return it. Return None if no position belongs to it.

        With `wait`, a first line without a line break is still being written, and nothing is read.
        """
        if not known or not self._start(wait=wait):
            return None
        found, place = None, (self._hash.copy(), self._offset)
        # What cannot be read twice is kept.
        ahead: IO[bytes] | None = None
        if not self._source.seekable():
            ahead = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115 (closed below, or by _Joined)
        for position in sorted(known, key=lambda position: position.offset):
            if position.offset < self._offset or not self._read_bytes(position.offset - self._offset, ahead):
                continue
            if self._hash.hexdigest() == position.sha256:
                found, place = position, (self._hash.copy(), self._offset)
                if ahead is not None:
                    ahead.seek(0)
                    ahead.truncate()
        if place[1] != self._offset:
            if ahead is None:
                self._source.seek(place[1])
            else:
                ahead.write(self._pending)
                ahead.seek(0)
                self._source = BufferedReader(_Joined(ahead, self._source))
            self._pending, self._tail = b"", b""
        elif ahead is not None:
            ahead.close()
        self._hash, self._offset = place
        self._rows, self._sample = (found.rows, found.sample) if found else (0, ())
        return found

    def find_overlap(self, known: Sequence[StreamPosition]) -> Overlap | None:
        """Look for rows that were read from this file before. Reads to its end, and returns to the position."""
        known = [position for position in known if self._file is not None and position.file == self._file]
        if not known:
            return None
        here = self._source.tell()
        found = find_overlap(chain([self._pending], self._lines()), known)
        self._source.seek(here)
        return found

    @property
    def unfinished(self) -> bool:
        """Whether the last line has no line break, and was not returned."""
        return bool(self._pending)

    def batches(
        self, size: int, *, follow: bool = False, growing: bool = False, file: FollowedFile | None = None
    ) -> Iterator[Rows]:
        """Yield batches of `size` rows; the last one may be shorter. With `follow`, wait for more rows for ever.

        At the end of a `growing` file, and of a followed one, complete rows are returned, and a line without a line
        break is not: it may still be written. If the source is a `file` that may be rotated, the batches end when
        another file has taken its name.

        JSON rows are returned only after a row with the key of the label was read; see `JsonParser`.
        """
        waiting: list[Rows] = []
        while True:
            whole = follow or growing
            lines = self._read_lines(size, whole=whole) if self._start(wait=whole) else []
            if file is not None:
                self._check_file(file, at_end=not lines)
            if lines:
                assert self._parser is not None  # set by _start
                columns = self._parser.parse(lines, self._rows)
                self._consume(lines)
                n_rows = len(next(iter(columns.values())))
                self._rows += n_rows
                if self._file is not None:
                    self._sample = extend_sample(self._sample, lines)
                if n_rows:
                    waiting.append(Rows(columns, self.position))
                if self._parser.ready:
                    yield from waiting
                    waiting.clear()
            elif follow and not (file is not None and file.replaced()):
                time.sleep(_PAUSE)
            elif follow:
                # Read once more to the end: the old file may have got rows before the new one was created.
                follow = False
            else:
                if self._parser is not None:
                    self._parser.finish(self._rows)
                yield from waiting
                return

    def _check_file(self, file: FollowedFile, *, at_end: bool) -> None:
        """Look for a new file with the same name, and raise if the current file was truncated."""
        file.look()
        pending = self._pending if at_end else b""
        file.check_uncut(self._offset + len(pending), (self._tail + pending)[-_TAIL:])

    def _read_lines(self, size: int, *, whole: bool) -> list[bytes]:
        """Return up to `size` next lines. With `whole`, leave out a last line without a line break."""
        pending, self._pending = self._pending, b""
        lines = [pending] if pending.endswith(b"\n") else []
        lines += islice(self._lines(), size - len(lines))
        if pending and not pending.endswith(b"\n"):
            lines[:1] = [_refuse_long(pending + b"".join(lines[:1]))]
        if whole and lines and not lines[-1].endswith(b"\n"):
            self._pending = lines.pop()
        return lines

    def _start(self, *, wait: bool = False) -> bool:
        """Choose the parser by the first line and read a CSV header, once. Return whether there is a stream to read."""
        if self._parser is not None:
            return True
        while True:
            first = next(self._lines(), b"")
            if self._pending:
                first, self._pending = self._pending + first, b""
            if not first or (wait and not first.endswith(b"\n")):
                self._pending = first
                return False
            form = self._form or ("jsonl" if first.lstrip().startswith(b"{") else "csv")
            if form == "jsonl":
                self._parser = JsonParser(self._numbers, self._words, self._late, self._written, inputs=self._inputs)
                self._pending = first
                return True
            (line, *_) = decode_lines([first], 0, self._written.encoding)
            if not is_before_header(line) or not first.endswith(b"\n"):
                break
            if (delimiter := declared_delimiter(line)) is not None and self._written.delimiter is None:
                self._written = replace(self._written, delimiter=delimiter)
            self._consume([first])
        self._parser = CsvParser(self._numbers, self._words, first, self._written, inputs=self._inputs)
        self._consume([first])
        return True

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines of the source. A line without an end must not fill the memory."""
        while line := self._source.readline(LONGEST_ROW + 1):
            yield _refuse_long(line)

    def _read_bytes(self, n_bytes: int, copy: IO[bytes] | None) -> bool:
        """Read bytes without parsing them, and copy them if wanted. Return False if the stream ends before."""
        while n_bytes:
            piece = self._pending[:n_bytes] or self._source.read(min(n_bytes, _PIECE))
            if not piece:
                return False
            self._pending = self._pending[len(piece) :]
            self._consume([piece])
            if copy is not None:
                copy.write(piece)
            n_bytes -= len(piece)
        return True

    def _consume(self, lines: list[bytes]) -> None:
        """Advance the position by these bytes."""
        data = b"".join(lines)
        self._hash.update(data)
        self._offset += len(data)
        self._tail = (self._tail + data[-_TAIL:])[-_TAIL:]


def _refuse_long(line: bytes) -> bytes:
    if len(line) > LONGEST_ROW:
        raise InvalidInput(f"a line of the stream has more than {LONGEST_ROW:,} bytes.")
    return line


class _Joined(RawIOBase):
    """Bytes that were read ahead, and then those of a source that cannot go back."""

    def __init__(self, ahead: IO[bytes], source: BinaryIO) -> None:
        self._ahead, self._source = ahead, source

    def close(self) -> None:
        self._ahead.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._ahead.read(len(buffer)) or self._source.read1(len(buffer))  # type: ignore[attr-defined]
        buffer[: len(data)] = data
        return len(data)
