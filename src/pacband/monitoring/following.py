"""Follow a log file by its name while it grows, is renamed and replaced by a new file, or is truncated.

If the file is renamed and a new file takes its name, the old one is read to its end, and then the new one from its
start. So no row is lost, and no row counts twice. A new file is opened as soon as it is seen, so that it may be renamed
before it is read. (A file that has the name for less than a quarter of a second may be missed.) If the file is copied
and then truncated, the last rows may be in the copy only. Then reading ends with an error.
"""

from __future__ import annotations

import os
import stat
from types import TracebackType
from typing import BinaryIO, Self

from pacband.exceptions import InvalidInput

__all__ = ["FollowedFile"]


class FollowedFile:
    """The file at a path, and the files that took its name later.

    Attributes
    ----------
    source : binary file
        The file that is being read.
    regular : bool
        Whether it is a file on a disk, which may grow, and no pipe.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.source: BinaryIO = open(path, "rb")  # noqa: SIM115 (closed by __exit__ and by advance)
        self._next: list[BinaryIO] = []
        self.regular = stat.S_ISREG(os.fstat(self.source.fileno()).st_mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in (self.source, *self._next):
            file.close()

    def look(self) -> None:
        """Open the file that has the name now, if it is not the last one."""
        last = (self.source, *self._next)[-1]
        try:
            if self.regular and not os.path.samestat(os.stat(self.path), os.fstat(last.fileno())):
                self._next.append(open(self.path, "rb"))  # noqa: SIM115 (closed by __exit__ and by advance)
        except FileNotFoundError:
            # The file was renamed, and the new file does not exist yet.
            return

    def replaced(self) -> bool:
        """Return whether a new file has taken the name and has content, so that nobody writes to the old one."""
        self.look()
        return len(self._next) > 1 or any(os.fstat(file.fileno()).st_size > 0 for file in self._next)

    def advance(self) -> BinaryIO:
        """Close the current file, and return the next one."""
        self.source.close()
        self.source = self._next.pop(0)
        return self.source

    def check_uncut(self, n_bytes: int, last: bytes) -> None:
        """Raise if the file no longer has all bytes that were read. `n_bytes` were read, and `last` are the last."""
        size = os.fstat(self.source.fileno()).st_size
        if not self.regular or (size >= n_bytes and self._ends_with(n_bytes, last)):
            return
        raise InvalidInput(
            f"{self.path} was cut or rewritten after {n_bytes} bytes of it were read, and has {size} now: rows that "
            "were not read may be lost. If there is a copy of the old file, run `pacband monitor` on the copy first: "
            "it resumes after the rows that were counted. Then run it on the file again."
        )

    def _ends_with(self, n_bytes: int, last: bytes) -> bool:
        if not hasattr(os, "pread"):
            return True
        return os.pread(self.source.fileno(), len(last), n_bytes - len(last)) == last
