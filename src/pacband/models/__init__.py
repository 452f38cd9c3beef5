"""Model files: a fitted certified estimator and its certificate in one file, which is safe to open.

The file is a zip archive with a manifest, the certificate as `Certificate.save` writes it, and the model as data: JSON
and arrays. Opening a file runs no code from it: pacband rebuilds every object itself, from data that it has checked
against a declaration of the object's kind (`pacband.models.declarations`). An attribute that is not declared is
refused. Objects of other kinds are saved and loaded only if the user names their types (`pacband.models.trust`).

The steps of reading are: `archive` (is the file complete and unchanged?), `content` (JSON and arrays), `values` (plain
values), `objects` (objects), with the lists of allowed names in `names` and the checks of `declare` and `parameters`.
"""

from __future__ import annotations

import os
from pathlib import Path

from pacband.certificate import AnyCertificate, revive
from pacband.core.zip_files import begins_as_zip, is_zip
from pacband.models.archive import read_archive

__all__ = ["certificate_in", "is_model", "load_certificate", "load_target"]


def is_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a model file and not a certificate, by its first bytes."""
    return begins_as_zip(path)


def load_certificate(path: str | os.PathLike[str]) -> AnyCertificate:
    """Read the certificate from a certificate file or a model file. The model itself is not read."""
    return certificate_in(Path(path).read_bytes(), os.fspath(path))


def certificate_in(data: bytes, source: str) -> AnyCertificate:
    """Return the certificate in the bytes of a certificate file or a model file. Errors call the file `source`."""
    if not is_zip(data):
        return revive(data, source)
    return read_archive(data, source, certificates_only=True).certificates[0]


def load_target(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Read the columns of the targets from a model file; none if it was not fitted on a file."""
    return read_archive(Path(path).read_bytes(), os.fspath(path), certificates_only=True).target
