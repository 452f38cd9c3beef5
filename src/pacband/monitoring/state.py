"""The state file of a monitor: written atomically, for one certificate, by one process at a time."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pacband.certificate import AnyCertificate
from pacband.certification.fitted import FittedModel
from pacband.core.atomic_files import check_directory, replace_file
from pacband.core.documents import document_bytes, read_document
from pacband.exceptions import CertificateError, InvalidInput

if TYPE_CHECKING:
    from pacband.monitoring.monitor import Monitor

    M = TypeVar("M", bound=Monitor)

__all__ = ["StateFile"]

SCHEMA = "pacband/monitor"
SCHEMA_VERSION = 1
# What the system says if another process holds the lock.
_LOCKED = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class StateFile:
    """The state file of a monitor, which is locked inside the ``with`` block. Reading needs no lock.

    The operating system keeps the lock, on a second file ``<name>.lock``. It removes the lock when the process ends,
    even after a crash. If the path is a link, the lock file is in the folder of the real file. The lock file is empty,
    and it is removed at the end of the block; a crash leaves it, which does no harm. Do not delete it while a monitor
    runs, because this removes the lock. A damaged state file, or one of another certificate, is not changed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: int | None = None

    def __enter__(self) -> Self:
        check_directory(self.path)
        # Two links to the same state file have the same lock.
        self._lock_file = Path(os.path.realpath(self.path) + ".lock")
        while self._lock is None:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(descriptor)
            except OSError as error:
                os.close(descriptor)
                if error.errno not in _LOCKED:
                    raise CertificateError(
                        f"{self.path} cannot be locked: {error.strerror}. Use a state file on a local disk."
                    ) from None
                raise CertificateError(
                    f"{self.path} is in use: another process holds its lock, {self._lock_file.name}. One monitor at a "
                    "time may write a state; wait for it, or use another state file for this monitor and merge both "
                    "later."
                ) from None
            if _is_at(descriptor, self._lock_file):
                self._lock = descriptor
            else:
                # Another process removed the file after it was opened here: a lock on it excludes nobody.
                os.close(descriptor)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._lock is not None:
            # A file with content, or another file at this place, belongs to somebody else.
            own = os.fstat(self._lock).st_size == 0 and _is_at(self._lock, self._lock_file)
            if sys.platform == "win32":
                # An open file cannot be removed there: this fails if another process has opened it meanwhile.
                os.close(self._lock)
                _remove(self._lock_file, own)
            else:
                # Removed while it is locked: whoever has opened it meanwhile notices that it is gone.
                _remove(self._lock_file, own)
                os.close(self._lock)
            self._lock = None

    def exists(self) -> bool:
        """Return whether the state file exists."""
        return self.path.exists()

    def read(self, certificate: AnyCertificate | FittedModel, *, kind: type[M]) -> M:
        """Return the monitor with this state, or raise `CertificateError` with the reason."""
        while True:
            fingerprint = self._fingerprint() if self.exists() else ""
            content = read_document(self.path, SCHEMA, SCHEMA_VERSION)
            if fingerprint == self._fingerprint():  # no other process has replaced the file meanwhile
                break
        try:
            monitor = kind.from_dict(content, certificate)
        except (CertificateError, InvalidInput) as error:
            raise CertificateError(f"{self.path}: {error}") from None
        monitor.note_saved(self._key, fingerprint)
        monitor.watches.unchecked.clear()
        return monitor

    def write(self, monitor: Monitor) -> None:
        """Save the state of a monitor. Raise if the file contains a state that the monitor has not read or written."""
        with monitor.lock:
            if self.exists() and monitor.saved.get(self._key) != self._fingerprint():
                raise CertificateError(
                    f"{self.path} holds another state than this monitor last read or wrote there: it is left as it "
                    "was. Load it and continue with the loaded monitor, or save to another path."
                )
            content = monitor.to_dict()
            # Checking many groups against the schema is slow, so groups that have not changed are not checked again.
            watches = [watch for watch in content["watches"] if watch["label"] in monitor.watches.unchecked]
            unchecked = {**content, "watches": watches or content["watches"][:1]}
            data = document_bytes(SCHEMA, SCHEMA_VERSION, content, unchecked=unchecked)
            replace_file(self.path, data)
            monitor.watches.unchecked.clear()
            monitor.note_saved(self._key, sha256(data).hexdigest())

    @property
    def _key(self) -> str:
        return os.path.realpath(self.path)

    def _fingerprint(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest()


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _remove(path: Path, own: bool) -> None:
    """Remove a lock file, if it is our own and the system allows it."""
    if own:
        with suppress(OSError):
            path.unlink()


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise OSError if another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        locking: Any = msvcrt.locking
        locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
