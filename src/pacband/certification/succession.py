"""`recalibrate`: a certificate that follows an earlier one, within one promise over the whole chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, overload

from pacband.certificate import (
    About,
    AnyCertificate,
    Certificate,
    FamilyCertificate,
    GroupCertificate,
    check_certificate,
)
from pacband.certificate.about import as_about
from pacband.certification.arrays import certify_group_rows, certify_rows
from pacband.certification.terms import Terms, check_draws
from pacband.certification.tolerance import ToleranceTerms, refuse_with_tolerance
from pacband.core.arrays import Floats
from pacband.core.frozen import FrozenMap
from pacband.core.members import group_members
from pacband.draws import DrawKind, Draws, Sample, Units, Weighted
from pacband.draws.declaring import declare
from pacband.draws.kinds import RowDraws, SpacedDraws, UnitDraws, WeightedDraws
from pacband.exceptions import InvalidInput, NotEnoughSamples, ReusedData
from pacband.planning import WHOLE, check_choice_of_rank
from pacband.planning.shares import rounded_down, successor_delta
from pacband.scores import scores_of

__all__ = ["recalibrate"]


@overload
def recalibrate(
    certificate: Certificate | FamilyCertificate,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    rule: str = "exact",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Certificate: ...


@overload
def recalibrate(
    certificate: GroupCertificate,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    groups: Any,
    rule: str = "exact",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> GroupCertificate: ...


def recalibrate(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    groups: Any = None,
    rule: str = "exact",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Certificate | GroupCertificate:
    """Issue the next certificate of a chain from fresh rows. It names its predecessor.

    The k-th certificate of a chain promises the same ε, with confidence 1 − δ/(k(k − 1)), δ being that of the first.
    All certificates of the chain, past and future, then hold together with confidence 1 − 2δ (`chain_delta`). For a
    chain with confidence 1 − δ, issue its first certificate at δ/2.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The predecessor. The successor of a family is the certificate of one model.
    y, y_pred, scale
        Fresh rows, as in `certify`. They must be drawn after the decision to recalibrate: rows that raised an alarm
        were selected by it. The model, old or new, must not have seen them. For own scores, y holds the scores alone.
    groups : array-like
        The group of every row, for certificates with groups.
    rule : {"exact", "paper", "maximum"}
        See `plan`.
    draws : Units, Spaced or Weighted, optional
        The units or weights of the fresh rows, if the predecessor has such draws. Rows of a series are spaced as those
        of the predecessor.
    about : About or mapping, optional
        Who issues the successor, and what it is about; by default as its predecessor states it. For a new model, pass
        its version and digest.

    Returns
    -------
    Certificate or GroupCertificate
        With the predecessor's ε, side, gauge, `min_scale` and `nonfinite`. If the bound was given, the successor has
        the same bound, and ε is found again.

    Raises
    ------
    NotEnoughSamples
        If the rows are too few for ε at the δ of this certificate.
    ReusedData
        If these are the rows that the predecessor was made from.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> first = pacband.certify(rng.standard_normal(2000), np.zeros(2000), delta=5e-4)
    >>> second = pacband.recalibrate(first, 1.5 * rng.standard_normal(2000), np.zeros(2000))
    >>> second.generation, second.delta, second.chain_delta
    (2, 0.00025, 0.001)
    >>> second.predecessor == first.digest
    True
    """
    basis = check_certificate(certificate).basis
    found = _same_draws(basis.draws, draws)
    before = next(iter(certificate.parts.values()))
    chain = _link(certificate.digest, before)
    terms = Terms(
        eps=basis.eps,
        delta=rounded_down(successor_delta(chain["chain_delta"], chain["generation"])),
        rank=None,
        rule=rule,
        scoring=basis.scoring,
        share=WHOLE,
        draws=found,
        about=basis.about if about is None else as_about(about),
    )
    check_choice_of_rank(terms.eps, terms.delta, None, rule)
    basis.check_outputs("y", y)
    try:
        if isinstance(certificate, GroupCertificate):
            if groups is None:
                raise InvalidInput("this certificate has groups: pass the group of every row.")
            if isinstance(groups, Mapping) != certificate.overlapping:
                certificate.gamma(groups)  # raises: it states which groups are needed
            parts = certify_group_rows(terms, y, y_pred, groups, scale).groups
            of_rows = scores_of(basis.scoring, y, y_pred, scale)
            sample = found.sample(len(of_rows))
            scores, members = sample.reduce(of_rows), group_members(groups, sample.assign)
            common = [label for label in certificate.groups if label in members]
            _refuse_same(
                (certificate.groups[label], sample.part(members[label]), sample.scores_of_part(scores, members[label]))
                for label in common
            )
            successors = FrozenMap({label: replace(part, **chain) for label, part in parts.items()})
            return GroupCertificate(groups=successors, overlapping=certificate.overlapping)
        if groups is not None:
            raise InvalidInput("groups were given, but the certificate has none.")
        if before.bound_given:
            given = ToleranceTerms(
                tolerance=before.gamma,
                delta=terms.delta,
                scoring=basis.scoring,
                share=WHOLE,
                draws=found,
                about=terms.about,
            )
            refuse_with_tolerance(rank=None, rule=rule)
            successor = given.certify_rows(y, y_pred, scale)
        else:
            successor = certify_rows(terms, y, y_pred, scale)
    except NotEnoughSamples as error:
        raise error.within(f"certificate {chain['generation']} of the chain") from None
    scores = scores_of(basis.scoring, y, y_pred, scale)
    sample = found.sample(len(scores))
    _refuse_same([(before, sample, sample.reduce(scores))])
    return replace(successor, **chain)


def _same_draws(kind: DrawKind, draws: Draws | None) -> Draws:
    """Return the draws of the successor, or raise unless they are what the predecessor promises about."""
    if draws is None and isinstance(kind, (RowDraws, SpacedDraws)):
        return declare(kind)
    given = check_draws(draws).kind
    if isinstance(kind, UnitDraws) and isinstance(draws, Units) and draws.kind.within == kind.within:
        # The successor calls its units as the predecessor does. Its seed may be another.
        return Units(draws.labels, kind.within, name=kind.unit, random_state=draws.kind.seed)
    if draws is not None and (given == kind or (isinstance(kind, WeightedDraws) and isinstance(draws, Weighted))):
        return draws
    raise InvalidInput(f"the successor needs the draws of its predecessor, {kind}, got {given}.")


def _link(digest: str, before: Certificate) -> dict[str, Any]:
    """Return what the successor states about its place in the chain."""
    chain_delta = before.chain_delta or 2.0 * before.delta
    if chain_delta >= 1.0:
        raise InvalidInput(f"a chain needs a first certificate with delta below 1/2, got {before.delta:g}.")
    return {"predecessor": digest, "generation": before.generation + 1, "chain_delta": chain_delta}


def _refuse_same(parts: Iterable[tuple[Certificate, Sample, Floats]]) -> None:
    """Raise if the scores are those that a certificate was made from."""
    if any(before.was_made_from(sample, scores) for before, sample, scores in parts):
        raise ReusedData("a successor needs fresh rows: these have the scores that its predecessor was made from.")
