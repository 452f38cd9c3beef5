"""Files that engines cannot read as they are: texts in other encodings, and Excel workbooks. They are copied as CSV."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pacband.tables.dialects import Dialect
from pacband.tables.encodings import find_encoding, has_quote_after_mark, is_utf8, write_utf8
from pacband.tables.paths import Found, copied_file
from pacband.tables.workbooks import is_workbook, write_sheet

__all__ = ["PlainCopy", "plain_copy"]


@dataclass(frozen=True)
class PlainCopy:
    """A CSV file in UTF-8, and what was found out about the file that it was made from."""

    file: Found
    notes: tuple[str, ...] = ()


def plain_copy(file: Found, folder: str, number: int, dialect: Dialect) -> PlainCopy:
    """Return a file as CSV in UTF-8: the file itself, or a copy in our own folder. Raise if it changes meanwhile."""
    copy = os.path.join(folder, f"plain-{number}.csv")
    if is_workbook(file.path):
        sheet = write_sheet(file.path, copy, shown=file.shown, sheet=dialect.sheet)
        notes = [] if dialect.sheet is not None else [f"sheet {sheet!r}"]
    else:
        encoding = dialect.encoding or find_encoding(file.path, file.shown)
        plain = is_utf8(encoding)
        if plain and not has_quote_after_mark(file.path):
            return PlainCopy(file)
        write_utf8(file.path, copy, encoding="utf-8-sig" if plain else encoding, shown=file.shown)
        notes = [] if plain or dialect.encoding is not None else [f"encoding {encoding}"]
    file.refuse_change()
    return PlainCopy(copied_file(copy, file.shown), tuple(notes))
