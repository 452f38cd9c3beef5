"""A certificate of one pair (T, σ̂) in words: one sentence, a text, and a card for notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pacband.core.wording import bound, card, confidence, figure, percent

if TYPE_CHECKING:
    from pacband.certificate.single import Certificate

__all__ = ["html", "promise", "text"]


def promise(cert: Certificate) -> str:
    """Return the promise in one sentence."""
    if math.isinf(cert.gamma):
        return (
            f"No finite bound can be promised at eps={cert.eps:g}: {cert.rank} or more of the "
            f"{cert.n_samples} calibration {'scores' if cert.basis.scoring.own else 'errors'} count as infinite."
        )
    jointly = f", for all {cert.n_candidates} certificates at once" if cert.n_candidates > 1 else ""
    return f"{cert.basis.confidence}{jointly}, {cert.basis.claim(cert.gamma)}."


def text(cert: Certificate) -> str:
    """Return the promise, where its bound comes from, and what it rests on."""
    return f"{cert.promise}\n{_bound_words(cert)}.\nIt holds if {'; '.join(cert.assumptions)}.{_chain_words(cert)}"


def _bound_words(cert: Certificate) -> str:
    if cert.bound_given:
        return (
            f"The bound was given and the share was found: {cert.rank - 1} of {cert.n_samples} calibration "
            f"{cert.basis.counted} exceed the bound"
        )
    # r/(N + 1) is the mean for a candidate that was chosen beforehand. The best of several tends to have more.
    expected = f"; the expected violation is {percent(cert.expected_violation)}" if _has_expected(cert) else ""
    place = f"the score of rank {cert.rank} from the top"
    return f"The bound is {place} among {cert.n_samples} calibration {cert.basis.counted}{expected}"


def _chain_words(cert: Certificate) -> str:
    if cert.predecessor is None or cert.chain_delta is None:
        return ""
    return (
        f"\nIt is certificate {cert.generation} of a chain and follows {cert.predecessor[:16]}…. With confidence "
        f"{confidence(cert.chain_delta)}, all certificates of the chain hold."
    )


def html(cert: Certificate) -> str:
    """Return a card for notebooks."""
    rows = [
        ("bound γ̄, given" if cert.bound_given else "bound γ̄", bound(cert.gamma)),
        ("samples N, beyond the bound", f"{cert.n_samples}, {cert.rank - 1}")
        if cert.bound_given
        else ("samples N, rank r", f"{cert.n_samples}, {cert.rank}"),
        ("δ promised, attained", f"{figure(cert.delta)}, {figure(cert.attained_delta)}"),
        *([("expected violation", percent(cert.expected_violation))] if _has_expected(cert) else []),
        ("candidates", str(cert.n_candidates)),
        ("holds if", "; ".join(cert.assumptions)),
        ("made", f"{cert.created} by pacband {cert.pacband_version}"),
        ("data digest", cert.data_digest),
    ]
    return card("pacband certificate", cert.promise, rows)


def _has_expected(cert: Certificate) -> bool:
    return cert.chosen_beforehand and not cert.bound_given
