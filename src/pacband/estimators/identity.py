"""What the certificate of a fitted estimator says about its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pacband.candidates.members import Member
from pacband.certificate.about import as_about
from pacband.certification.terms import Terms

__all__ = ["about_to_dict", "identify_model"]


def identify_model(terms: Terms, members: Mapping[str, Member]) -> Terms:
    """Return the terms with the digest of the fitted model. If the user stated nothing, nothing is added."""
    if not terms.about:
        return terms
    from pacband.models.digest import members_digest

    return replace(terms, about=terms.about.with_digest(members_digest(members)))


def about_to_dict(about: Any) -> dict[str, Any]:
    """Return the parameter `about` of an estimator as a model file states it; empty if it states nothing."""
    return as_about(about).to_dict()
