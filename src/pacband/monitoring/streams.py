"""Rows from a file or an endless stream, batch by batch in bounded memory, with a place to go on from.

A stream is CSV with a header or JSON lines, one row a line. After every batch the reader knows how many bytes are
behind it and their SHA-256. A state that holds this place together with the counts makes reading exactly-once: after
a crash at any moment, reading the same stream again goes on after the last batch that was counted.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, BinaryIO

from pacband.exceptions import InvalidInput
from pacband.monitoring.ledger import StreamPosition

__all__ = ["FORMATS", "Rows", "RowStream"]

FORMATS = ("csv", "jsonl")
_MISSING = {"", "na", "n/a", "null", "none"}
_PIECE = 1 << 20
_PAUSE = 0.25


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
    """

    def __init__(self, source: BinaryIO, numbers: Sequence[str], words: Sequence[str], form: str | None = None) -> None:
        self._source = source
        self._numbers, self._words = tuple(numbers), tuple(words)
        self._hash, self._offset, self._rows = sha256(), 0, 0
        self._carry = b""
        self._parse: Callable[[list[bytes]], dict[str, list[Any]]] | None = None
        self._form = form

    @property
    def position(self) -> StreamPosition:
        """Where the stream stands: behind the last row returned."""
        return StreamPosition(self._offset, self._rows, self._hash.hexdigest())

    def skip(self, known: Sequence[StreamPosition]) -> StreamPosition | None:
        """Go to the farthest of the known positions that is one of this stream, and return it; None where none is."""
        if not known or not self._begin():
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
            self._carry = b""
        self._hash, self._offset = place
        self._rows = found.rows if found else 0
        return found

    def batches(self, size: int, *, follow: bool = False) -> Iterator[Rows]:
        """Yield batches of `size` rows, the last one shorter; with `follow`, wait for more for ever.

        At the end of a followed file the rows that are there are returned at once, a line without its end is not.
        """
        while True:
            lines = self._take(size, whole=follow) if self._begin(wait=follow) else []
            if lines:
                columns = self._columns(lines)
                self._consume(lines)
                self._rows += len(next(iter(columns.values())))
                yield Rows(columns, self.position)
            elif follow:
                time.sleep(_PAUSE)
            else:
                return

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
        if self._parse is not None:
            return True
        first = self._source.readline()
        if self._carry:
            first, self._carry = self._carry + first, b""
        if not first or (wait and not first.endswith(b"\n")):
            self._carry = first
            return False
        form = self._form or ("jsonl" if first.lstrip().startswith(b"{") else "csv")
        if form == "jsonl":
            self._parse, self._carry = self._parse_json, first
            return True
        self._parse = self._csv_parser(self._decode([first], "utf-8-sig"))
        self._consume([first])
        return True

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

    def _columns(self, lines: list[bytes]) -> dict[str, list[Any]]:
        assert self._parse is not None  # set by _begin
        return self._parse(lines)

    def _decode(self, lines: list[bytes], encoding: str = "utf-8") -> list[str]:
        try:
            return b"".join(lines).decode(encoding).split("\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"the stream must be UTF-8: it is not near row {self._rows + 1} ({error.reason})."
            ) from None

    def _csv_parser(self, header_lines: list[str]) -> Callable[[list[bytes]], dict[str, list[Any]]]:
        header = next(csv.reader(header_lines), [])
        for name in (*self._numbers, *self._words):
            if name not in header:
                raise InvalidInput(f"the stream has no column {name!r}; it has {', '.join(map(repr, header))}.")

        def parse(lines: list[bytes]) -> dict[str, list[Any]]:
            try:
                rows = [row for row in csv.reader(self._decode(lines), strict=True) if row]
            except csv.Error as error:
                raise InvalidInput(
                    f"the stream is not CSV with one row a line near row {self._rows + 1}: {error}."
                ) from None
            for i, row in enumerate(rows):
                if len(row) != len(header):
                    raise InvalidInput(
                        f"row {self._rows + i + 1} of the stream has {len(row)} fields, its header has {len(header)}."
                    )
            columns = {name: [row[header.index(name)] for row in rows] for name in (*self._numbers, *self._words)}
            return {**columns, **{name: self._as_numbers(name, columns[name]) for name in self._numbers}}

        return parse

    def _parse_json(self, lines: list[bytes]) -> dict[str, list[Any]]:
        rows = []
        for i, line in enumerate(self._decode(lines)):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidInput(f"row {self._rows + i + 1} of the stream is not JSON: {error.msg}.") from None
            if not isinstance(row, dict):
                raise InvalidInput(f"row {self._rows + i + 1} of the stream must be a JSON object, got {line[:40]!r}.")
            rows.append(row)
        columns = {name: [row.get(name) for row in rows] for name in (*self._numbers, *self._words)}
        return {**columns, **{name: self._as_numbers(name, columns[name]) for name in self._numbers}}

    def _as_numbers(self, name: str, values: list[Any]) -> list[float]:
        try:
            return list(map(float, values))
        except (TypeError, ValueError):
            return [self._as_number(name, value, i) for i, value in enumerate(values)]

    def _as_number(self, name: str, value: Any, row: int) -> float:
        if value is None or (isinstance(value, str) and value.strip().lower() in _MISSING):
            return math.nan
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InvalidInput(f"{name!r} must be a number, got {value!r} in row {self._rows + row + 1}.") from None
