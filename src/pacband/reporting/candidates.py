"""How candidates are compared: in which order, by which number, and what holds for the chosen one."""

from __future__ import annotations

from fractions import Fraction

from pacband.certificate import AnyCertificate, FamilyCertificate, GroupCertificate

__all__ = ["chosen_beforehand", "expects_violation", "rank_candidates"]


def chosen_beforehand(certificate: AnyCertificate) -> bool:
    """Whether nothing was chosen by the scores: only then is r/(N + 1) the expected violation.

    Of several candidates the one with the smallest bound is chosen, and a bound that is small by chance is exceeded
    more often. A bound that shares δ with others counts as one of several. The groups of a certificate share δ as well,
    but all of them are kept.
    """
    if not certificate.basis.draws.has_law:
        return False
    n_kept = len(certificate.groups) if isinstance(certificate, GroupCertificate) else 1
    return all(part.share.fraction >= Fraction(1, n_kept) for part in certificate.parts.values())


def expects_violation(certificate: AnyCertificate) -> bool:
    """Whether r/(N + 1) is the expected violation: nothing was chosen by the scores, and the bound was not given."""
    return chosen_beforehand(certificate) and not certificate.basis.bound_given


def rank_candidates(family: FamilyCertificate, most: int) -> list[str]:
    """Return at most `most` candidates, the sharpest first. The best one is always among them."""
    names = sorted(family.candidates, key=lambda name: (family.sharpness[name], name != family.best))
    shown = names[:most]
    return shown if family.best in shown else [*shown[:-1], family.best]
