"""Certificates: the promise as an immutable, portable value.

Every certificate checks B(r − 1; N, ε) ≤ δ/n_F when it is made and when it is loaded: no certificate exists whose
numbers do not support its promise. Every kind has a `Promise`, its `basis`: what is promised, and how rows are scored.
"""

from pacband.certificate.about import About, AboutModel
from pacband.certificate.family import FamilyCertificate
from pacband.certificate.files import AnyCertificate, check_certificate, revive
from pacband.certificate.groups import GroupCertificate, groups_overlap
from pacband.certificate.promise import Promise
from pacband.certificate.single import Certificate

__all__ = [
    "About",
    "AboutModel",
    "AnyCertificate",
    "Certificate",
    "FamilyCertificate",
    "GroupCertificate",
    "Promise",
    "check_certificate",
    "groups_overlap",
    "revive",
]
