"""A file that is followed by its name: it grows, is renamed and replaced by a new one, or is cut.

Log files are rotated. If the file is renamed and a new one takes its name, the old one is read to its end and then the
new one from its start: no row is lost, and none counts twice. A new file is opened as soon as it is seen, so that it
may be renamed in turn before it is read. (A file that comes and goes between two looks, a quarter of a second apart, is
not seen.) If the file is copied and then cut, rows written just before may be in the copy only: reading ends with an
error.
"""

from __future__ import annotations

import os
import stat
from types import TracebackType
from typing import BinaryIO, Self

from pacband.exceptions import InvalidInput

__all__ = ["FollowedFile"]


class FollowedFile:
    """The file behind a path, and those that took its name since.

    Attributes
    ----------
    source : binary file
        What is being read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.source: BinaryIO = open(path, "rb")  # noqa: SIM115 (closed by __exit__ and by advance)
        self._next: list[BinaryIO] = []
        self._regular = stat.S_ISREG(os.fstat(self.source.fileno()).st_mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in (self.source, *self._next):
            file.close()

    def look(self) -> None:
        """Open the file that has the name now, if it is another one than the last."""
        last = (self.source, *self._next)[-1]
        try:
            if self._regular and not os.path.samestat(os.stat(self.path), os.fstat(last.fileno())):
                self._next.append(open(self.path, "rb"))  # noqa: SIM115 (closed by __exit__ and by advance)
        except FileNotFoundError:
            # Renamed, and the new one is yet to come.
            return

    def replaced(self) -> bool:
        """Return whether a new file has taken the name and has content: whoever writes has left the old one."""
        self.look()
        return len(self._next) > 1 or any(os.fstat(file.fileno()).st_size > 0 for file in self._next)

    def advance(self) -> BinaryIO:
        """Go on with the next file, and return it."""
        self.source.close()
        self.source = self._next.pop(0)
        return self.source

    def check_uncut(self, n_bytes: int, last: bytes) -> None:
        """Raise where the file has lost some of the bytes that were read, of which these were the last."""
        size = os.fstat(self.source.fileno()).st_size
        if not self._regular or (size >= n_bytes and self._ends_with(n_bytes, last)):
            return
        raise InvalidInput(
            f"{self.path} was cut or rewritten after {n_bytes} bytes of it were read, and has {size} now: rows that "
            "were not read may be lost. If there is a copy of what it was, run `pacband monitor` on the copy first, "
            "which goes on after the rows that were counted, and then on the file again."
        )

    def _ends_with(self, n_bytes: int, last: bytes) -> bool:
        if not hasattr(os, "pread"):
            return True
        return os.pread(self.source.fileno(), len(last), n_bytes - len(last)) == last
