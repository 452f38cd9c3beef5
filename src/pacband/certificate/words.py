"""A certificate of one pair (T, σ̂) in words: one sentence, a text, and a card for notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pacband.certificate.inequality import symbols
from pacband.core.wording import bound, card, confidence, figure, percent

if TYPE_CHECKING:
    from pacband.certificate.about import About
    from pacband.certificate.single import Certificate

__all__ = ["about_text", "counts", "html", "promise", "support", "text"]


def promise(cert: Certificate) -> str:
    """Return the promise in one sentence."""
    if math.isinf(cert.gamma):
        of = "scores" if cert.basis.scoring.own else "errors"
        many = f"too many {of} of the {cert.n_samples} calibration {cert.basis.draws.counted}"
        if cert.rank is not None:
            many = f"{cert.rank} or more of the {cert.n_samples} calibration {of}"
        return f"No finite bound can be promised at eps={cert.eps:g}: {many} count as infinite."
    jointly = f", for all {cert.n_candidates} certificates at once" if cert.n_candidates > 1 else ""
    return f"{cert.basis.confidence}{jointly}, {cert.basis.claim(cert.gamma)}."


def text(cert: Certificate) -> str:
    """Return the promise, where its bound comes from, and what it rests on."""
    holds = f"It holds if {'; '.join(cert.assumptions)}.{_chain_words(cert)}"
    return f"{cert.promise}\n{_bound_words(cert)}.\n{holds}{about_text(cert.about)}"


def about_text(about: About) -> str:
    """Return who issued a certificate, and what it is about, in lines after its text."""
    return "".join(f"\n{name.capitalize()}: {text}" for name, text in about.facts())


def support(cert: Certificate) -> str:
    """Return what supports the bound: its rank among the draws, or the mean share of rows beyond it."""
    if cert.evidence is not None:
        return f"{percent(cert.evidence.mean)} on average over {cert.n_samples}"
    return f"rank {cert.rank} of {cert.n_samples}"


def counts(cert: Certificate, style: str = "") -> tuple[str, str]:
    """Return the numbers that the bound follows from, with their name; `style` formats an integer."""
    if cert.evidence is not None:
        return "units N, mean share beyond the bound", f"{cert.n_samples:{style}}, {percent(cert.evidence.mean)}"
    if cert.bound_given:
        return "samples N, beyond the bound", f"{cert.n_samples:{style}}, {cert.n_beyond:{style}}"
    return "samples N, rank r", f"{cert.n_samples:{style}}, {cert.rank:{style}}"


def _bound_words(cert: Certificate) -> str:
    counted = cert.basis.counted
    if cert.evidence is not None:
        return (
            f"The bound is the smallest that {cert.n_samples} calibration {counted} support: on average "
            f"{percent(cert.evidence.mean)} of their rows exceed it"
        )
    if cert.bound_given:
        return (
            f"The bound was given and the share was found: {cert.n_beyond} of {cert.n_samples} calibration "
            f"{counted} exceed the bound"
        )
    # r/(N + 1) is the mean for a candidate that was chosen beforehand. The best of several tends to have more.
    expected = f"; the expected violation is {percent(cert.expected_violation)}" if _has_expected(cert) else ""
    place = f"the score of rank {cert.rank} from the top"
    return f"The bound is {place} among {cert.n_samples} calibration {counted}{expected}"


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
        ("where", symbols(cert.basis)),
        *cert.about.facts(),
        ("bound γ̄, given" if cert.bound_given else "bound γ̄", bound(cert.gamma)),
        counts(cert),
        ("δ promised, attained", f"{figure(cert.delta)}, {figure(cert.attained_delta)}"),
        *([("expected violation", percent(cert.expected_violation))] if _has_expected(cert) else []),
        ("candidates", str(cert.n_candidates)),
        ("holds if", "; ".join(cert.assumptions)),
        ("made", f"{cert.created} by pacband {cert.pacband_version}"),
        ("data digest", cert.data_digest),
    ]
    return card("pacband certificate", cert.promise, rows, unit=cert.about.unit)


def _has_expected(cert: Certificate) -> bool:
    return cert.chosen_beforehand and not cert.bound_given
