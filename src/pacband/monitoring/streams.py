"""Rows from a file or an endless stream, batch by batch in bounded memory, with a place to go on from.

A stream is CSV with a header or JSON lines, one row a line. After every batch the reader knows how many bytes are
behind it and their SHA-256. A state that holds this place together with the counts makes reading exactly-once: after
a crash at any moment, reading the same stream again goes on after the last batch that was counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, BinaryIO

from pacband.monitoring.following import FollowedFile
from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.parsing import CsvParser, JsonParser, Parser

__all__ = ["Rows", "RowStream"]

_PIECE = 1 << 20
_PAUSE = 0.25
# The last bytes read, which differ in a file that was rewritten.
_TAIL = 256


@dataclass(frozen=True)
class Rows:
    """A batch of rows: a list of values for every column, and where the stream stands after it."""

    columns: dict[str, list[Any]]
    position: StreamPosition


class RowStream:
    """Reads rows from binary input.

    Parameters
    ----------
    source : binary file
        What to read; it need not be seekable.
    numbers, words : sequence of str
        The columns to read as numbers (NaN where there is none) and as they are.
    form : {"csv", "jsonl"}, optional
        By default, what begins with a brace is JSON lines.
    late : sequence of str
        Those of the numbers that a JSON row may be without, the labels; see `JsonParser`.
    """

    def __init__(
        self,
        source: BinaryIO,
        numbers: Sequence[str],
        words: Sequence[str],
        form: str | None = None,
        *,
        late: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._numbers, self._words, self._late = tuple(numbers), tuple(words), tuple(late)
        self._hash, self._offset, self._rows = sha256(), 0, 0
        self._carry, self._tail = b"", b""
        self._parser: Parser | None = None
        self._form = form

    @property
    def position(self) -> StreamPosition:
        """Where the stream stands: behind the last row returned."""
        return StreamPosition(self._offset, self._rows, self._hash.hexdigest())

    def skip(self, known: Sequence[StreamPosition], *, wait: bool = False) -> StreamPosition | None:
        """Go to the farthest of the known positions that is one of this stream, and return it; None where none is.

        With `wait`, a first line without its end is one that is still being written.
        """
        if not known or not self._begin(wait=wait):
            return None
        found, place = None, (self._hash.copy(), self._offset)
        for position in sorted(known, key=lambda position: position.offset):
            if position.offset < self._offset or not self._swallow(position.offset - self._offset):
                continue
            if self._hash.hexdigest() == position.sha256:
                found, place = position, (self._hash.copy(), self._offset)
        if place[1] != self._offset:
            if not self._source.seekable():
                return None
            self._source.seek(place[1])
            self._carry, self._tail = b"", b""
        self._hash, self._offset = place
        self._rows = found.rows if found else 0
        return found

    def batches(self, size: int, *, follow: bool = False, file: FollowedFile | None = None) -> Iterator[Rows]:
        """Yield batches of `size` rows, the last one shorter; with `follow`, wait for more for ever.

        At the end of a followed file the rows that are there are returned at once, a line without its end is not. If
        the source is a `file` that may be rotated, the batches end when another file has taken its name.

        Rows are held back while it is open whether they have labels at all, which JSON lines may leave open.
        """
        held: list[Rows] = []
        while True:
            lines = self._take(size, whole=follow) if self._begin(wait=follow) else []
            if file is not None:
                self._look(file, at_end=not lines)
            if lines:
                parser = self._started()
                columns = parser.parse(lines, self._rows)
                self._consume(lines)
                self._rows += len(next(iter(columns.values())))
                held.append(Rows(columns, self.position))
                if parser.ready:
                    yield from held
                    held.clear()
            elif follow and not (file is not None and file.replaced()):
                time.sleep(_PAUSE)
            elif follow:
                # Once more to the end: what was written before the new file began.
                follow = False
            else:
                if self._parser is not None:
                    self._parser.finish(self._rows)
                yield from held
                return

    def _look(self, file: FollowedFile, *, at_end: bool) -> None:
        """Look for a new file of the name, and raise where this one was cut."""
        file.look()
        carry = self._carry if at_end else b""
        file.check_uncut(self._offset + len(carry), (self._tail + carry)[-_TAIL:])

    def _take(self, size: int, *, whole: bool) -> list[bytes]:
        """Return the next lines, as many as there are up to `size`; with `whole`, none without its end."""
        held, self._carry = self._carry, b""
        lines = [held] if held.endswith(b"\n") else []
        lines += islice(self._source, size - len(lines))
        if held and not held.endswith(b"\n"):
            lines[:1] = [held + b"".join(lines[:1])]
        if whole and lines and not lines[-1].endswith(b"\n"):
            self._carry = lines.pop()
        return lines

    def _begin(self, *, wait: bool = False) -> bool:
        """Read up to the first row, once; return whether there is anything to read."""
        if self._parser is not None:
            return True
        first = self._source.readline()
        if self._carry:
            first, self._carry = self._carry + first, b""
        if not first or (wait and not first.endswith(b"\n")):
            self._carry = first
            return False
        form = self._form or ("jsonl" if first.lstrip().startswith(b"{") else "csv")
        if form == "jsonl":
            self._parser, self._carry = JsonParser(self._numbers, self._words, self._late), first
            return True
        self._parser = CsvParser(self._numbers, self._words, first)
        self._consume([first])
        return True

    def _started(self) -> Parser:
        assert self._parser is not None  # set by _begin
        return self._parser

    def _swallow(self, n_bytes: int) -> bool:
        """Read so many bytes without looking at them; return whether they were there."""
        while n_bytes:
            piece = self._carry[:n_bytes] or self._source.read(min(n_bytes, _PIECE))
            if not piece:
                return False
            self._carry = self._carry[len(piece) :]
            self._consume([piece])
            n_bytes -= len(piece)
        return True

    def _consume(self, lines: list[bytes]) -> None:
        data = b"".join(lines)
        self._hash.update(data)
        self._offset += len(data)
        self._tail = (self._tail + data[-_TAIL:])[-_TAIL:]
