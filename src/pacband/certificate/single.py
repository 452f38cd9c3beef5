"""The certificate of one pair (T, σ̂)."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from scipy.special import betaincinv

from pacband import __version__
from pacband.certificate.chain import check_chain
from pacband.certificate.portable import Portable, decode, encode
from pacband.core.arrays import Floats, Numbers, as_numbers, check_same_rows
from pacband.core.checks import check_positive_integer, check_probability
from pacband.core.wording import card, complement, confidence, figure, percent, round_up
from pacband.exceptions import CertificateError, InvalidInput, InvalidScale
from pacband.planning import LARGEST_N, check_eps, smallest_delta
from pacband.planning.binomial import tail_at_most
from pacband.scores import Matrix, ScoreRule
from pacband.scores.columns import Columns
from pacband.selection import Measured, measure

__all__ = ["Certificate", "check_joint", "issue"]

ASSUMPTIONS = (
    "calibration rows and future rows are independent draws from one distribution",
    "predictor and scale were built without the calibration rows",
    "ε, δ, the candidates and the rank were settled before the scores were seen",
)


@dataclass(frozen=True, kw_only=True)
class Certificate(Portable):
    """With confidence 1 − δ, at least 1 − ε of future errors satisfy |y − T(x)| ≤ γ̄·σ̂(x).

    Made by `certify`; saved with `save`, read back with `pacband.load`.

    Attributes
    ----------
    gamma : float
        γ̄, the r-th largest calibration score. Infinite where no finite bound can be promised.
    eps, delta : float
        The promise.
    n_samples, rank : int
        N and r.
    n_outputs : int
        How many outputs one score takes together.
    n_candidates : int
        The number n_F of candidates that share δ.
    weight : float or None
        The share of δ that this candidate spends; None is the even share 1/n_F.
    side : {"both", "upper", "lower"}
        Which errors are bounded.
    scale_kind : {"none", "symmetric", "asymmetric"}
        Whether rows were scored with a scale, which `interval` then asks for.
    min_scale : float or None
        The declared floor of σ̂.
    gauge : "max" or tuple of tuples of float
        How the errors of several outputs make one score.
    nonfinite : {"raise", "violate"}
        What NaN and infinite predictions count as.
    created : str
        When it was made, in UTC.
    pacband_version : str
        What made it.
    data_digest : str
        An order-independent fingerprint of the calibration scores.
    columns : Columns or None
        The columns of the table it was made from, where it was made from one.
    assumptions : tuple of str
        What the promise rests on.
    predecessor : str or None
        The digest of the certificate that this one follows; see `recalibrate`.
    generation : int
        Its place in the chain of certificates, from 1.
    chain_delta : float or None
        The probability that any certificate of the chain fails.
    """

    gamma: float
    eps: float
    delta: float
    n_samples: int
    n_outputs: int = 1
    rank: int
    n_candidates: int = 1
    weight: float | None = None
    side: str = "both"
    scale_kind: str = "none"
    min_scale: float | None = None
    gauge: str | Matrix = "max"
    nonfinite: str = "raise"
    created: str
    pacband_version: str = __version__
    data_digest: str
    columns: Columns | None = None
    assumptions: tuple[str, ...] = ASSUMPTIONS
    predecessor: str | None = None
    generation: int = 1
    chain_delta: float | None = None

    def __post_init__(self) -> None:
        try:
            check_eps(self.eps)
            check_probability("delta", self.delta)
            for name in ("n_candidates", "n_outputs", "generation"):
                check_positive_integer(name, getattr(self, name))
            if self.weight is not None and self.weight != 1.0:
                check_probability("weight", self.weight)
            if self.chain_delta is not None:
                check_probability("chain_delta", self.chain_delta)
            ScoreRule.create(side=self.side, gauge=self.gauge, min_scale=self.min_scale, nonfinite=self.nonfinite)
        except InvalidInput as error:
            raise CertificateError(f"no certificate can say this: {error}") from None
        check_chain(self.delta, self.predecessor, self.generation, self.chain_delta)
        if not _is_score_at_rank(self.gamma, self.rank, self.n_samples):
            raise CertificateError(
                f"a certificate needs 1 ≤ rank ≤ n_samples ≤ {LARGEST_N:g} and a number gamma, got rank={self.rank}, "
                f"n_samples={self.n_samples}, gamma={self.gamma}."
            )
        if self.side == "both" and self.gamma < 0.0:
            raise CertificateError(f"gamma must not be negative where both sides are bounded, got {self.gamma}.")
        if not _certifies(self.n_samples, self.rank, self.eps, self.delta, self.n_candidates, self.weight):
            raise CertificateError(
                f"rank {self.rank} of {self.n_samples} samples does not certify eps={self.eps:g} at "
                f"delta={self.delta:g} for {self.n_candidates} candidate(s)."
            )

    @property
    def share(self) -> Fraction:
        """The share of δ that this certificate spends."""
        return _share(self.n_candidates, self.weight)

    @property
    def rule(self) -> ScoreRule:
        """The rule by which rows are scored."""
        return ScoreRule(side=self.side, gauge=self.gauge, min_scale=self.min_scale, nonfinite=self.nonfinite)

    @property
    def attained_delta(self) -> float:
        """n_F·B(r − 1; N, ε): the probability of failure attained, at most δ."""
        return _attained(self.n_samples, self.rank, self.eps, self.n_candidates, self.weight)

    @property
    def expected_violation(self) -> float:
        """The mean r/(N + 1) of the true violation probability, of a candidate chosen before looking at the scores.

        The best of several candidates was picked by its scores, and its mean violation tends to be larger: all that
        holds of it is the promise, at most ε with confidence 1 − δ.
        """
        return self.rank / (self.n_samples + 1)

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return where the true violation probability of γ̄ lies, with this probability over calibrations.

        For continuous scores and one candidate chosen beforehand it follows Beta(r, N − r + 1) exactly;
        this is its central interval. With tied scores the true violation tends to be smaller. Of the best of several
        candidates, picked by its scores, the true violation tends to be larger, and this interval does not hold.

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify(range(2065), [0] * 2065, eps=0.05, delta=1e-6)
        >>> [round(end, 4) for end in cert.violation_interval(0.95)]
        [0.0222, 0.0367]
        """
        level = check_probability("level", level)
        a, b = self.rank, self.n_samples - self.rank + 1
        low, high = betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)
        return float(low), float(high)

    def bound(self, scale: Any = None) -> Any:
        """Return the certified bound on the error: γ̄ without a scale, else γ̄·σ̂(x) for every row.

        For a pair of scales, a pair of bounds. Products are rounded up; see `ScoreRule.band`.
        """
        self.check_scale(scale)
        if scale is None:
            return self.gamma
        if isinstance(scale, tuple):
            check_same_rows(scale=scale)
            return tuple(self.rule.bound(self.gamma, part) for part in scale)
        return self.rule.bound(self.gamma, scale)

    def mean_bound(self, mean_scale: float) -> float:
        """Return the mean of γ̄·σ̂(x) over rows with this mean of σ̂; for a matrix gauge, of its box's half-widths."""
        return self.rule.mean_bound(self.gamma, mean_scale)

    def interval(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions: lower and upper end, shape (n, 2) or (n, k, 2).

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
        >>> cert.interval([10.0])
        array([[ 9.5, 10.5]])
        """
        self.check_scale(scale)
        check_same_rows(y_pred=y_pred, scale=scale)
        return self.rule.band(self.gamma, self.check_outputs("y_pred", y_pred), scale)

    def verify(self, y: Any, y_pred: Any, scale: Any = None) -> bool:
        """Recompute the certificate from its data: True where γ̄, N and the digest all come out the same."""
        self.check_scale(scale)
        check_same_rows(y=y, y_pred=y_pred, scale=scale)
        scores = self.rule.scores(self.check_outputs("y", y), y_pred, scale)
        return self.states(scores)

    def states(self, scores: Floats) -> bool:
        """Whether these are the scores it was made from, which are reordered."""
        if len(scores) != self.n_samples:
            return False
        return measure(scores, self.rank) == Measured(self.n_samples, self.gamma, self.data_digest)

    def check_outputs(self, name: str, column: Any) -> Numbers:
        """Return the column as an array with as many outputs as were calibrated, or raise."""
        array = as_numbers(name, column, empty=True)
        outputs = array.shape[1] if array.ndim == 2 else 1
        if len(array) and outputs != self.n_outputs:
            raise InvalidInput(f"this certificate bounds {self.n_outputs} output(s), got {name} with {outputs}.")
        return array

    def check_scale(self, scale: Any) -> None:
        """Raise unless a scale is given just as at calibration: none, one, or a pair."""
        given = "none" if scale is None else "asymmetric" if isinstance(scale, tuple) else "symmetric"
        wanted = {
            "none": "no scale",
            "symmetric": "a scale, one value per row",
            "asymmetric": "a scale pair (lower, upper)",
        }
        if given != self.scale_kind:
            raise InvalidScale(f"this certificate was calibrated with {wanted[self.scale_kind]}, got {wanted[given]}.")

    @property
    def inequality(self) -> str:
        """What the certificate bounds, in symbols."""
        bound = f"{round_up(self.gamma, 6):g}"
        if not isinstance(self.gauge, str):
            return f"sqrt((y − T(x))ᵀ Σ⁻¹ (y − T(x))) ≤ {bound}{self._factor()}"
        of, each = ("ₖ", " in every output k") if self.n_outputs > 1 else ("", "")
        error, minus_error = f"y{of} − T{of}(x)", f"T{of}(x) − y{of}"
        if self.scale_kind == "asymmetric":
            low, high = self._factor("⁻"), self._factor("⁺")
            return f"−{bound}{low} ≤ {error} ≤ {bound}{high}{each}"
        left = {"both": f"|{error}|", "upper": error, "lower": minus_error}[self.side]
        return f"{left} ≤ {bound}{self._factor()}{each}"

    def _factor(self, end: str = "") -> str:
        """·σ̂(x), with the floor that is put under it."""
        if self.scale_kind == "none":
            return ""
        sigma = f"σ̂{end}(x)"
        return f"·{sigma}" if self.min_scale is None else f"·max({sigma}, {round_up(self.min_scale, 6):g})"

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        if math.isinf(self.gamma):
            return (
                f"No finite bound can be promised at eps={self.eps:g}: {self.rank} or more of the "
                f"{self.n_samples} calibration errors count as infinite."
            )
        jointly = f", for all {self.n_candidates} candidates at once" if self.n_candidates > 1 else ""
        return (
            f"With confidence {confidence(self.delta)}{jointly}, at least {complement(self.eps)} of future "
            f"errors satisfy {self.inequality}."
        )

    def __str__(self) -> str:
        return (
            f"{self.promise}\n"
            f"The bound is the score of rank {self.rank} from the top among {self.n_samples} calibration samples"
            f"{self._expected_words()}.\n"
            f"It holds if {'; '.join(self.assumptions)}.{self._chain_words()}"
        )

    def _expected_words(self) -> str:
        # r/(N + 1) is the mean for a candidate that was chosen beforehand. The best of several tends to have more.
        return "" if self.n_candidates > 1 else f"; the violation to expect is {percent(self.expected_violation)}"

    def _chain_words(self) -> str:
        if self.predecessor is None or self.chain_delta is None:
            return ""
        return (
            f"\nIt is number {self.generation} of a chain, after {self.predecessor[:16]}…; with confidence "
            f"{confidence(self.chain_delta)} every certificate of the chain holds."
        )

    def _repr_html_(self) -> str:
        return card("pacband certificate", self.promise, self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("bound γ̄", figure(self.gamma)),
            ("samples N, rank r", f"{self.n_samples}, {self.rank}"),
            ("δ asked, attained", f"{figure(self.delta)}, {figure(self.attained_delta)}"),
            *([("violation to expect", percent(self.expected_violation))] if self.n_candidates == 1 else []),
            ("candidates", str(self.n_candidates)),
            ("holds if", "; ".join(self.assumptions)),
            ("made", f"{self.created} by pacband {self.pacband_version}"),
            ("data digest", self.data_digest),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        return {
            "kind": "single",
            "promise": self.promise,
            **self.stated(),
            "attained_delta": self.attained_delta,
            "expected_violation": self.expected_violation,
        }

    def stated(self) -> dict[str, Any]:
        """Return what the certificate states, without what follows from it, some of which takes long to compute."""
        return {
            "kind": "single",
            **{field.name: encode(getattr(self, field.name)) for field in fields(self)},
            "columns": None if self.columns is None else self.columns.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        columns = content["columns"]
        known = {field.name: decode(content[field.name]) for field in fields(cls) if field.name != "columns"}
        return cls(**known, columns=None if columns is None else Columns.from_dict(columns))


# The groups of a large table are many, and their numbers of rows few: what is decided exactly is decided once.


@lru_cache(maxsize=1 << 12)
def _share(n_candidates: int, weight: float | None) -> Fraction:
    return Fraction(1, n_candidates) if weight is None else Fraction(weight)


@lru_cache(maxsize=1 << 12)
def _certifies(n_samples: int, rank: int, eps: float, delta: float, n_candidates: int, weight: float | None) -> bool:
    return tail_at_most(n_samples, rank, eps, Fraction(delta) * _share(n_candidates, weight))


@lru_cache(maxsize=1 << 12)
def _attained(n_samples: int, rank: int, eps: float, n_candidates: int, weight: float | None) -> float:
    return smallest_delta(n_samples, rank, eps, _share(n_candidates, weight))


def issue(
    measured: Measured,
    *,
    n_outputs: int,
    rule: ScoreRule,
    scale_kind: str,
    eps: float,
    delta: float,
    rank: int,
    n_candidates: int,
    weight: float | None = None,
    columns: Columns | None = None,
) -> Certificate:
    """Make the certificate of scores that were measured at this rank, now."""
    return Certificate(
        gamma=measured.gamma,
        eps=eps,
        delta=delta,
        n_samples=measured.n_samples,
        n_outputs=n_outputs,
        rank=rank,
        n_candidates=n_candidates,
        weight=weight,
        side=rule.side,
        scale_kind=scale_kind,
        min_scale=rule.min_scale,
        gauge=rule.gauge,
        nonfinite=rule.nonfinite,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        data_digest=measured.digest,
        columns=columns,
    )


def _is_score_at_rank(gamma: Any, rank: Any, n_samples: Any) -> bool:
    try:
        return 1 <= operator.index(rank) <= operator.index(n_samples) <= LARGEST_N and not math.isnan(gamma)
    except (TypeError, OverflowError):  # no numbers, or an integer that no float comes near
        return False


def check_joint(certificates: Collection[Certificate]) -> None:
    """Raise unless these certificates hold together: one (ε, δ), of which they spend no more than all."""
    promises = {(cert.eps, cert.delta) for cert in certificates}
    shares = Counter(cert.share for cert in certificates)
    if len(promises) != 1 or sum(share * times for share, times in shares.items()) > 1:
        raise CertificateError(
            f"{len(certificates)} certificates do not make one promise: they must have one eps and delta, and their "
            "shares of delta must not exceed it."
        )
