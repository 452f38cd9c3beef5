"""Read rows from a file or an endless stream, batch by batch in bounded memory, and resume where reading stopped.

A stream is CSV with a header or JSON lines, one row a line. After every batch the reader knows how many bytes it has
read and their SHA-256. A monitor saves this position together with its counts, so that every row is counted exactly
once: after a crash at any moment, reading the same stream again resumes after the last batch that was counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any, BinaryIO

from pacband.core.headers import declared_delimiter, is_before_header
from pacband.monitoring.following import FollowedFile
from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.parsing import UTF8, CsvParser, JsonParser, Parser, StreamFormat, decode_lines

__all__ = ["Rows", "RowStream"]

# Bytes that are skipped at a time, and seconds between two looks at a followed file.
_PIECE = 1 << 20
_PAUSE = 0.25
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
    ) -> None:
        self._source = source
        self._numbers, self._words, self._late = tuple(numbers), tuple(words), tuple(late)
        self._inputs = tuple(inputs)
        self._hash, self._offset, self._rows = sha256(), 0, 0
        # Bytes that were read from the source but not returned yet, and the last bytes that were returned.
        self._pending, self._tail = b"", b""
        self._parser: Parser | None = None
        self._form, self._written = form, written

    @property
    def position(self) -> StreamPosition:
        """The position after the last row that was returned."""
        return StreamPosition(self._offset, self._rows, self._hash.hexdigest())

    def skip(self, known: Sequence[StreamPosition], *, wait: bool = False) -> StreamPosition | None:
        """Go to the farthest known position of this stream, and return it. Return None if no position belongs to it.

        With `wait`, a first line without a line break is still being written, and nothing is read.
        """
        if not known or not self._start(wait=wait):
            return None
        found, place = None, (self._hash.copy(), self._offset)
        for position in sorted(known, key=lambda position: position.offset):
            if position.offset < self._offset or not self._read_bytes(position.offset - self._offset):
                continue
            if self._hash.hexdigest() == position.sha256:
                found, place = position, (self._hash.copy(), self._offset)
        if place[1] != self._offset:
            if not self._source.seekable():
                return None
            self._source.seek(place[1])
            self._pending, self._tail = b"", b""
        self._hash, self._offset = place
        self._rows = found.rows if found else 0
        return found

    def batches(self, size: int, *, follow: bool = False, file: FollowedFile | None = None) -> Iterator[Rows]:
        """Yield batches of `size` rows; the last one may be shorter. With `follow`, wait for more rows for ever.

        At the end of a followed file, complete rows are returned at once, and a line without a line break is not. If
        the source is a `file` that may be rotated, the batches end when another file has taken its name.

        JSON rows are returned only after a row with the key of the label was read; see `JsonParser`.
        """
        waiting: list[Rows] = []
        while True:
            lines = self._read_lines(size, whole=follow) if self._start(wait=follow) else []
            if file is not None:
                self._check_file(file, at_end=not lines)
            if lines:
                assert self._parser is not None  # set by _start
                columns = self._parser.parse(lines, self._rows)
                self._consume(lines)
                self._rows += len(next(iter(columns.values())))
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
        lines += islice(self._source, size - len(lines))
        if pending and not pending.endswith(b"\n"):
            lines[:1] = [pending + b"".join(lines[:1])]
        if whole and lines and not lines[-1].endswith(b"\n"):
            self._pending = lines.pop()
        return lines

    def _start(self, *, wait: bool = False) -> bool:
        """Choose the parser by the first line and read a CSV header, once. Return whether there is a stream to read."""
        if self._parser is not None:
            return True
        while True:
            first = self._source.readline()
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

    def _read_bytes(self, n_bytes: int) -> bool:
        """Read bytes without parsing them. Return False if the stream ends before."""
        while n_bytes:
            piece = self._pending[:n_bytes] or self._source.read(min(n_bytes, _PIECE))
            if not piece:
                return False
            self._pending = self._pending[len(piece) :]
            self._consume([piece])
            n_bytes -= len(piece)
        return True

    def _consume(self, lines: list[bytes]) -> None:
        """Advance the position by these bytes."""
        data = b"".join(lines)
        self._hash.update(data)
        self._offset += len(data)
        self._tail = (self._tail + data[-_TAIL:])[-_TAIL:]
