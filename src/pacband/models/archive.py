"""The archive of a model file: its files, and the checks that it is complete and unchanged.

::

    manifest.json       the names, SHA-256 and sizes of the other files, as a document with its own digest
    certificate.json    what `Certificate.save` writes; also `certificate-2.json`, … for a family with groups
    model.json          the objects of the model
    model.arrays        their arrays, compressed by zlib if this makes them smaller
    trusted-1.skops     … objects of types that the user trusts, if any

The archive is a zip file without compression, and there is one way to write it: any changed byte is detected. Reading
uses the sizes in the manifest, and never reads or unpacks more than they state.
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

from pacband.certificate import AnyCertificate, revive
from pacband.certificate.portable import SCHEMA as CERTIFICATE_SCHEMA
from pacband.certificate.portable import SCHEMA_VERSION as CERTIFICATE_VERSION
from pacband.core.atomic_files import replace_file
from pacband.core.checks import check_positive_integer
from pacband.core.documents import document_bytes, parse_document
from pacband.exceptions import CertificateError

__all__ = ["MAX_BYTES", "Archive", "read_archive", "write_archive"]

SCHEMA = "pacband/model"
SCHEMA_VERSION = 2
# The default limit for the memory of a model, by the sizes that its file states.
MAX_BYTES = 1 << 30
_MANIFEST, _MODEL, _ARRAYS, _OLD_MODEL = "manifest.json", "model.json", "model.arrays", "model.skops"
_END = b"PK\x05\x06"
# Unpacked arrays are at most `_MOST_TIMES` as large as packed ones, plus `_ALLOWANCE` bytes.
_MOST_TIMES, _ALLOWANCE = 40, 1 << 16
# A JSON value takes this many times the memory of its text.
_JSON_TIMES = 16
_NOTICE = (
    "This file holds objects that pacband cannot check. Loading them may run code of the packages that the types "
    "belong to: load it only if you trust these packages and whoever gave you the file."
)


@dataclass(frozen=True, eq=False)
class Archive:
    """The content of a model file that is complete and unchanged."""

    kind: str
    candidates: tuple[str, ...]
    versions: dict[str, str]
    columns: dict[str, str]
    trusted: tuple[str, ...]
    certificates: tuple[AnyCertificate, ...]
    model: bytes
    arrays: bytes
    objects: tuple[bytes, ...] = ()
    target: tuple[str, ...] = ()


def write_archive(path: str | os.PathLike[str], archive: Archive) -> Path:
    """Write a model file atomically, and return the path."""
    packed = zlib.compress(archive.arrays, 5)
    compressed = len(archive.arrays) <= _most_unpacked(len(packed)) and len(packed) < len(archive.arrays)
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
        # A file without it is as it was before there was any.
        **({"target": list(archive.target)} if archive.target else {}),
        "files": {name: {"bytes": len(entry), "sha256": sha256(entry).hexdigest()} for name, entry in files.items()},
        "arrays": {"bytes": len(archive.arrays), "compressed": compressed},
    }
    target = Path(path)
    replace_file(target, _zip({_MANIFEST: document_bytes(SCHEMA, SCHEMA_VERSION, content), **files}))
    return target


def read_archive(data: bytes, source: str, *, max_bytes: int = MAX_BYTES, certificates_only: bool = False) -> Archive:
    """Return the content of a model file, or raise `CertificateError` with the reason.

    With `certificates_only` the arrays are not unpacked, and are left out.
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
            f"{source} was edited: it must contain {', '.join(names)}, {_MODEL} and {_ARRAYS}, got {len(files)} files."
        )
    if not all(re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name, re.ASCII) for name in content["trusted"]):
        raise CertificateError(f"{source} was edited: it contains invalid names of types.")
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
        arrays=b"" if certificates_only else _unpack(files[_ARRAYS], content["arrays"], source),
        objects=tuple(files[name] for name in objects),
        target=tuple(content.get("target", ())),
    )


def _check_size(n_bytes: int, files: Mapping[str, bytes], max_bytes: int, source: str) -> None:
    """Raise if the model would need more memory than the user allows, by the sizes that the file states."""
    check_positive_integer("max_bytes", max_bytes)
    needed = n_bytes + _JSON_TIMES * len(files[_MODEL])
    needed += sum(len(entry) for name, entry in files.items() if name.endswith(".skops"))
    if needed > max_bytes:
        raise CertificateError(
            f"{source} would take about {needed} bytes of memory, more than {max_bytes}. If you trust the file, load "
            f"it with max_bytes={needed}."
        )


def _unpack(data: bytes, stated: Mapping[str, Any], source: str) -> bytes:
    n_bytes: int = stated["bytes"]
    if not stated["compressed"]:
        if len(data) != n_bytes:
            raise CertificateError(f"{source} was edited: its arrays are not of the size it states.")
        return data
    if n_bytes > _most_unpacked(len(data)):
        raise CertificateError(f"{source} was edited: its arrays would unpack to {n_bytes} bytes, from {len(data)}.")
    stream = zlib.decompressobj()
    try:
        block = stream.decompress(data, n_bytes + 1)
    except zlib.error:
        raise CertificateError(f"{source} was edited: its arrays cannot be unpacked.") from None
    if len(block) != n_bytes or not stream.eof or stream.unused_data:
        raise CertificateError(f"{source} was edited: its arrays are not of the size it states.")
    return block


def _most_unpacked(n_packed: int) -> int:
    return _ALLOWANCE + _MOST_TIMES * n_packed


def _certificate_name(k: int) -> str:
    return f"certificate-{k + 1}.json" if k else "certificate.json"


def _object_name(k: int) -> str:
    return f"trusted-{k + 1}.skops"


def _zip(files: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, entry in files.items():
            # Without a date and with fixed attributes, the bytes are the same on every system.
            information = ZipInfo(name)
            information.create_system, information.external_attr = 3, 0o644 << 16
            archive.writestr(information, entry)
    return buffer.getvalue()


def _entries(data: bytes, source: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other files. Checks the directory of the archive before it reads a file."""
    if data[-22:-18] != _END:
        # The directory is at the end of a zip file, and pacband writes no comment after it.
        raise CertificateError(f"{source} is truncated or damaged: it does not end like a model file.")
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
    if _zip({_MANIFEST: manifest, **files}) != data:
        raise CertificateError(f"{source} was edited or damaged: it is not, byte for byte, what pacband wrote.")
    return content, files


def _check_entries(entries: Sequence[ZipInfo], n_bytes: int, source: str) -> None:
    """Raise unless each file is stored once and uncompressed. Then reading takes no more memory than the archive."""
    names = {entry.filename for entry in entries}
    if _MANIFEST not in names:
        raise CertificateError(f"{source} is not a model of pacband: it is an archive without a {_MANIFEST}.")
    if len(names) != len(entries):
        raise CertificateError(f"{source} was edited: it contains a file twice.")
    if any(entry.compress_type != ZIP_STORED for entry in entries):
        raise CertificateError(f"{source} was edited: its files are compressed.")
    if sum(entry.file_size for entry in entries) > n_bytes:
        raise CertificateError(f"{source} was edited or damaged: its files would be larger than the archive.")
    if _OLD_MODEL in names:
        raise CertificateError(
            f"{source} was written by an early version of pacband, in a format that is not supported any more: fit and "
            "save the model again."
        )
