"""The encoding of a text file: found where that is safe, and converted to UTF-8, which is what engines read."""

from __future__ import annotations

import codecs
import gzip
import unicodedata
import zlib
from typing import Any, BinaryIO

from pacband.exceptions import InvalidInput

__all__ = ["find_encoding", "has_quote_after_mark", "is_utf8", "open_packed", "sample_pieces", "write_utf8"]

# Pieces of a file that are looked at, and their size in bytes.
_PIECES, _PIECE = 16, 1 << 14
_BLOCK = 1 << 20
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def open_packed(path: str) -> BinaryIO:
    """Open a file for reading, unpacked if its name ends in .gz."""
    opener: Any = gzip.open if path.lower().endswith(".gz") else open
    file: BinaryIO = opener(path, "rb")
    return file


def sample_pieces(path: str) -> list[bytes]:
    """Return pieces of a text from all over the file, each of whole lines; of a packed file, its first piece."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
    try:
        with open_packed(path) as file:
            if path.lower().endswith(".gz") or size <= _PIECES * _PIECE:
                piece = file.read(_PIECES * _PIECE)
                whole = not file.read(1)
                return [piece if whole else piece[: piece.rfind(b"\n") + 1]]
            pieces = []
            for number in range(_PIECES):
                # The last piece is the end of the file.
                file.seek(number * (size - _PIECE) // (_PIECES - 1))
                piece = file.read(_PIECE)
                start = piece.find(b"\n") + 1 if number else 0
                end = len(piece) if number == _PIECES - 1 else piece.rfind(b"\n") + 1
                pieces.append(piece[start:end])
            return pieces
    except (OSError, EOFError, zlib.error):
        # Whoever reads the file raises the error.
        return [b""]


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding, as `codecs.lookup` names it, is UTF-8 or a part of it."""
    return encoding in ("utf-8", "utf-8-sig", "ascii")


def has_quote_after_mark(path: str) -> bool:
    """Return whether a file starts with a byte order mark and a quote. DuckDB may then lose the first row.

    It does so if the first name contains the delimiter: the quote is not at the start of the file.
    """
    try:
        with open_packed(path) as file:
            return file.read(4) == codecs.BOM_UTF8 + b'"'
    except (OSError, EOFError, zlib.error):
        # Whoever reads the file raises the error.
        return False


def find_encoding(path: str, shown: str) -> str:
    """Return the encoding of a text file, or raise if it cannot be known.

    A byte order mark proves an encoding. Bytes that are no UTF-8 are cp1252, the encoding of Western Windows, if all of
    them are letters and signs there that people write.
    """
    pieces = sample_pieces(path)
    for mark, encoding in _MARKS.items():
        if pieces[0].startswith(mark):
            return encoding
    text = b"".join(pieces)
    # At the end of a file that grows, a part of a character may be there alone.
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    try:
        strange = {sign for sign in text.decode("cp1252") if ord(sign) > 127}
    except UnicodeDecodeError:
        strange = {"\0"}
    # A file in which some characters are UTF-8 is a damaged file in UTF-8.
    proves_utf8 = not text.decode("utf-8", "ignore").isascii()
    if b"\0" in text or proves_utf8 or not all(map(_is_written_by_people, strange)):
        raise InvalidInput(
            f"{shown} is neither Parquet nor text in UTF-8. If it is text, name its encoding, such as "
            "--encoding cp1252, latin-1 or utf-16."
        )
    return "cp1252"


def write_utf8(path: str, copy: str, *, encoding: str, shown: str) -> None:
    """Write a text file to another file in UTF-8, unpacked."""
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    try:
        with open_packed(path) as file, open(copy, "wb") as converted:
            while block := file.read(_BLOCK):
                converted.write(decoder.decode(block).encode("utf-8"))
                done += len(block)
            converted.write(decoder.decode(b"", final=True).encode("utf-8"))
    except UnicodeError as error:
        raise InvalidInput(
            f"{shown} is not text in {encoding}: see the bytes after {done:,}. Name its encoding with --encoding. "
            f"({getattr(error, 'reason', error)})"
        ) from None
    except (EOFError, zlib.error):
        raise InvalidInput(f"{shown} is neither Parquet nor text in {encoding}.") from None


def _is_written_by_people(sign: str) -> bool:
    """Return whether a character of cp1252 is a letter, a quote, a dash, or a sign of money, measure or number."""
    kinds = ("Ll", "Lu", "Lo", "No", "Pd", "Pi", "Pf", "Ps", "Sc")
    return unicodedata.category(sign) in kinds or sign in "°±·…§×\u00a0"
