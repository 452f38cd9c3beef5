"""Excel workbooks (.xlsx): one sheet, written as CSV in UTF-8.

A workbook is a ZIP archive of XML. A small archive may unpack to any size, and two cells far apart span a sheet of any
size. So both are measured before it is read.
Cells keep their values: numbers to the last bit, dates in ISO format, texts as they are.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from pacband.core.extras import require
from pacband.core.labels import listed
from pacband.core.zip_files import begins_as_zip
from pacband.exceptions import InvalidInput

__all__ = ["LARGEST", "is_workbook", "write_sheet"]

# The most bytes that a workbook may unpack to. A sheet of Excel has at most 1,048,576 rows, and is read into memory.
LARGEST = 1 << 30
_BLOCK = 1 << 20
# The most cells of a sheet up to its last row and column, empty ones included: all of them are in memory at once.
MOST_CELLS = 1 << 26
# A row or a cell, its place, if it states one, and the mark of an empty one: <row r="12">, <c r="AB12" s="1"/>.
_TAG = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])(?:[^<>]*?\sr=[\"']([A-Z]{0,3})([0-9]{1,7})[\"'])?[^<>]*?(/?)>")


def is_workbook(path: str) -> bool:
    """Return whether a file is an Excel workbook."""
    if not begins_as_zip(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def write_sheet(path: str, copy: str, *, shown: str, sheet: str | None = None) -> str:
    """Write a sheet of a workbook to a CSV file, and return its name. By default it is the only sheet with cells."""
    calamine = require("python_calamine", purpose="an Excel workbook")
    _refuse_large(path, shown)
    try:
        with calamine.CalamineWorkbook.from_path(path) as workbook:
            names = list(workbook.sheet_names)
            if sheet is not None and sheet not in names:
                raise InvalidInput(f"{shown} has no sheet {sheet!r}; it has {listed(names, 12)}.")
            tables = {name: _cells(workbook, name) for name in ([sheet] if sheet is not None else names)}
    except calamine.CalamineError as error:
        raise InvalidInput(f"{shown} is a workbook that cannot be read: {error}.") from None
    full = [name for name, rows in tables.items() if rows]
    if not full:
        raise InvalidInput(f"{shown} has no cells{'' if sheet is None else f' in sheet {sheet!r}'}.")
    if len(full) > 1:
        raise InvalidInput(f"{shown} has {len(full)} sheets with cells: name one with --sheet: {listed(full, 12)}.")
    with open(copy, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_text(cell) for cell in row] for row in tables[full[0]])
    return full[0]


def _cells(workbook: Any, name: str) -> list[list[Any]]:
    """Return the rows of a sheet that are not empty. The sheet starts at its first cell that is not empty."""
    rows: list[list[Any]] = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
    return [row for row in rows if any(cell != "" for cell in row)]


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        # Excel has one kind of numbers. Programs write whole ones as integers.
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat(" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell / timedelta(days=1))
    return str(cell)


def _refuse_large(path: str, shown: str) -> None:
    """Raise if a workbook has too many bytes or cells. The sizes that an archive states may be wrong, so it is read."""
    size = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise InvalidInput(f"{shown} is packed in a way that workbooks are not: save the sheet as CSV.")
                extent = _Extent(shown)
                with archive.open(entry) as file:
                    while block := file.read(_BLOCK):
                        size += len(block)
                        if size > LARGEST:
                            raise InvalidInput(
                                f"{shown} unpacks to more than {LARGEST:,} bytes: save the sheet as CSV, and use that."
                            )
                        extent.add(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(f"{shown} is a workbook that cannot be read: {error}.") from None


class _Extent:
    """How far the cells of a part of a workbook reach: from its first place to the last row and column."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._rest = b""
        self._row = self._column = self._last = self._widest = 0
        self._in_sheet = False

    def add(self, block: bytes) -> None:
        """Look at the next bytes. A tag that does not end in them is looked at with the bytes that follow.

        A row or a cell without a place follows the one before. Empty cells take no memory. Other parts than
        sheets list cells in any order.
        """
        block = self._rest + block
        end = block.rfind(b"<") if block.rfind(b">") < block.rfind(b"<") else len(block)
        block, self._rest = block[:end], block[end:]
        if len(self._rest) > _BLOCK:
            raise InvalidInput(f"{self._shown} is a workbook that cannot be read: a tag is too long.")
        self._in_sheet = self._in_sheet or b"sheetData" in block
        for kind, letters, digits, empty in _TAG.findall(block):
            before = self._row
            if kind == b"row":
                self._row, self._column = int(digits) if digits else before + 1, 0
            else:
                self._row = int(digits) if digits else before
                self._column = _column_number(letters) if letters else self._column + 1
                if not empty:
                    self._last, self._widest = max(self._last, self._row), max(self._widest, self._column)
            if self._in_sheet and self._row < before:
                raise InvalidInput(f"{self._shown} is a workbook that cannot be read: its rows are not in order.")
        if self._last * self._widest > MOST_CELLS:
            raise InvalidInput(
                f"{self._shown} has cells so far apart that its sheet has {self._last * self._widest:,} cells: delete "
                "the cells that are alone, or save the sheet as CSV."
            )


@lru_cache(maxsize=1 << 14)
def _column_number(name: bytes) -> int:
    """Return the number of a column from its letters.

    >>> _column_number(b"A"), _column_number(b"AB"), _column_number(b"XFD")
    (1, 28, 16384)
    """
    number = 0
    for letter in name:
        number = 26 * number + letter - ord("A") + 1
    return number
