"""Atomic files: after a crash, a file is either the old one or the new one, never a part of it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pacband.exceptions import CertificateError

__all__ = ["check_directory", "draft_file", "replace_file"]


def replace_file(target: Path, data: bytes) -> None:
    """Write the data to a file, atomically and durably."""
    with draft_file(target) as draft:
        draft.write_bytes(data)


def check_directory(target: Path) -> None:
    """Raise unless the directory of a file exists."""
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no directory {folder}", str(target))


@contextmanager
def draft_file(target: Path) -> Iterator[Path]:
    """Yield the path of an empty draft file. If the ``with`` block ends without an error, the draft becomes `target`.

    Write to the existing draft; do not replace it. Renaming the draft is atomic and durable. An existing target keeps
    its permissions, and its owner if this process may set it; nobody else can read the draft. A new file gets the mode
    of the umask. If the block raises, the draft is deleted and the target stays as it was.
    """
    # If the target is a link, the file behind the link is replaced and the link stays.
    final = Path(os.path.realpath(target))
    if final.exists() and not final.is_file():
        raise CertificateError(f"{target} is not a regular file: nothing can be saved there.")
    check_directory(target)
    draft = final.with_name(f".{final.name}.{secrets.token_hex(8)}.tmp")
    try:
        before = final.stat() if final.exists() else None
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600))
        yield draft
        with open(draft, "rb+") as file:
            if before is not None:
                _copy_permissions(file.fileno(), before)
            os.fsync(file.fileno())
        os.replace(draft, final)
    except BaseException as error:
        # On a disk that has become read-only, this fails as well. The first error is raised.
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and str(error.filename or draft) == str(draft):
            # The user knows the target and not the draft. The error of a full disk names no file at all.
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise
    _sync_directory(final.parent)


def _copy_permissions(descriptor: int, before: os.stat_result) -> None:
    """Give an open file the permissions of the file that it replaces, and its owner if this process may set it."""
    if os.name == "posix":
        here = os.fstat(descriptor)
        if (here.st_uid, here.st_gid) != (before.st_uid, before.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _sync_directory(directory: Path) -> None:
    """Make the new name durable, if the system can synchronize a directory."""
    if os.name == "posix":
        # The file has its new name already. Some mounts synchronize no directories, and that is no failure to save.
        with suppress(OSError):
            descriptor = os.open(directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
