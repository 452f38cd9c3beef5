"""Certificates: the promise as an immutable, portable value.

A certificate cannot exist unless its numbers carry its promise: B(r − 1; N, ε) ≤ δ/n_F is checked whenever one
is made or loaded. It knows the rule by which rows were scored, so that bands at prediction time are made by
the same rule, and a scale that was used at calibration cannot be forgotten later.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pacband import __version__
from pacband.certificate.family import FamilyCertificate
from pacband.certificate.groups import GroupCertificate
from pacband.certificate.portable import SCHEMA, SCHEMA_VERSION
from pacband.certificate.single import Certificate
from pacband.core.documents import parse_document
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
        certificate = kinds[content["kind"]].from_dict(content)
        _check_words(content, certificate)
    except CertificateError as error:
        raise CertificateError(f"{source}: {error}") from None
    except (ArithmeticError, MemoryError, TypeError, ValueError) as error:
        raise CertificateError(f"{source}: its numbers make no certificate: {error}.") from None
    return certificate


def _same_numbers(words: str, others: str) -> bool:
    """Whether two sentences state the same numbers: percentages exactly, others to three digits."""
    found, wanted = (re.findall(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)( %)?", text) for text in (words, others))
    return len(found) == len(wanted) and all(
        unit == other_unit and math.isclose(float(one), float(other), rel_tol=0.0 if unit else 1e-3)
        for (one, unit), (other, other_unit) in zip(found, wanted, strict=True)
    )


def _check_words(content: Mapping[str, Any], certificate: AnyCertificate) -> None:
    """Raise where a certificate says something else in words, or in numbers that follow, than it states.

    The numbers in its words are compared, for pacband may word a promise in another way one day; and another version
    may state other numbers.
    """
    same_version = single_of(certificate).pacband_version == __version__
    if same_version and not _same_numbers(content["promise"], certificate.promise):
        raise CertificateError(f"its promise in words is not that of its numbers, which say: {certificate.promise}")
    if isinstance(certificate, Certificate):
        if content["expected_violation"] != certificate.expected_violation:
            raise CertificateError(
                f"expected_violation must be rank/(n_samples + 1), {certificate.expected_violation}, got "
                f"{content['expected_violation']}."
            )
        if content["attained_delta"] > certificate.delta:
            raise CertificateError(
                f"attained_delta must not exceed delta={certificate.delta:g}, got {content['attained_delta']:g}."
            )
        return
    parts = certificate.candidates if isinstance(certificate, FamilyCertificate) else certificate.groups
    entries = content["candidates"] if isinstance(certificate, FamilyCertificate) else content["groups"]
    if len(entries) != len(parts):
        raise CertificateError(f"it has {len(entries)} certificates under {len(parts)} names: each needs its own.")
    for entry, part in zip(entries, parts.values(), strict=True):
        _check_words(entry["certificate"], part)
