"""Lines of a stream as columns of numbers and words: CSV with a header, and JSON lines."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from pacband.core.arrays import EXACT, refuse_large_integers
from pacband.core.cells import is_gap
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput

__all__ = ["CsvParser", "JsonParser", "Parser"]

# So many JSON rows in succession must not be without the key of a label.
_MOST_WITHOUT = 100


class Parser:
    """What both formats share: which columns are wanted, and how a cell becomes a number.

    Parameters
    ----------
    numbers, words : sequence of str
        The columns to read as numbers (NaN where there is none) and as they are.
    """

    # Whether rows may be given out: not while it is open whether they have labels at all.
    ready = True

    def __init__(self, numbers: Sequence[str], words: Sequence[str]) -> None:
        self._numbers, self._names = tuple(numbers), (*numbers, *words)

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines; `n_before` is the number of rows before them, by which errors count."""
        raise NotImplementedError

    def finish(self, n_rows: int) -> None:
        """Raise where the stream must not end here, after so many rows."""

    def _typed(self, columns: dict[str, list[Any]], n_before: int) -> dict[str, list[Any]]:
        return {**columns, **{name: self._as_numbers(name, columns[name], n_before) for name in self._numbers}}

    def _as_numbers(self, name: str, values: list[Any], n_before: int) -> list[float]:
        try:
            numbers = list(map(float, values))
        except (TypeError, ValueError, OverflowError):
            numbers = [_as_number(name, value, n_before + i + 1) for i, value in enumerate(values)]
        for number, value in zip(numbers, values, strict=True):
            if (number >= EXACT or number <= -EXACT) and _beyond_float(value):
                refuse_large_integers(repr(name))
        return numbers


class CsvParser(Parser):
    """Reads CSV with one row a line, whose header is the first line of the stream."""

    def __init__(self, numbers: Sequence[str], words: Sequence[str], first: bytes) -> None:
        super().__init__(numbers, words)
        try:
            self._header = next(csv.reader(decoded([first], 0, "utf-8-sig")), [])
        except csv.Error as error:
            raise InvalidInput(f"the stream has a first line that is no header: {error}.") from None
        twice = [name for name, times in Counter(self._header).items() if times > 1 and name]
        if twice:
            raise InvalidInput(f"the stream has {len(twice)} column name(s) more than once: {listed(twice)}.")
        for name in self._names:
            if name not in self._header:
                raise InvalidInput(f"the stream has no column {name!r}; it has {listed(self._header, 12)}.")

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines."""
        try:
            rows = [row for row in csv.reader(decoded(lines, n_before), strict=True) if row]
        except csv.Error as error:
            raise InvalidInput(f"the stream is not CSV with one row a line near row {n_before + 1}: {error}.") from None
        for i, row in enumerate(rows):
            if len(row) != len(self._header):
                raise InvalidInput(
                    f"row {n_before + i + 1} of the stream has {len(row)} fields, its header has {len(self._header)}."
                )
        places = {name: self._header.index(name) for name in self._names}
        return self._typed({name: [row[place] for row in rows] for name, place in places.items()}, n_before)


class JsonParser(Parser):
    """Reads JSON lines, one object a row.

    Every row must have all keys but those of labels, `late`: a label may come late or never. Yet a label that was
    renamed must not pass for one that is late. So its key has to be there in at least one row of those that are read,
    and in one of any 100 in succession; where a label has not come, it may be null.
    """

    def __init__(self, numbers: Sequence[str], words: Sequence[str], late: Sequence[str]) -> None:
        super().__init__(numbers, words)
        # How many rows have been without each key since it was last there, and the keys that have not been there yet.
        self._without = dict.fromkeys(late, 0)
        self._never = set(late)
        self._keys: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:  # type: ignore[override]
        """Whether all keys have been there."""
        return not self._never

    def parse(self, lines: list[bytes], n_before: int) -> dict[str, list[Any]]:
        """Return the columns of some lines."""
        rows: list[dict[str, Any]] = []
        for line in decoded(lines, n_before):
            if line.strip():
                rows.append(self._row(line, n_before + len(rows) + 1))
        return self._typed({name: [row.get(name) for row in rows] for name in self._names}, n_before)

    def finish(self, n_rows: int) -> None:
        """Raise where none of the rows had the key of the label."""
        for name in self._never:
            if self._without[name]:
                self._refuse_without(name, n_rows)

    def _row(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line, object_pairs_hook=_distinct)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"row {number} of the stream is not JSON: {error.msg}.") from None
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"row {number} of the stream cannot be read: {error}.") from None
        if not isinstance(row, dict):
            raise InvalidInput(f"row {number} of the stream must be a JSON object, got {line[:40]!r}.")
        for name in self._names:
            if name not in row and name not in self._without:
                raise InvalidInput(f"row {number} of the stream has no {name!r}; it has {listed(row, 12)}.")
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
            f"{rows} no {name!r}, but {listed(self._keys, 12)}. Name the column of the labels, or write null where a "
            "label has not come yet."
        )


def decoded(lines: list[bytes], n_before: int, encoding: str = "utf-8") -> list[str]:
    """Return lines as texts, or raise where they are not UTF-8."""
    try:
        return b"".join(lines).decode(encoding).split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the stream must be UTF-8: it is not near row {n_before + 1} ({error.reason}).") from None


def _as_number(name: str, value: Any, row: int) -> float:
    if value is None or (isinstance(value, str) and is_gap(value)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        refuse_large_integers(repr(name))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name!r} must be a number, got {value!r} in row {row}.") from None


def _beyond_float(value: Any) -> bool:
    """Return whether a value, or the text of one, is an integer that float64 cannot tell from its neighbours."""
    try:
        return not isinstance(value, float) and abs(int(value)) > EXACT
    except ValueError:
        return False


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise where it has a key twice, of which `json` would take the last."""
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        raise ValueError(f"it has a key more than once: {listed(twice, 12)}")
    return row
