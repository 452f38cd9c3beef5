"""How the texts in files are written: delimiter, decimal mark, thousands, encoding, and the sheet of a workbook."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from pacband.core.number_formats import check_marks
from pacband.exceptions import InvalidInput

__all__ = ["FIND", "Dialect", "delimiter_name"]


@dataclass(frozen=True)
class Dialect:
    r"""How the user says that files are written. What is None is found in the files, where that is safe.

    Attributes
    ----------
    delimiter : str, optional
        The character between two cells of a row.
    decimal, thousands : str, optional
        The decimal mark, and the mark between groups of three digits.
    encoding : str, optional
        The encoding of the text, by any name that Python knows, such as cp1252.
    sheet : str, optional
        The sheet of an Excel workbook.

    Examples
    --------
    >>> Dialect.create(delimiter="tab", encoding="Latin-1")
    Dialect(delimiter='\t', decimal=None, thousands=None, encoding='iso8859-1', sheet=None)
    """

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    @classmethod
    def create(
        cls,
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
    ) -> Dialect:
        """Return a dialect, or raise if there is none with these marks and this encoding."""
        if delimiter in ("tab", "\\t"):
            delimiter = "\t"
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or delimiter.isalnum()):
            raise InvalidInput(f"the delimiter must be one character, such as ; or tab, got {delimiter!r}.")
        check_marks(decimal, thousands)
        if encoding is not None:
            try:
                encoding = codecs.lookup(encoding).name
                "1".encode(encoding).decode(encoding)
            except (LookupError, ValueError):
                raise InvalidInput(
                    f"the encoding must be one that Python knows, such as cp1252, latin-1 or utf-16, got {encoding!r}."
                ) from None
        return cls(delimiter, decimal, thousands, encoding, sheet)


# Find everything.
FIND = Dialect()


def delimiter_name(delimiter: str) -> str:
    """Return a delimiter as a message shows it."""
    return "tab" if delimiter == "\t" else repr(delimiter)
