"""The archive of a model file: what is in it, and whether it is whole and untouched.

::

    manifest.json       what the other files are, their SHA-256 and their sizes, as a document with a digest of its own
    certificate.json    what `Certificate.save` writes; `certificate-2.json`, … for a family with groups
    model.json          the objects of the model
    model.arrays        their arrays, compressed by zlib where that is worth it
    trusted-1.skops     … objects that were saved with the user's word, if any

The archive itself is a zip of files as they are, and is written in one way only: any changed byte is seen. No size is
believed that the manifest does not state, and none is read beyond it.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate, revive
from pacband.certificate.portable import SCHEMA as CERTIFICATE_SCHEMA
from pacband.certificate.portable import SCHEMA_VERSION as CERTIFICATE_VERSION
from pacband.core.atomic_files import replace_file
from pacband.core.documents import document_bytes, parse_document
from pacband.exceptions import CertificateError, InvalidInput

__all__ = ["MAX_BYTES", "Archive", "is_archive", "read_archive", "write_archive"]

SCHEMA = "pacband/model"
SCHEMA_VERSION = 2
# What a model may take in memory by default, as it says of itself, all arrays together.
MAX_BYTES = 1 << 30
_MANIFEST, _MODEL, _ARRAYS, _BEFORE = "manifest.json", "model.json", "model.arrays", "model.skops"
_START, _END = b"PK\x03\x04", b"PK\x05\x06"
# Compressed arrays are at most so many times larger than they lie in the file, but for a little.
_MOST_TIMES, _A_LITTLE = 40, 1 << 16
# A value of JSON takes so many times the room of its text.
_JSON_TIMES = 16
_NOTICE = (
    "This file holds objects that pacband cannot check. Loading them may run code of the packages that the types "
    "belong to: load it only if you trust these packages and whoever gave you the file."
)


@dataclass(frozen=True, eq=False)
class Archive:
    """What a model file holds, whole and untouched."""

    kind: str
    candidates: tuple[str, ...]
    versions: dict[str, str]
    columns: dict[str, str]
    trusted: tuple[str, ...]
    certificates: tuple[Certificate | FamilyCertificate | GroupCertificate, ...]
    model: bytes
    arrays: bytes
    objects: tuple[bytes, ...] = ()


def is_archive(data: bytes) -> bool:
    """Whether these are the bytes of a model file, or the beginning of one, rather than of a certificate."""
    return data.startswith(_START)


def write_archive(path: str | os.PathLike[str], archive: Archive) -> Path:
    """Write a model file, atomically; return the path."""
    packed = zlib.compress(archive.arrays, 5)
    compressed = len(archive.arrays) <= _most(len(packed)) and len(packed) < len(archive.arrays)
    files = {
        _certificate_name(k): document_bytes(CERTIFICATE_SCHEMA, CERTIFICATE_VERSION, certificate.to_dict())
        for k, certificate in enumerate(archive.certificates)
    }
    files |= {_MODEL: archive.model, _ARRAYS: packed if compressed else archive.arrays}
    files |= {_object_name(k): data for k, data in enumerate(archive.objects)}
    content: dict[str, Any] = {
        "kind": archive.kind,
        "trusted": list(archive.trusted),
        "notice": _NOTICE if archive.trusted else "",
        "candidates": list(archive.candidates),
        "versions": archive.versions,
        "columns": archive.columns,
        "files": {name: {"bytes": len(entry), "sha256": sha256(entry).hexdigest()} for name, entry in files.items()},
        "arrays": {"bytes": len(archive.arrays), "compressed": compressed},
    }
    target = Path(path)
    replace_file(target, _zipped({_MANIFEST: document_bytes(SCHEMA, SCHEMA_VERSION, content), **files}))
    return target


def read_archive(data: bytes, source: str, *, max_bytes: int = MAX_BYTES, certificates_only: bool = False) -> Archive:
    """Return what a model file holds, or raise `CertificateError` saying what is wrong with the file.

    With `certificates_only` nothing is unpacked, and the arrays are left out.
    """
    content, files = _entries(data, source)
    found = {name: {"bytes": len(entry), "sha256": sha256(entry).hexdigest()} for name, entry in files.items()}
    if found != content["files"] or list(found) != list(content["files"]):
        raise CertificateError(f"{source} was edited: its files are not those of its manifest.")
    candidates = tuple(content["candidates"])
    names = [_certificate_name(k) for k in range(max(1, len(candidates)))]
    objects = sorted((name for name in files if name.endswith(".skops")), key=lambda name: (len(name), name))
    if set(files) != {_MODEL, _ARRAYS, *names, *objects} or objects != [_object_name(k) for k in range(len(objects))]:
        raise CertificateError(
            f"{source} was edited: it must hold {', '.join(names)}, {_MODEL} and {_ARRAYS}, got {len(files)} files."
        )
    if not all(re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name, re.ASCII) for name in content["trusted"]):
        raise CertificateError(f"{source} was edited: it holds types whose names are none.")
    if not certificates_only:
        _check_size(content["arrays"]["bytes"], files, max_bytes, source)
    return Archive(
        kind=content["kind"],
        candidates=candidates,
        versions=content["versions"],
        columns=content["columns"],
        trusted=tuple(content["trusted"]),
        certificates=tuple(revive(files[name], f"{source} ({name})") for name in names),
        model=files[_MODEL],
        arrays=b"" if certificates_only else _unpacked(files[_ARRAYS], content["arrays"], source),
        objects=tuple(files[name] for name in objects),
    )


def _check_size(n_bytes: int, files: Mapping[str, bytes], max_bytes: int, source: str) -> None:
    """Raise where the model would be larger than the user allows, going by what it says of itself."""
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
        raise InvalidInput(f"max_bytes must be a positive number of bytes, got {max_bytes!r}.")
    needed = n_bytes + _JSON_TIMES * len(files[_MODEL])
    needed += sum(len(entry) for name, entry in files.items() if name.endswith(".skops"))
    if needed > max_bytes:
        raise CertificateError(
            f"{source} would take about {needed} bytes of memory, more than {max_bytes}. If you trust the file, load "
            f"it with max_bytes={needed}."
        )


def _unpacked(data: bytes, stated: Mapping[str, Any], source: str) -> bytes:
    n_bytes: int = stated["bytes"]
    if not stated["compressed"]:
        if len(data) != n_bytes:
            raise CertificateError(f"{source} was edited: its arrays are not of the size it states.")
        return data
    if n_bytes > _most(len(data)):
        raise CertificateError(f"{source} was edited: its arrays would unpack to {n_bytes} bytes, from {len(data)}.")
    stream = zlib.decompressobj()
    try:
        block = stream.decompress(data, n_bytes + 1)
    except zlib.error:
        raise CertificateError(f"{source} was edited: its arrays cannot be unpacked.") from None
    if len(block) != n_bytes or not stream.eof or stream.unused_data:
        raise CertificateError(f"{source} was edited: its arrays are not of the size it states.")
    return block


def _most(n_packed: int) -> int:
    return _A_LITTLE + _MOST_TIMES * n_packed


def _certificate_name(k: int) -> str:
    return f"certificate-{k + 1}.json" if k else "certificate.json"


def _object_name(k: int) -> str:
    return f"trusted-{k + 1}.skops"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, entry in files.items():
            # No date: the one that counts is in the certificate. The same bytes on every system.
            information = ZipInfo(name)
            information.create_system, information.external_attr = 3, 0o644 << 16
            archive.writestr(information, entry)
    return buffer.getvalue()


def _entries(data: bytes, source: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other files, none of them read before all have been found in order."""
    if data[-22:-18] != _END:
        # The directory comes last, and ours has no comment.
        raise CertificateError(f"{source} is truncated or damaged: it does not end as a model file does.")
    try:
        with ZipFile(BytesIO(data)) as archive:
            _check_entries(archive.infolist(), len(data), source)
            content = parse_document(archive.read(_MANIFEST), f"{source} ({_MANIFEST})", SCHEMA, SCHEMA_VERSION)
            files = {name: archive.read(name) for name in archive.namelist() if name != _MANIFEST}
            manifest = archive.read(_MANIFEST)
    except CertificateError:
        raise
    except (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise CertificateError(f"{source} is damaged: {str(error).rstrip('.')}.") from None
    if _zipped({_MANIFEST: manifest, **files}) != data:
        raise CertificateError(f"{source} was edited or damaged: it is not, byte for byte, what pacband wrote.")
    return content, files


def _check_entries(entries: Sequence[ZipInfo], n_bytes: int, source: str) -> None:
    """Raise unless the files can be read at no more than their own size: stored as they are, each in its own place."""
    names = {entry.filename for entry in entries}
    if _MANIFEST not in names:
        raise CertificateError(f"{source} is not a {SCHEMA} file: it is an archive without a {_MANIFEST}.")
    if len(names) != len(entries):
        raise CertificateError(f"{source} was edited: it holds a file twice.")
    if any(entry.compress_type != ZIP_STORED for entry in entries):
        raise CertificateError(f"{source} was edited: its files are compressed.")
    if sum(entry.file_size for entry in entries) > n_bytes:
        raise CertificateError(f"{source} was edited or damaged: its files would be larger than itself.")
    if _BEFORE in names:
        raise CertificateError(
            f"{source} was written by a pacband whose model files were not yet checked by declaration, and is not read "
            "any more: save the model again."
        )
