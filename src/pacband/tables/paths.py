"""The files behind names, patterns, directories and pipes: each file once, and unchanged to the end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any
from urllib.parse import unquote

from pacband.core.paths import files_named
from pacband.core.zip_files import begins_as_zip
from pacband.exceptions import InvalidInput
from pacband.tables.delimited import FIRST_LINE, is_parquet, read_layout
from pacband.tables.dialects import FIND, Dialect
from pacband.tables.encodings import find_encoding, is_utf8

__all__ = ["Found", "copied_file", "find_files", "is_stream"]

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Found:
    """A file to read.

    Attributes
    ----------
    path : str
        Its absolute path.
    shown : str
        Its name as the user wrote it.
    keys : tuple of (str, str)
        Columns made from the directories below the one that the user named: ("year", "2024") from ``year=2024``.
    above : tuple of str
        The keys of the other directories. They make no columns.
    stamp : tuple of int
        Its device, inode, size and time of writing when it was found.
    """

    path: str
    shown: str
    keys: tuple[tuple[str, str], ...]
    above: tuple[str, ...]
    stamp: tuple[int, int, int, int]

    def refuse_change(self) -> None:
        """Raise if the file changed since it was found."""
        try:
            now = _stamp(self.path)
        except OSError:
            now = (0, 0, 0, 0)
        if now == self.stamp:
            return
        if now[:2] == (0, 0):
            how = "it is gone"
        elif now[:2] != self.stamp[:2]:
            how = "another file has taken its name"
        elif now[2] != self.stamp[2]:
            how = f"it had {self.stamp[2]} bytes and has {now[2]} now"
        else:
            how = "it was written to"
        raise InvalidInput(f"{self.shown} changed while it was read: {how}. Copy it first, and use the copy.")


def find_files(given: Sequence[str], folder: str, dialect: Dialect = FIND) -> list[Found]:
    """Return the files behind the given names. Pipes and devices are copied to the folder first."""
    found: list[Found] = []
    known: dict[tuple[int, int], str] = {}
    for number, name in enumerate(given):
        stream = is_stream(name)
        # A stream is read once, and its copy is another file. Its source shows whether it is given twice.
        if stream and (source := _source(name)) is not None:
            _refuse_twice(known, source, "standard input" if name == "-" else name)
        for file in _find(name, os.path.join(folder, f"copy-{number}"), dialect):
            if not stream:
                _refuse_twice(known, file.stamp[:2], file.shown)
            found.append(file)
    return found


def is_stream(name: str) -> bool:
    """Return whether a name is standard input, a pipe or a device, which can be read only once."""
    return name == "-" or (os.path.exists(name) and not os.path.isdir(name) and not os.path.isfile(name))


def _source(name: str) -> tuple[int, int] | None:
    """Return the device and inode of a pipe, or of what standard input was redirected to; None where it has none."""
    try:
        at = os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)
    except (AttributeError, OSError, ValueError):
        return None
    return at.st_dev, at.st_ino


def _refuse_twice(known: dict[tuple[int, int], str], place: tuple[int, int], shown: str) -> None:
    if place in known:
        same = "is given twice" if known[place] == shown else f"is the same file as {known[place]}"
        raise InvalidInput(f"{shown} {same}: its rows would count twice.")
    known[place] = shown


def _find(name: str, copy: str, dialect: Dialect) -> Iterator[Found]:
    if name == "-":
        yield _copy_stream(sys.stdin.buffer, "standard input", copy, dialect)
    elif is_stream(name):
        with open(name, "rb") as stream:
            yield _copy_stream(stream, name, copy, dialect)
    elif files := files_named(name):
        yield from (_file(path, _root(name)) for path in files)
    elif os.path.isdir(name):
        raise InvalidInput(f"{name} is a directory without Parquet or CSV files. Name others by a pattern: '*.txt'.")
    else:
        raise InvalidInput(f"{name}: there is no such file.")


def _root(name: str) -> str | None:
    """Return the directory below which directories make columns; None for the name of a file."""
    if os.path.exists(name):
        return name if os.path.isdir(name) else None
    return os.path.dirname(re.split(r"[*?[]", name, maxsplit=1)[0]) or "."


def _file(name: str, root: str | None) -> Found:
    if not os.path.isfile(name):
        raise InvalidInput(f"{name} is not a file.")
    path = _absolute(name)
    folders = os.path.dirname(path).split(os.sep)
    depth = len(folders) if root is None else len(_absolute(root).rstrip(os.sep).split(os.sep))
    above, below = (
        tuple((key, unquote(value)) for key, is_key, value in (part.partition("=") for part in parts) if is_key)
        for parts in (folders[:depth], folders[depth:])
    )
    return Found(path, name, below, tuple(key for key, _ in above), _stamp(path))


def _absolute(name: str) -> str:
    """Return an absolute path of the same file. The directory above a link may differ from what its name suggests."""
    parts = name.split(os.sep)
    after = max((place + 1 for place, part in enumerate(parts) if part == os.pardir), default=0)
    above = os.path.realpath(os.sep.join(parts[:after])) if after else ""
    return os.path.abspath(os.path.join(above, *parts[after:]) if after else name)


def _copy_stream(stream: BufferedIOBase | Any, shown: str, copy: str, dialect: Dialect) -> Found:
    """Copy a pipe or a device to a file. Raise at once if its first line is not a header or has no end."""
    with open(copy, "wb") as file:
        try:
            size = 0
            # Take what is there: a full block of a slow pipe may take very long.
            while block := stream.read1(_BLOCK):
                file.write(block)
                looked = size >= FIRST_LINE
                size += len(block)
                if not looked and (size >= FIRST_LINE or b"\n" in block):
                    file.flush()
                    _refuse_start(copy, shown, dialect)
                    size = max(size, FIRST_LINE)
        except OSError as error:
            error.filename = error.filename or shown
            raise
    return copied_file(copy, shown)


def copied_file(copy: str, shown: str) -> Found:
    """Return the copy of what the user calls `shown`. It is in our own folder, and makes no columns."""
    return Found(copy, shown, (), (), _stamp(copy))


def _refuse_start(copy: str, shown: str, dialect: Dialect) -> None:
    """Raise if a text starts with what is no header. Texts in other encodings are looked at when they are complete."""
    if is_parquet(copy, shown) or begins_as_zip(copy):
        return
    if is_utf8(dialect.encoding or find_encoding(copy, shown)):
        read_layout(copy, shown, dialect)


def _stamp(path: str) -> tuple[int, int, int, int]:
    at = os.stat(path)
    return at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns
