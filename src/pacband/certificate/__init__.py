"""Certificates: the promise as an immutable, portable value.

A certificate cannot exist unless its numbers carry its promise: B(r − 1; N, ε) ≤ δ/n_F is checked whenever one
is made or loaded. It knows the rule by which rows were scored, so that bands at prediction time are made by
the same rule, and a scale that was used at calibration cannot be forgotten later.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from pacband._storage import parse_document
from pacband.certificate.family import FamilyCertificate
from pacband.certificate.groups import GroupCertificate
from pacband.certificate.portable import SCHEMA, SCHEMA_VERSION
from pacband.certificate.single import Certificate
from pacband.exceptions import CertificateError, InvalidInput

__all__ = ["AnyCertificate", "Certificate", "FamilyCertificate", "GroupCertificate", "load", "revive", "single_of"]


AnyCertificate: TypeAlias = Certificate | FamilyCertificate | GroupCertificate


def single_of(certificate: Any) -> Certificate:
    """Return the certificate by whose rule rows are scored: itself, the best candidate's, or that of any group."""
    if isinstance(certificate, FamilyCertificate):
        return certificate.certificate
    if isinstance(certificate, GroupCertificate):
        return next(iter(certificate.groups.values()))
    if not isinstance(certificate, Certificate):
        hint = " Pass its certificate_." if hasattr(certificate, "certificate_") else ""
        raise InvalidInput(f"certificate must be one that pacband made, got {type(certificate).__name__}.{hint}")
    return certificate


def load(path: str | os.PathLike[str]) -> Certificate | FamilyCertificate | GroupCertificate:
    """Read a certificate from its file, as `pacband.load` does, which opens model files as well."""
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
