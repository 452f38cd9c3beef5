"""Certificates: the promise as an immutable, portable value.

A certificate cannot exist unless its numbers carry its promise: B(r − 1; N, ε) ≤ δ/n_F is checked whenever one
is made or loaded. It knows the rule by which rows were scored, so that bands at prediction time are made by
the same rule, and a scale that was used at calibration cannot be forgotten later.
"""

from __future__ import annotations

import os
from pathlib import Path

from pacband._storage import parse_document
from pacband.certificate.family import FamilyCertificate
from pacband.certificate.groups import GroupCertificate
from pacband.certificate.portable import SCHEMA, SCHEMA_VERSION
from pacband.certificate.single import Certificate
from pacband.exceptions import CertificateError

__all__ = ["Certificate", "FamilyCertificate", "GroupCertificate", "load", "revive"]


def load(path: str | os.PathLike[str]) -> Certificate | FamilyCertificate | GroupCertificate:
    """Read a certificate from its file.

    Raises
    ------
    CertificateError
        If the file is damaged, truncated, edited, or written by a newer pacband; the message says which.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> path = cert.save(pathlib.Path(tempfile.mkdtemp()) / "cert.json")
    >>> pacband.load(path) == cert
    True
    """
    return revive(Path(path).read_bytes(), os.fspath(path))


def revive(data: bytes, source: str) -> Certificate | FamilyCertificate | GroupCertificate:
    """Return the certificate that the bytes of a file hold; `source` is what errors call it."""
    content = parse_document(data, source, SCHEMA, SCHEMA_VERSION)
    kinds: dict[str, type[Certificate] | type[FamilyCertificate] | type[GroupCertificate]] = {
        "single": Certificate,
        "family": FamilyCertificate,
        "groups": GroupCertificate,
    }
    try:
        return kinds[content["kind"]].from_dict(content)
    except CertificateError as error:
        raise CertificateError(f"{source}: {error}") from None
