"""Parse lines of a stream into columns of numbers and words: CSV with a header, or JSON lines."""

from __future__ import annotations

import codecs
import csv
import json
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pacband.core.arrays import EXACT, refuse_large_integers
from pacband.core.cells import is_gap
from pacband.core.headers import find_delimiter
from pacband.core.labels import listed
from pacband.core.number_formats import (
    PLAIN,
    SAY_HOW,
    NumberFormat,
    find_format,
    looks_written_otherwise,
    refuse_unclear,
)
from pacband.exceptions import InvalidInput

__all__ = ["UTF8", "CsvParser", "JsonParser", "Parser", "StreamFormat", "decode_lines"]

# An error is raised if this many JSON rows in succession lack the key of a label.
_MOST_WITHOUT = 100


@dataclass(frozen=True)
class StreamFormat:
    """How the lines of a stream are written. By default the delimiter is the one of the header.

    The encoding must write a line break as one byte, as all encodings but UTF-16 and UTF-32 do. `undecided` are the
    columns in which 1.234 has two meanings, as in `FoundFormat`; None if no row was looked at.
    """

    delimiter: str | None = None
    numbers: NumberFormat = PLAIN
    encoding: str = "utf-8"
    undecided: frozenset[str] | None = frozenset()


UTF8 = StreamFormat()


class Parser:
    """What both formats share: the names of the columns, and how a cell becomes a number.

    Parameters
    ----------
    numbers, words : sequence of str
        The columns to read as numbers (NaN for a missing value) and the columns to read unchanged.
    written : StreamFormat
        How the lines are written.
    inputs : collection of str
        The words that a model reads as numbers. They stay texts, with their numbers in the plain format.
    """

    # Whether rows may be returned. JSON rows wait until a row has had the key of the label.
    ready = True

    def __init__(
        self,
        numbers: Sequence[str],
        words: Sequence[str],
        written: StreamFormat = UTF8,
        *,
        inputs: Collection[str] = (),
    ) -> None:
        self._numbers, self._names, self._written = tuple(numbers), (*numbers, *words), written
        self._inputs = frozenset(inputs)
        # Neither we nor a model read these as numbers.
        self._labels = frozenset(words) - self._inputs

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines. `n_before` is the number of rows before them, for the row in an error."""
        raise NotImplementedError

    def finish(self, n_rows: int) -> None:
        """Raise if the stream must not end after these rows."""

    def _convert(self, columns: dict[str, list[Any]], n_before: int) -> dict[str, list[Any]]:
        written = self._written.numbers
        if not written.is_plain:
            columns = {
                name: [_in_plain_format(written, cell) for cell in cells]
                if name in self._inputs or name in self._numbers
                else cells
                for name, cells in columns.items()
            }
        return {**columns, **{name: _as_numbers(name, columns[name], n_before) for name in self._numbers}}


class CsvParser(Parser):
    """Parse CSV with one row a line. The first line of the stream is the header."""

    def __init__(
        self,
        numbers: Sequence[str],
        words: Sequence[str],
        first: bytes,
        written: StreamFormat = UTF8,
        *,
        inputs: Collection[str] = (),
    ) -> None:
        super().__init__(numbers, words, written, inputs=inputs)
        lines = decode_lines([first.removeprefix(codecs.BOM_UTF8)], 0, written.encoding)
        self._delimiter = written.delimiter or find_delimiter(lines[0])
        try:
            self._header = next(csv.reader(lines, delimiter=self._delimiter), [])
        except csv.Error as error:
            raise InvalidInput(f"the stream has a first line that is no header: {error}.") from None
        twice = [name for name, times in Counter(self._header).items() if times > 1 and name]
        if twice:
            raise InvalidInput(f"the stream has {len(twice)} column name(s) more than once: {listed(twice)}.")
        for name in self._names:
            if name not in self._header:
                raise InvalidInput(f"the stream has no column {name!r}; it has {listed(self._header, 12)}.")
        undecided = frozenset(self._header if written.undecided is None else written.undecided)
        self._undecided = undecided & {*numbers, *inputs} if self._delimiter != "," else frozenset()

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines."""
        try:
            texts = decode_lines(lines, n_before, self._written.encoding)
            rows = [row for row in csv.reader(texts, delimiter=self._delimiter, strict=True) if row]
        except csv.Error as error:
            raise InvalidInput(f"the stream is not CSV with one row a line near row {n_before + 1}: {error}.") from None
        for i, row in enumerate(rows):
            if len(row) != len(self._header):
                raise InvalidInput(
                    f"row {n_before + i + 1} of the stream has {len(row)} fields, its header has {len(self._header)}."
                )
        places = {name: self._header.index(name) for name in self._names}
        if any("." in row[places[name]] for name in self._undecided for row in rows):
            self._decide(rows)
        return self._convert({name: [row[place] for row in rows] for name, place in places.items()}, n_before)

    def _decide(self, rows: list[list[str]]) -> None:
        """Find out whether points are decimal marks, or raise if these rows do not decide it."""
        cells = {name: [row[place] for row in rows] for place, name in enumerate(self._header)}
        found = find_format(cells, grouping_points=True)
        refuse_unclear(found, self._undecided, "the stream")
        if found.numbers.is_plain:
            self._undecided &= found.undecided


class JsonParser(Parser):
    """Parse JSON lines, one object a row.

    Every row must have all keys, except the keys of labels, `late`: a label may come late or never. But a renamed label
    must not be mistaken for a late one. So its key must be in at least one row that is read, and in at least one of any
    100 rows in succession. If a label is not known yet, its value may be null.
    """

    def __init__(
        self,
        numbers: Sequence[str],
        words: Sequence[str],
        late: Sequence[str],
        written: StreamFormat = UTF8,
        *,
        inputs: Collection[str] = (),
    ) -> None:
        super().__init__(numbers, words, written, inputs=inputs)
        # For every key of a label, the number of rows since it was last there; and the keys that never were.
        self._without = dict.fromkeys(late, 0)
        self._never = set(late)
        self._keys: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:  # type: ignore[override]
        """Whether every key of a label was in at least one row."""
        return not self._never

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines."""
        rows: list[dict[str, Any]] = []
        for line in decode_lines(lines, n_before, self._written.encoding):
            if line.strip():
                rows.append(self._row(line, n_before + len(rows) + 1))
        return self._convert({name: [row.get(name) for row in rows] for name in self._names}, n_before)

    def finish(self, n_rows: int) -> None:
        """Raise if no row had the key of a label."""
        for name in self._never:
            if self._without[name]:
                self._refuse_without(name, n_rows)

    def _row(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line, object_pairs_hook=_refuse_repeated_keys)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"row {number} of the stream is not JSON: {error.msg}.") from None
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"row {number} of the stream cannot be read: {error}.") from None
        if not isinstance(row, dict):
            raise InvalidInput(f"row {number} of the stream must be a JSON object, got {line[:40]!r}.")
        for name in self._names:
            if name not in row and name not in self._without:
                raise InvalidInput(f"row {number} of the stream has no {name!r}; it has {listed(row, 12)}.")
            if name in self._labels and isinstance(row.get(name), list | dict):
                raise InvalidInput(f"{name!r} must be a text or a number, got {row[name]!r} in row {number}.")
        for name in self._without:
            if name in row:
                self._never.discard(name)
                self._without[name] = 0
                continue
            self._keys = tuple(row)
            self._without[name] += 1
            if self._without[name] >= _MOST_WITHOUT:
                self._refuse_without(name, number)
        return row

    def _refuse_without(self, name: str, number: int) -> NoReturn:
        n_rows = self._without[name]
        rows = f"row {number} has" if n_rows == 1 else f"rows {number - n_rows + 1} to {number} have"
        raise InvalidInput(
            f"{rows} no {name!r}, but {listed(self._keys, 12)}. Name the column of the labels, or write null for a "
            "label that is not known yet."
        )


def decode_lines(lines: list[bytes], n_before: int, encoding: str = "utf-8") -> list[str]:
    """Return lines as texts, or raise unless they are in this encoding."""
    try:
        return b"".join(lines).decode(encoding).split("\n")
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8" else encoding
        raise InvalidInput(
            f"the stream must be {name}: it is not near row {n_before + 1} ({error.reason}). --encoding names another."
        ) from None


def _as_numbers(name: str, values: list[Any], n_before: int) -> list[float]:
    try:
        numbers = list(map(float, values))
    except (TypeError, ValueError, OverflowError):
        numbers = [_as_number(name, value, n_before + i + 1) for i, value in enumerate(values)]
    for number, value in zip(numbers, values, strict=True):
        if (number >= EXACT or number <= -EXACT) and _beyond_float(value):
            refuse_large_integers(repr(name))
    return numbers


def _as_number(name: str, value: Any, row: int) -> float:
    if value is None or (isinstance(value, str) and is_gap(value)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        refuse_large_integers(repr(name))
    except (TypeError, ValueError):
        how = isinstance(value, str) and looks_written_otherwise(value)
        say = f" {SAY_HOW}" if how else ""
        raise InvalidInput(f"{name!r} must be a number, got {value!r} in row {row}.{say}") from None


def _in_plain_format(written: NumberFormat, value: Any) -> Any:
    """Return the text of a number in the plain format. A text that is a number only in that format is marked."""
    if not isinstance(value, str):
        return value
    plain = written.plain(value)
    if plain is None and PLAIN.plain(value) is not None:
        # It must not be read as a number: in the format of this stream it is none.
        return f"{value} (in a stream with {written})"
    return value if plain is None else plain


def _beyond_float(value: Any) -> bool:
    """Return whether a value, or the number in a text, is an integer that float64 cannot represent exactly."""
    try:
        return not isinstance(value, float) and abs(int(value)) > EXACT
    except ValueError:
        return False


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise if it has a key twice. `json` itself would use the last value."""
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        raise ValueError(f"it has a key more than once: {listed(twice, 12)}")
    return row
