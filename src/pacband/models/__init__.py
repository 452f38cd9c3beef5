"""Model files: a fitted certified estimator and its certificate in one file, opened without running what it brings.

The file is a zip archive of a manifest, the certificate as `Certificate.save` writes it, and the model as data: JSON
and arrays, of kinds of objects that are declared (`pacband.models.declarations`). pacband makes every object itself,
from what it has checked. An attribute that is not declared does not exist, and nothing that the file brought is called.
What is of no declared kind is saved and loaded only with the user's word (`pacband.models.trust`).
"""

from __future__ import annotations

import os
from pathlib import Path

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate, revive
from pacband.models.archive import is_archive, read_archive

__all__ = ["is_model", "load_certificate"]


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a model file, rather than a certificate; told from its first bytes."""
    with open(path, "rb") as file:
        return is_archive(file.read(4))


def load_certificate(path: str | os.PathLike[str]) -> Certificate | FamilyCertificate | GroupCertificate:
    """Read the certificate of a certificate file or of a model file; the model itself is not touched."""
    data = Path(path).read_bytes()
    if not is_archive(data):
        return revive(data, os.fspath(path))
    return read_archive(data, os.fspath(path), certificates_only=True).certificates[0]
