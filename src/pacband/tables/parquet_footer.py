"""The footer of a Parquet file, as far as its columns: files whose footers begin alike have the same columns.

The footer is a struct in Thrift's compact protocol. Its first field is a version, its second field lists the columns,
and the rest differs from file to file.
"""

from __future__ import annotations

import os

from pacband.exceptions import InvalidInput

__all__ = ["columns_end", "read_footer"]


def read_footer(path: str, shown: str) -> bytes:
    """Return the footer of a file, or raise if it has none."""
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(size - 8, 0))
        end = stream.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or length > size - 12:
            raise InvalidInput(f"{shown} is a damaged Parquet file: it has no footer.")
        stream.seek(size - 8 - length)
        return stream.read(length)


def columns_end(footer: bytes) -> int:
    """Return where the list of columns ends, or raise IndexError or RecursionError if the footer is damaged."""
    at = number = 0
    while number < 2:
        head = footer[at]
        if not head >> 4:
            raise IndexError("a footer lists its fields by small steps")
        number += head >> 4
        at = _after(footer, at + 1, head & 15)
    return at


def _after(data: bytes, at: int, kind: int) -> int:
    """Return where a value of Thrift's compact protocol ends."""
    if kind in (1, 2):
        return at
    if kind == 3:
        return at + 1
    if kind in (4, 5, 6):
        return _varint(data, at)[1]
    if kind == 7:
        return at + 8
    if kind == 8:
        size, at = _varint(data, at)
        return at + size
    if kind in (9, 10):
        size, item = data[at] >> 4, data[at] & 15
        at += 1
        if size == 15:
            size, at = _varint(data, at)
        if size > len(data):
            raise IndexError("a list is longer than its file")
        for _ in range(size):
            at = at + 1 if item in (1, 2) else _after(data, at, item)
        return at
    if kind == 12:
        while data[at]:
            head = data[at]
            at = at + 1 if head >> 4 else _varint(data, at + 1)[1]
            at = _after(data, at, head & 15)
        return at + 1
    raise IndexError(f"a schema has no values of kind {kind}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of variable length, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at
