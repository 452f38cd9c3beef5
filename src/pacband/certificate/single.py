"""The certificate of one pair (T, σ̂)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from pacband import __version__
from pacband.certificate import law, words
from pacband.certificate.chain import check_chain
from pacband.certificate.decision import certifies, is_score_at_rank
from pacband.certificate.portable import decode, encode
from pacband.certificate.promise import Promise
from pacband.certificate.promising import Promising
from pacband.core.arrays import Floats, check_same_rows
from pacband.core.checks import check_positive_integer, check_probability
from pacband.core.clock import time_of_creation
from pacband.draws import Draws, Sample
from pacband.exceptions import CertificateError, InvalidInput
from pacband.planning import LARGEST_N, WHOLE, DeltaShare
from pacband.planning.averages import Evidence
from pacband.planning.ranks import smallest_delta
from pacband.scores import bound, mean_bound
from pacband.selection import Measured, measure
from pacband.selection.fingerprint import fingerprint

__all__ = ["Certificate", "issue"]


@dataclass(frozen=True, kw_only=True)
class Certificate(Promising):
    """With confidence 1 − δ, at least 1 − ε of future errors satisfy |y − T(x)| ≤ γ̄·σ̂(x).

    Made by `certify`, `certify_tolerance` and `certify_scores`; saved with `save`, read back with `pacband.load`.

    Attributes
    ----------
    basis : Promise
        What is promised, and how a row is scored. Its parts are attributes of the certificate as well: `eps`, `delta`,
        `side`, `gauge`, `min_scale`, `clip`, `nonfinite`, `scale_kind`, `n_outputs`, `n_steps`, `columns`,
        `assumptions`, `bound_given`, `about`.
    gamma : float
        γ̄, the r-th largest calibration score. Infinite where no finite bound can be promised. If the bound was given,
        the tolerance.
    n_samples : int
        N, the number of draws.
    rank : int or None
        r. If the bound was given, r − 1 calibration scores exceed it. A promise about units on average has no rank.
    share : DeltaShare
        The part of δ that this certificate uses: `n_candidates`, `weight`.
    created : str
        When it was made, in UTC.
    pacband_version : str
        The version of pacband that made it.
    data_digest : str
        An order-independent fingerprint of the calibration scores.
    predecessor : str or None
        The digest of the certificate that this one follows; see `recalibrate`.
    generation : int
        Its place in the chain of certificates, from 1.
    chain_delta : float or None
        The probability that any certificate of the chain fails.
    evidence : Evidence or None
        In place of a rank, for units on average: how many rows of the calibration units exceed γ̄.
    """

    basis: Promise
    gamma: float
    n_samples: int
    rank: int | None
    share: DeltaShare = WHOLE
    created: str
    pacband_version: str = __version__
    data_digest: str
    predecessor: str | None = None
    generation: int = 1
    chain_delta: float | None = None
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        try:
            check_positive_integer("n_candidates", self.n_candidates)
            check_positive_integer("generation", self.generation)
            if self.weight is not None and self.weight != 1.0:
                check_probability("weight", self.weight)
            if self.chain_delta is not None:
                check_probability("chain_delta", self.chain_delta)
        except InvalidInput as error:
            raise CertificateError(f"no certificate can state this: {error}") from None
        check_chain(self.delta, self.predecessor, self.generation, self.chain_delta)
        if self.basis.draws.averages or self.evidence is not None:
            self._check_evidence()
        elif not is_score_at_rank(self.gamma, self.rank, self.n_samples):
            raise CertificateError(
                f"a certificate needs 1 ≤ rank ≤ n_samples ≤ {LARGEST_N:g} and a number gamma, got rank={self.rank}, "
                f"n_samples={self.n_samples}, gamma={self.gamma}."
            )
        if self.side == "both" and self.gamma < 0.0:
            raise CertificateError(f"gamma must not be negative where both sides are bounded, got {self.gamma}.")
        if self.bound_given and math.isinf(self.gamma):
            raise CertificateError(f"a bound that was given must be finite, got {self.gamma}.")
        if self.rank is None or certifies(self.n_samples, self.rank, self.eps, self.delta, self.share, self._slack):
            return
        raise CertificateError(
            f"rank {self.rank} of {self.n_samples} samples does not certify eps={self.eps:g} at "
            f"delta={self.delta:g} for {self.n_candidates} candidate(s)."
        )

    def _check_evidence(self) -> None:
        """Raise unless this is a promise about units on average, and their evidence shows it."""
        evidence = self.evidence
        if evidence is None or self.rank is not None or not self.basis.draws.averages or self.bound_given:
            raise CertificateError("a promise about units on average has evidence and no rank; others have a rank.")
        if evidence.n_units != self.n_samples or not is_score_at_rank(self.gamma, 1, self.n_samples):
            raise CertificateError(
                f"a certificate needs evidence of n_samples units and a number gamma, got evidence of "
                f"{evidence.n_units}, n_samples={self.n_samples}, gamma={self.gamma}."
            )
        if not evidence.shows(self.eps, self.share.budget(self.delta)):
            raise CertificateError(
                f"the evidence of {self.n_samples} {self.basis.draws.counted} does not certify eps={self.eps:g} at "
                f"delta={self.delta:g} for {self.n_candidates} candidate(s)."
            )

    @property
    def n_candidates(self) -> int:
        """The number n_F of candidates that share δ."""
        return self.share.n_candidates

    @property
    def weight(self) -> float | None:
        """The part of δ that this candidate uses; None is the even part 1/n_F."""
        return self.share.weight

    @property
    def single(self) -> Certificate:
        """The one certificate that bounds all rows: itself."""
        return self

    @property
    def parts(self) -> dict[None, Certificate]:
        """The certificates that judge rows, by group. Without groups the only key is None."""
        return {None: self}

    @property
    def _slack(self) -> Fraction:
        """The part of δ that the dependence between draws uses up."""
        return self.basis.draws.slack(self.n_samples)

    @property
    def attained_delta(self) -> float:
        """n_F·B(r − 1; N, ε): the probability of failure attained, at most δ.

        For units on average it is n_F/K of the five bets, or δ if units are so few that one bet decides.
        """
        if self.evidence is not None:
            # That it is at most δ was decided exactly.
            return min(self.delta, self.evidence.p_value(self.eps) / float(self.share.fraction) * (1.0 + 1e-15))
        if self.rank is None:  # there is evidence then
            raise CertificateError("a certificate without evidence has a rank.")
        return smallest_delta(self.n_samples, self.rank, self.eps, self.share, self._slack)

    @property
    def chosen_beforehand(self) -> bool:
        """Whether nothing was chosen by the scores: only then is r/(N + 1) the expected violation.

        A bound that has only a part of δ is one of several candidates, or a point of a curve. The one with the smallest
        bound is chosen, and a bound that is small by chance is exceeded more often. Draws that are not one score each,
        not known for certain, or not independent have no such mean at all.
        """
        return self.share.fraction >= 1 and self.basis.draws.has_law

    @property
    def expected_violation(self) -> float:
        """The mean r/(N + 1) of the true violation probability, of a candidate chosen before looking at the scores.

        The best of several candidates was picked by its scores, and its mean violation tends to be larger. For it only
        the promise holds: at most ε with confidence 1 − δ. A bound that was given has no such mean: r/(N + 1) is then
        the share of calibration scores beyond it, with one more score beyond it. Raises `InvalidInput` for units on
        average, for an interval of importance, and for draws that depend on each other.
        """
        return law.rank_of_law(self) / (self.n_samples + 1)

    @property
    def chosen_rank(self) -> int:
        """The rank r that was chosen before looking at the scores. Raises `InvalidInput` if there is none."""
        return law.chosen_rank(self)

    @property
    def n_beyond(self) -> int:
        """How many calibration draws exceed a bound that was given, r − 1."""
        if self.rank is None:
            raise InvalidInput("this certificate has no rank: its bound was not given.")
        return self.rank - 1

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval in which the true violation probability of γ̄ lies, with this probability.

        For continuous scores and one candidate chosen beforehand, the violation follows Beta(r, N − r + 1) exactly;
        this is its central interval. With tied scores the true violation tends to be smaller. If the candidate was
        picked from several by its scores, the true violation tends to be larger, and this interval does not hold. If
        the bound was given, this is the confidence interval of Clopper and Pearson.

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify(range(2065), [0] * 2065, eps=0.05, delta=1e-6)
        >>> [round(end, 4) for end in cert.violation_interval(0.95)]
        [0.0222, 0.0367]
        """
        return law.violation_interval(self, level)

    def outlook(self, m: int, delta: float | None = None) -> int:
        """Return the most violations among the next m draws, with confidence 1 − δ over calibration and draws together.

        The result is the smallest j with P{J > j} ≤ δ, where J is BetaBinomial(m; r, N − r + 1). This law is exact for
        continuous scores and a bound chosen beforehand. Tied scores make J smaller. For a bound that was given, the
        same j holds for every violation probability. If the bound is one of n_F candidates, or of n_F groups, each
        gets its part of δ: then the counts of all hold together, whichever is chosen by the scores. If draws depend on
        each other as declared (`Spaced` with mixing), the dependence of all N + m draws uses up a part of δ. A point
        of a curve has no outlook: ε may have been chosen by the scores.

        Parameters
        ----------
        m : int
            The number of future draws: rows, units, or rows of a series with the same gap between them.
        delta : float in (0, 1), optional
            The probability that more violate. By default that of the certificate.

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify(range(1310), [0] * 1310, eps=0.05, delta=1e-6, rank=32)
        >>> cert.outlook(500, delta=0.05), cert.outlook(500)
        (19, 37)
        """
        return law.outlook(self, m, delta)

    def bound(self, scale: Any = None) -> Any:
        """Return the certified bound on the error: γ̄ without a scale, else γ̄·σ̂(x) for every row.

        For a pair of scales, a pair of bounds. Products are rounded up, as the ends of `interval` are. An ellipsoid has
        no such bound: `interval` is the box around it.
        """
        self.basis.check_scale(scale)
        if self.basis.scoring.matrices:
            raise InvalidInput("with a matrix gauge, γ̄ is a factor and bounds no single error: use interval.")
        if scale is None:
            return self.gamma
        if isinstance(scale, tuple):
            check_same_rows(scale=scale)
            return tuple(bound(self.basis.scoring, self.gamma, part) for part in scale)
        return bound(self.basis.scoring, self.gamma, scale)

    def mean_bound(self, mean_scale: float) -> float:
        """Return the mean of γ̄·σ̂(x) over rows with this mean of σ̂; for a matrix gauge, of its box's half-widths."""
        return mean_bound(self.basis.scoring, self.gamma, mean_scale)

    def interval(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions: lower and upper end, shape (n, 2) or (n, k, 2); see `tube`.

        If y has a known range, the ends are clipped to it; see `clip` of `certify`.

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
        >>> cert.interval([10.0])
        array([[ 9.5, 10.5]])
        """
        check_same_rows(y_pred=y_pred, scale=scale)
        return self.basis.band(self.gamma, y_pred, scale)

    def tube(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified tube around predicted runs: lower and upper end, shape (n, H, 2) or (n, H, k, 2).

        The whole of a future run stays in its tube, with all steps and outputs at once; with a `Share` gauge, at least
        that share of its steps. For an ellipsoid, the tube is the box around it. A tube is the `interval` of runs.

        Parameters
        ----------
        y_pred : array-like of shape (n, H) or (n, H, k)
            The predicted runs.
        scale : array-like, pair of array-likes, float, optional
            σ̂, if one was used at calibration: one value a run (n,), a step (n, H), or a step and output (n, H, k).

        Examples
        --------
        >>> import numpy as np, pacband
        >>> drift = np.random.default_rng(0).standard_normal((500, 20)).cumsum(axis=1)
        >>> growth = np.broadcast_to(np.sqrt(np.arange(1, 21)), (500, 20))
        >>> cert = pacband.certify(drift[..., None], 0 * drift[..., None], growth, eps=0.1, delta=0.01)
        >>> print(cert.promise)
        With confidence 99 %, at least 90 % of future runs satisfy |yₜ − Tₜ(x)| ≤ 2.54818·σ̂ₜ(x) in every step t.
        >>> cert.tube(np.zeros((1, 20)), growth[:1])[0, [0, 19]].round(2)
        array([[ -2.55,   2.55],
               [-11.4 ,  11.4 ]])
        """
        if self.basis.row_shape == ():
            raise InvalidInput("a tube is around runs: this certificate bounds one number a row. Use interval.")
        return self.interval(y_pred, scale)

    def verify(self, y: Any, y_pred: Any = None, scale: Any = None, *, draws: Draws | None = None) -> bool:
        """Recompute the certificate from its data. Return True if γ̄, N and the digest are all the same.

        If it was certified with `draws`, the same draws are needed. A certificate of own scores takes the scores alone:
        ``verify(scores)``. If the bound was given, the number of scores beyond it must come out the same.
        """
        sample, scores = self.basis.drawn(y, y_pred, scale, draws=draws)
        return self.was_made_from(sample, scores)

    def was_made_from(self, sample: Sample, scores: Floats) -> bool:
        """Return True if these draws, with their scores, reproduce the certificate."""
        if self.evidence is not None and sample.sizes is not None:
            same = sample.evidence_at(scores, self.gamma) == self.evidence
            return same and fingerprint(scores, self.gamma) == self.data_digest
        return self.matches(sample.worst_at(scores, self.gamma))

    def matches(self, scores: Floats) -> bool:
        """Return True if these scores reproduce γ̄, N and the digest. Reorders `scores` in place."""
        if len(scores) != self.n_samples or self.rank is None:
            return False
        if self.bound_given:
            beyond = int(np.count_nonzero(scores > self.gamma))
            return beyond == self.rank - 1 and fingerprint(scores, self.gamma) == self.data_digest
        return measure(scores, self.rank) == Measured(self.n_samples, self.gamma, self.data_digest)

    @property
    def inequality(self) -> str:
        """What the certificate bounds, in symbols."""
        return self.basis.inequality(self.gamma)

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return words.promise(self)

    def __str__(self) -> str:
        return words.text(self)

    @property
    def support(self) -> str:
        """What supports the bound: its rank among the draws, or the mean share of rows beyond it."""
        return words.support(self)

    def counts(self, style: str = "") -> tuple[str, str]:
        """Return the numbers that the bound follows from, with their name; `style` formats an integer."""
        return words.counts(self, style)

    def _repr_html_(self) -> str:
        return words.html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        return {
            "kind": "single",
            "promise": self.promise,
            **self.stated(),
            "attained_delta": self.attained_delta,
            "expected_violation": self.expected_violation if self.basis.draws.has_law else None,
        }

    def stated(self) -> dict[str, Any]:
        """Return what the certificate states, without the values that follow from it: some take long to compute."""
        return {
            "kind": "single",
            "gamma": encode(self.gamma),
            "n_samples": self.n_samples,
            "rank": self.rank,
            "n_candidates": self.n_candidates,
            "weight": self.weight,
            **self.basis.to_dict(),
            "created": self.created,
            "pacband_version": self.pacband_version,
            "data_digest": self.data_digest,
            "predecessor": self.predecessor,
            "generation": self.generation,
            "chain_delta": self.chain_delta,
            # Written only where it applies: files of other certificates keep their bytes.
            **({} if self.evidence is None else {"evidence": [list(count) for count in self.evidence.counts]}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        return cls(
            basis=Promise.from_dict(content),
            gamma=decode(content["gamma"]),
            share=DeltaShare(content["n_candidates"], content["weight"]),
            evidence=Evidence(tuple(map(tuple, content["evidence"]))) if "evidence" in content else None,
            **{name: content[name] for name in _PLAIN},
        )


# The attributes that a file states without conversion.
_PLAIN = (
    "n_samples", "rank", "created", "pacband_version", "data_digest", "predecessor", "generation", "chain_delta"
)  # fmt: skip


def issue(
    basis: Promise, measured: Measured, rank: int | None, share: DeltaShare = WHOLE, *, evidence: Evidence | None = None
) -> Certificate:
    """Make the certificate of scores that were measured at this rank, or with this evidence. It is created now."""
    return Certificate(
        basis=basis,
        gamma=measured.gamma,
        n_samples=measured.n_samples,
        rank=rank,
        share=share,
        created=time_of_creation(),
        data_digest=measured.digest,
        evidence=evidence,
    )
