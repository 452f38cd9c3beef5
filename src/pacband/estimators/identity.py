"""What the certificate of a fitted estimator says about its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pacband.candidates.members import Member
from pacband.certificate.about import as_about
from pacband.certification.terms import Terms
from pacband.exceptions import InvalidInput

__all__ = ["about_to_dict", "identify_model"]


def identify_model(terms: Terms, members: Mapping[str, Member]) -> Terms:
    """Return the terms with the digest of the fitted model. If the user stated nothing, nothing is added.

    Raises if the user stated the digest of another model, as the `about` of an earlier certificate does.
    """
    if not terms.about:
        return terms
    from pacband.models.digest import members_digest

    digest, stated = members_digest(members), terms.about.model and terms.about.model.digest
    if None not in (digest, stated) and digest != stated:
        raise InvalidInput(
            f"about states the digest of another model, {stated}: this model has {digest}. Leave the digest out; the "
            "certificate of a fitted model states it by itself."
        )
    return replace(terms, about=terms.about.with_digest(digest))


def about_to_dict(about: Any) -> dict[str, Any]:
    """Return the parameter `about` of an estimator as a model file states it; empty if it states nothing."""
    return as_about(about).to_dict()
