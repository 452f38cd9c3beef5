"""Certificates: the promise as an immutable, portable value.

A certificate cannot exist unless its numbers support its promise: B(r − 1; N, ε) ≤ δ/n_F is checked whenever one is
made or loaded. Every kind holds a `Promise`, its `basis`: what is promised, and how a row is scored.
"""

from pacband.certificate.family import FamilyCertificate
from pacband.certificate.files import AnyCertificate, check_certificate, revive
from pacband.certificate.groups import GroupCertificate
from pacband.certificate.promise import Promise
from pacband.certificate.single import Certificate

__all__ = [
    "AnyCertificate",
    "Certificate",
    "FamilyCertificate",
    "GroupCertificate",
    "Promise",
    "check_certificate",
    "revive",
]
