"""A monitor's state in a file: whole or not there, of one certificate, and in one process at a time."""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.core.atomic_files import check_directory, replace_file
from pacband.core.documents import document_bytes, read_document
from pacband.exceptions import CertificateError, InvalidInput

if TYPE_CHECKING:
    from pacband.monitoring.monitor import Monitor

    M = TypeVar("M", bound=Monitor)

__all__ = ["StateFile"]

SCHEMA = "pacband/monitor"
SCHEMA_VERSION = 1


class StateFile:
    """The state file of a monitor, locked for as long as the ``with`` block lasts.

    The lock is one of the operating system on a file beside it, ``<name>.lock``: it goes with its process, however
    that ends, so that none is ever left behind. Behind a link the lock stands beside the file itself. (The empty file
    stays; to remove it while a monitor runs would be to remove the lock.) A damaged file, or one of another
    certificate, is left as it was.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: int | None = None

    def __enter__(self) -> Self:
        check_directory(self.path)
        # Two links to one state have one lock.
        beside = Path(os.path.realpath(self.path) + ".lock")
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            raise CertificateError(
                f"{self.path} is in use: another process holds its lock, {beside.name}. One monitor at a time may "
                "write a state; wait for it, or give this one a state of its own and merge them."
            ) from None
        self._lock = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def exists(self) -> bool:
        """Return whether there is a state yet."""
        return self.path.exists()

    def read(self, certificate: Certificate | FamilyCertificate | GroupCertificate, *, kind: type[M]) -> M:
        """Return the monitor whose state this is, or raise `CertificateError` saying what is wrong."""
        content = read_document(self.path, SCHEMA, SCHEMA_VERSION)
        try:
            monitor = kind.from_dict(content, certificate)
        except (CertificateError, InvalidInput) as error:
            raise CertificateError(f"{self.path}: {error}") from None
        monitor.note_saved(self._key, self._fingerprint())
        monitor.unchecked.clear()
        return monitor

    def write(self, monitor: Monitor) -> None:
        """Save the state of a monitor, unless the file holds one that it did not come from."""
        with monitor.lock:
            if self.exists() and monitor.saved.get(self._key) != self._fingerprint():
                raise CertificateError(
                    f"{self.path} holds another state than this monitor last read or wrote there: it is left as it "
                    "was. Load it and go on from there, or save to another path."
                )
            content = monitor.to_dict()
            # A schema takes a while for many groups, so that those which it has checked before are left out.
            watches = [watch for watch in content["watches"] if watch["label"] in monitor.unchecked]
            unchecked = {**content, "watches": watches or content["watches"][:1]}
            data = document_bytes(SCHEMA, SCHEMA_VERSION, content, unchecked=unchecked)
            replace_file(self.path, data)
            monitor.unchecked.clear()
            monitor.note_saved(self._key, sha256(data).hexdigest())

    @property
    def _key(self) -> str:
        return os.path.realpath(self.path)

    def _fingerprint(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest()


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise OSError where another has."""
    if sys.platform == "win32":
        import msvcrt

        locking: Any = msvcrt.locking
        locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
