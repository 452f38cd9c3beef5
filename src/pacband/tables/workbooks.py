"""Excel workbooks (.xlsx): one sheet, written as CSV in UTF-8.

A workbook is a ZIP archive of XML. A small archive may unpack to any size, so the size is measured before it is read.
Cells keep their values: numbers to the last bit, dates in ISO format, texts as they are.
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from typing import Any

from pacband.core.extras import require
from pacband.core.labels import listed
from pacband.core.zip_files import begins_as_zip
from pacband.exceptions import InvalidInput

__all__ = ["LARGEST", "is_workbook", "write_sheet"]

# The most bytes that a workbook may unpack to. A sheet of Excel has at most 1,048,576 rows, and is read into memory.
LARGEST = 1 << 30
_BLOCK = 1 << 20


def is_workbook(path: str) -> bool:
    """Return whether a file is an Excel workbook."""
    if not begins_as_zip(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("xl/workbook.") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
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
    """Raise if a workbook unpacks to too many bytes. The sizes that an archive states may be wrong, so it is read."""
    size = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                with archive.open(entry) as file:
                    while block := file.read(_BLOCK):
                        size += len(block)
                        if size > LARGEST:
                            raise InvalidInput(
                                f"{shown} unpacks to more than {LARGEST:,} bytes: save the sheet as CSV, and use that."
                            )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(f"{shown} is a workbook that cannot be read: {error}.") from None
