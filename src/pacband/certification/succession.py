"""`recalibrate`: a certificate that follows an earlier one, within one promise over the whole chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, overload

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
from pacband.certification.chains import chain_delta, drawn_as, next_generation, same_draws
from pacband.certification.fitted import FittedModel, raw_rows
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms, refuse_with_tolerance
from pacband.core.arrays import Floats
from pacband.core.frozen import FrozenMap
from pacband.core.members import group_members
from pacband.draws import Draws, Sample
from pacband.exceptions import InvalidInput, NotEnoughSamples, ReusedData
from pacband.planning import WHOLE, DeltaShare, check_choice_of_rank
from pacband.planning.shares import rounded_down, successor_delta
from pacband.scores import scores_of
from pacband.selection.fingerprint import fingerprint_total, fingerprint_unit, may_be_chance

__all__ = ["Succession", "recalibrate"]

C = TypeVar("C", bound=AnyCertificate)
M = TypeVar("M", bound=FittedModel)


@dataclass(frozen=True)
class Succession:
    """The next place in a chain: on which terms the successor is certified, and how it names its predecessor.

    Attributes
    ----------
    before : Certificate, FamilyCertificate or GroupCertificate
        The predecessor.
    terms : Terms
        Its terms, with fresh draws and the δ of this place in the chain.
    """

    before: AnyCertificate
    terms: Terms

    @classmethod
    def after(
        cls,
        certificate: AnyCertificate,
        *,
        rule: str,
        draws: Draws | None,
        about: About | Mapping[str, Any] | None = None,
        share: DeltaShare | None = None,
    ) -> Self:
        """Return the place after a certificate, or raise unless the draws are what it promises about.

        The successor uses the same share of δ as the predecessor, or the one that is given.
        """
        basis = check_certificate(certificate).basis
        delta = rounded_down(successor_delta(chain_delta(certificate), next_generation(certificate)))
        check_choice_of_rank(basis.eps, delta, None, rule)
        return cls(
            certificate,
            Terms(
                eps=basis.eps,
                delta=delta,
                rank=None,
                rule=rule,
                scoring=basis.scoring,
                share=_share_of(certificate) if share is None else share,
                draws=same_draws(basis.draws, draws),
                about=basis.about.for_new_model() if about is None else as_about(about),
            ),
        )

    def link(self, certificate: C) -> C:
        """Return a certificate with its place in the chain: every part of it names the predecessor."""
        chain: dict[str, Any] = {
            "predecessor": self.before.digest,
            "generation": next_generation(self.before),
            "chain_delta": chain_delta(self.before),
        }
        if isinstance(certificate, Certificate):
            return replace(certificate, **chain)
        parts = "groups" if isinstance(certificate, GroupCertificate) else "candidates"
        linked = {name: replace(part, **chain) for name, part in getattr(certificate, parts).items()}
        return replace(certificate, **{parts: FrozenMap(linked)})  # type: ignore[arg-type]

    def explain(self, error: NotEnoughSamples) -> NotEnoughSamples:
        """Return the error that states for which certificate of the chain the rows are too few."""
        return error.within(f"certificate {next_generation(self.before)} of the chain")

    def refuse_same(self, y: Any, y_pred: Any, scale: Any = None, groups: Any = None) -> None:
        """Raise if the scores of these rows are those that the predecessor was made from."""
        of_rows = scores_of(self.terms.scoring, y, y_pred, scale)
        try:
            sample = drawn_as(self.before.basis.draws, self.terms.draws).sample(len(of_rows))
        except InvalidInput:
            # Weights beyond the bound of the predecessor: its rows had others.
            return
        scores = sample.reduce(of_rows)
        parts: list[tuple[Certificate, Sample, Floats]]
        if isinstance(self.before, GroupCertificate):
            members = group_members(groups, sample.assign)
            parts = [
                (before, sample.part(members[label]), sample.scores_of_part(scores, members[label]))
                for label, before in self.before.groups.items()
                if label in members
            ]
        else:
            # The rows of a family have chosen among its candidates: they are fresh for none of them.
            before = self.before
            made = before.candidates.values() if isinstance(before, FamilyCertificate) else [before]
            parts = [(one, sample, scores) for one in made]
        if any(
            before.was_made_from(own, of_own)
            and not may_be_chance(fingerprint_total(of_own, fingerprint_unit(before.gamma)))
            for before, own, of_own in parts
        ):
            raise ReusedData("a successor needs fresh rows: these have the scores that its predecessor was made from.")


def _share_of(certificate: AnyCertificate) -> DeltaShare:
    """Return the share of δ of a certificate, before groups divide it. A family leaves one model, which has all."""
    if isinstance(certificate, FamilyCertificate):
        return WHOLE
    parts = list(certificate.parts.values())
    return parts[0].share if len(parts) == 1 else DeltaShare(parts[0].share.n_candidates // len(parts))


@overload
def recalibrate(
    model: M,
    X: Any,
    y: Any,
    /,
    *,
    rule: str = "exact",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> M: ...


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
    certificate: AnyCertificate | FittedModel,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    groups: Any = None,
    rule: str = "exact",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Any:
    """Issue the next certificate of a chain from fresh rows. It names its predecessor.

    The k-th certificate of a chain promises the same ε, with confidence 1 − δ/(k(k − 1)), δ being that of the first.
    All certificates of the chain, past and future, then hold together with confidence 1 − 2δ (`chain_delta`). For a
    chain with confidence 1 − δ, issue its first certificate at δ/2.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate, GroupCertificate or fitted model
        The predecessor. The successor of a family is the certificate of one model. With a `CertifiedRegressor` or
        `CertifiedFamily`, pass raw rows, ``recalibrate(model, X, y)``: see its method of this name.
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
        Who issues the successor, and what it is about; by default as its predecessor states it, without the version and
        the digest of the model: pacband cannot see from predictions which model made them. Pass them again, those of
        the new model or of the same one. A fitted model stays the same, and keeps both.

    Returns
    -------
    Certificate, GroupCertificate or fitted model
        With the predecessor's ε, side, gauge, `min_scale`, `clip`, `nonfinite` and `n_candidates`: as many models may
        be recalibrated on the same rows, and the best of them chosen. If the bound was given, the successor has the
        same bound, and ε is found again.

    Raises
    ------
    NotEnoughSamples
        If the rows are too few for ε at the δ of this certificate.
    ReusedData
        If these are exactly the rows that the predecessor, or a candidate of its family, was made from, and with a
        model if they are its training rows. pacband cannot see a part of the predecessor's rows, nor those of earlier
        certificates of the chain.

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
    if isinstance(certificate, FittedModel):
        X, y = raw_rows("recalibrate(model, X, y)", certificate, y, y_pred, scale=scale, groups=groups)
        return certificate.recalibrate(X, y, rule=rule, draws=draws, about=about)
    succession = Succession.after(certificate, rule=rule, draws=draws, about=about)
    terms, basis = succession.terms, certificate.basis
    basis.check_outputs("y", y)
    successor: Certificate | GroupCertificate
    try:
        if isinstance(certificate, GroupCertificate):
            if groups is None:
                raise InvalidInput("this certificate has groups: pass the group of every row.")
            if isinstance(groups, Mapping) != certificate.overlapping:
                certificate.gamma(groups)  # raises: it states which groups are needed
            successor = certify_group_rows(terms, y, y_pred, groups, scale)
        elif groups is not None:
            raise InvalidInput("groups were given, but the certificate has none.")
        elif basis.bound_given:
            given = ToleranceTerms(
                tolerance=certificate.single.gamma,
                delta=terms.delta,
                scoring=basis.scoring,
                share=terms.share,
                draws=terms.draws,
                about=terms.about,
            )
            refuse_with_tolerance(rank=None, rule=rule)
            successor = given.certify_rows(y, y_pred, scale)
        else:
            successor = certify_rows(terms, y, y_pred, scale)
    except NotEnoughSamples as error:
        raise succession.explain(error) from None
    succession.refuse_same(y, y_pred, scale, groups)
    return succession.link(successor)
