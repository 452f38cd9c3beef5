"""Read certificate files, and check that their words agree with their numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from pacband import __version__
from pacband.certificate.family import FamilyCertificate
from pacband.certificate.groups import GroupCertificate
from pacband.certificate.portable import SCHEMA, SCHEMA_VERSION
from pacband.certificate.single import Certificate
from pacband.core.documents import parse_document
from pacband.core.wording import with_exponents
from pacband.exceptions import CertificateError, InvalidInput

__all__ = ["AnyCertificate", "check_certificate", "revive"]

AnyCertificate: TypeAlias = Certificate | FamilyCertificate | GroupCertificate


def check_certificate(certificate: Any) -> AnyCertificate:
    """Return the certificate, or raise unless pacband made it."""
    if not isinstance(certificate, (Certificate, FamilyCertificate, GroupCertificate)):
        hint = " Pass its certificate_." if hasattr(certificate, "certificate_") else ""
        raise InvalidInput(f"certificate must be one that pacband made, got {type(certificate).__name__}.{hint}")
    return certificate


def revive(data: bytes, source: str) -> AnyCertificate:
    """Return the certificate in the bytes of a file. Errors call the file `source`."""
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
        raise CertificateError(f"{source}: its numbers do not make a certificate: {error}.") from None
    return certificate


def _same_numbers(words: str, others: str) -> bool:
    """Whether two sentences state the same numbers: percentages exactly, others to three digits.

    Earlier files state a large number as 1.2e+06.
    """
    found, wanted = (
        re.findall(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)( %)?", with_exponents(text)) for text in (words, others)
    )
    return len(found) == len(wanted) and all(
        unit == other_unit and math.isclose(float(one), float(other), rel_tol=0.0 if unit else 1e-3)
        for (one, unit), (other, other_unit) in zip(found, wanted, strict=True)
    )


def _check_words(content: Mapping[str, Any], certificate: AnyCertificate) -> None:
    """Raise if the words of a file, or the numbers that follow from others, are not those of the certificate.

    Only the numbers in the words are compared: a later version of pacband may word a promise in another way. A file of
    another version may even state other numbers.
    """
    same_version = {part.pacband_version for part in certificate.parts.values()} == {__version__}
    if same_version and not _same_numbers(content["promise"], certificate.promise):
        raise CertificateError(
            f"its promise in words does not agree with its numbers, which state: {certificate.promise}"
        )
    if isinstance(certificate, Certificate):
        expected = certificate.expected_violation if certificate.basis.draws.has_law else None
        # Earlier files of draws that depend on each other state rank/(n_samples + 1).
        stated = None if expected is None and certificate.basis.draws.rank_is_chosen else content["expected_violation"]
        if stated != expected:
            raise CertificateError(
                f"expected_violation must be rank/(n_samples + 1), {expected}, got {content['expected_violation']}."
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
