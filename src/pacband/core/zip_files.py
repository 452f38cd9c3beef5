"""Recognise a ZIP archive by its first bytes. Model files and Excel workbooks are ZIP archives."""

from __future__ import annotations

import os

__all__ = ["ZIP_START", "begins_as_zip", "is_zip"]

ZIP_START = b"PK\x03\x04"


def is_zip(data: bytes) -> bool:
    """Return whether these are the bytes of a ZIP archive, or its first bytes."""
    return data.startswith(ZIP_START)


def begins_as_zip(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a ZIP archive."""
    with open(path, "rb") as file:
        return is_zip(file.read(len(ZIP_START)))
