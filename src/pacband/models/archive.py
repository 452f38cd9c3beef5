"""The archive of a model file: what is in it, and whether it is whole and untouched.

::

    manifest.json       what the other files are and their SHA-256, as a document with a digest of its own
    certificate.json    what `Certificate.save` writes; `certificate-2.json`, … for a family with groups
    model.skops         the parts of the model
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pacband._storage import document_bytes, parse_document, replace_file
from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate, revive
from pacband.certificate.portable import SCHEMA as CERTIFICATE_SCHEMA
from pacband.certificate.portable import SCHEMA_VERSION as CERTIFICATE_VERSION
from pacband.exceptions import CertificateError

__all__ = ["Archive", "is_archive", "read_archive", "write_archive"]

SCHEMA = "pacband/model"
SCHEMA_VERSION = 1
_MANIFEST, _MODEL = "manifest.json", "model.skops"
_START, _END = b"PK\x03\x04", b"PK\x05\x06"


@dataclass(frozen=True, eq=False)
class Archive:
    """What a model file holds, whole and untouched."""

    kind: str
    candidates: tuple[str, ...]
    versions: dict[str, str]
    columns: dict[str, str]
    certificates: tuple[Certificate | FamilyCertificate | GroupCertificate, ...]
    model: bytes


def is_archive(data: bytes) -> bool:
    """Whether these are the bytes of a model file, or the beginning of one, rather than of a certificate."""
    return data.startswith(_START)


def write_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    candidates: tuple[str, ...],
    versions: dict[str, str],
    columns: dict[str, str],
    certificates: tuple[Certificate | FamilyCertificate | GroupCertificate, ...],
    model: bytes,
) -> Path:
    """Write a model file, atomically; return the path."""
    files = {
        _certificate_name(k): document_bytes(CERTIFICATE_SCHEMA, CERTIFICATE_VERSION, certificate.to_dict())
        for k, certificate in enumerate(certificates)
    }
    files[_MODEL] = model
    content = {
        "kind": kind,
        "candidates": list(candidates),
        "versions": versions,
        "columns": columns,
        "files": {name: sha256(entry).hexdigest() for name, entry in files.items()},
    }
    files = {_MANIFEST: document_bytes(SCHEMA, SCHEMA_VERSION, content), **files}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, entry in files.items():
            # No date: the one that counts is in the certificate.
            information = ZipInfo(name)
            information.external_attr = 0o644 << 16
            archive.writestr(information, entry)
    target = Path(path)
    replace_file(target, buffer.getvalue())
    return target


def read_archive(data: bytes, source: str) -> Archive:
    """Return what a model file holds, or raise `CertificateError` saying what is wrong with the file."""
    content, files = _entries(data, source)
    if {name: sha256(entry).hexdigest() for name, entry in files.items()} != content["files"]:
        raise CertificateError(f"{source} was edited: its files are not those of its manifest.")
    candidates = tuple(content["candidates"])
    names = [_certificate_name(k) for k in range(max(1, len(candidates)))]
    if set(files) != {_MODEL, *names}:
        raise CertificateError(f"{source} was edited: it must hold {', '.join(names)} and {_MODEL}, got {list(files)}.")
    return Archive(
        kind=content["kind"],
        candidates=candidates,
        versions=content["versions"],
        columns=content["columns"],
        certificates=tuple(revive(files[name], f"{source} ({name})") for name in names),
        model=files[_MODEL],
    )


def _certificate_name(k: int) -> str:
    return f"certificate-{k + 1}.json" if k else "certificate.json"


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
    except CertificateError:
        raise
    except (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise CertificateError(f"{source} is damaged: {error}.") from None
    return content, files


def _check_entries(entries: list[ZipInfo], n_bytes: int, source: str) -> None:
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
