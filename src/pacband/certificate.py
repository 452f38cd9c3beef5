"""Certificates: the promise as an immutable, portable value.

A certificate cannot exist unless its numbers carry its promise: B(r − 1; N, ε) ≤ δ/n_F is checked whenever one
is made or loaded. It knows the rule by which rows were scored, so that bands at prediction time are made by
the same rule, and a scale that was used at calibration cannot be forgotten later.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.special import betaincinv

from pacband import __version__
from pacband._binomial import tail_at_most
from pacband._checks import check_probability
from pacband._frozen import FrozenMap
from pacband._labels import Label, as_labels, group_rows, locate_rows
from pacband._storage import read_document, write_document
from pacband._wording import card, complement, confidence, figure, percent, round_up
from pacband.exceptions import CertificateError, InvalidInput, InvalidScale
from pacband.planning import smallest_delta
from pacband.scores import Floats, Matrix, ScoreRule, fingerprint
from pacband.selection import rth_largest

__all__ = ["Certificate", "FamilyCertificate", "GroupCertificate", "load"]

SCHEMA = "pacband/certificate"
SCHEMA_VERSION = 1

ASSUMPTIONS = (
    "calibration rows and future rows are independent draws from one distribution",
    "predictor and scale were built without the calibration rows",
    "ε, δ, the candidates and the rank were settled before the scores were seen",
)


class _Portable(ABC):
    """What every kind of certificate can do: become JSON, and be saved."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""

    @classmethod
    @abstractmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate to a JSON file, atomically: a crash leaves the old file or the new one."""
        return write_document(path, SCHEMA, SCHEMA_VERSION, self.to_dict())


@dataclass(frozen=True, kw_only=True)
class Certificate(_Portable):
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
    assumptions : tuple of str
        What the promise rests on.
    """

    gamma: float
    eps: float
    delta: float
    n_samples: int
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
    assumptions: tuple[str, ...] = ASSUMPTIONS

    def __post_init__(self) -> None:
        if not 1 <= self.rank <= self.n_samples or math.isnan(self.gamma):
            raise CertificateError(
                f"a certificate needs 1 ≤ rank ≤ n_samples and a number gamma, got rank={self.rank}, "
                f"n_samples={self.n_samples}, gamma={self.gamma}."
            )
        if not tail_at_most(self.n_samples, self.rank, self.eps, Fraction(self.delta) * self._share):
            raise CertificateError(
                f"rank {self.rank} of {self.n_samples} samples does not certify eps={self.eps:g} at "
                f"delta={self.delta:g} for {self.n_candidates} candidate(s)."
            )

    @property
    def _share(self) -> Fraction:
        return Fraction(1, self.n_candidates) if self.weight is None else Fraction(self.weight)

    @property
    def rule(self) -> ScoreRule:
        """The rule by which rows are scored."""
        return ScoreRule(side=self.side, gauge=self.gauge, min_scale=self.min_scale, nonfinite=self.nonfinite)

    @property
    def attained_delta(self) -> float:
        """n_F·B(r − 1; N, ε): the probability of failure attained, at most δ."""
        return smallest_delta(self.n_samples, self.rank, self.eps, self._share)

    @property
    def expected_violation(self) -> float:
        """The mean r/(N + 1) of the true violation probability."""
        return self.rank / (self.n_samples + 1)

    def violation_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return where the true violation probability of γ̄ lies, with this probability over calibrations.

        For continuous scores and one candidate settled beforehand it follows Beta(r, N − r + 1) exactly;
        this is its central interval. With tied scores the true violation tends to be smaller.

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify(np.arange(2065.0), np.zeros(2065), eps=0.05, delta=1e-6)
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
        self._check_scale(scale)
        if scale is None:
            return self.gamma
        if isinstance(scale, tuple):
            return tuple(self.rule.bound(self.gamma, part) for part in scale)
        return self.rule.bound(self.gamma, scale)

    def interval(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions: lower and upper end, shape (n, 2) or (n, k, 2).

        Examples
        --------
        >>> from pacband import certify
        >>> cert = certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
        >>> cert.interval([10.0])
        array([[ 9.5, 10.5]])
        """
        self._check_scale(scale)
        return self.rule.band(self.gamma, y_pred, scale)

    def verify(self, y: Any, y_pred: Any, scale: Any = None) -> bool:
        """Recompute the certificate from its data: True where γ̄, N and the digest all come out the same."""
        self._check_scale(scale)
        scores = self.rule.scores(y, y_pred, scale)
        if len(scores) != self.n_samples:
            return False
        return (self.gamma, self.data_digest) == measure(scores, self.rank)

    def _check_scale(self, scale: Any) -> None:
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
        scaled = {"none": "", "symmetric": "·σ̂(x)", "asymmetric": "·σ̂(x)"}[self.scale_kind]
        bound = f"{round_up(self.gamma, 6):g}"
        if not isinstance(self.gauge, str):
            return f"sqrt((y − T(x))ᵀ Σ⁻¹ (y − T(x))) ≤ {bound}{scaled}"
        if self.side == "upper":
            return f"y − T(x) ≤ {bound}{scaled}"
        if self.side == "lower":
            return f"T(x) − y ≤ {bound}{scaled}"
        if self.scale_kind == "asymmetric":
            return f"−{bound}·σ̂⁻(x) ≤ y − T(x) ≤ {bound}·σ̂⁺(x)"
        return f"|y − T(x)| ≤ {bound}{scaled}"

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
        floor = "" if self.min_scale is None else f" σ̂(x) is never taken below {self.min_scale:g}."
        return (
            f"{self.promise}\n"
            f"The bound is the score of rank {self.rank} from the top among {self.n_samples} calibration samples; "
            f"the violation to expect is {percent(self.expected_violation)}.{floor}\n"
            f"It holds if {'; '.join(self.assumptions)}."
        )

    def _repr_html_(self) -> str:
        return card("pacband certificate", self.promise, self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("bound γ̄", figure(self.gamma)),
            ("samples N, rank r", f"{self.n_samples}, {self.rank}"),
            ("δ asked, attained", f"{figure(self.delta)}, {figure(self.attained_delta)}"),
            ("violation to expect", percent(self.expected_violation)),
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
            **{field.name: _encode(getattr(self, field.name)) for field in fields(self)},
            "attained_delta": self.attained_delta,
            "expected_violation": self.expected_violation,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        return cls(**{field.name: _decode(content[field.name]) for field in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class FamilyCertificate(_Portable):
    """One promise for every candidate of a family at once (Theorem 1), and the sharpest of them.

    Because all candidates hold together with confidence 1 − δ, picking one afterwards costs nothing.

    Attributes
    ----------
    best : str
        The candidate with the smallest `sharpness`.
    candidates : mapping of str to Certificate
        What each candidate promises.
    mean_bound : mapping of str to float
        The mean of γ̄·σ̂(x) over the calibration rows.
    sharpness : mapping of str to float
        What `best` minimises: `mean_bound`; for one-sided certificates, where shifting T moves γ̄ the other
        way, the mean distance from y to the bound.
    """

    best: str
    candidates: FrozenMap[str, Certificate]
    mean_bound: FrozenMap[str, float]
    sharpness: FrozenMap[str, float]

    @property
    def certificate(self) -> Certificate:
        """The certificate of the best candidate."""
        return self.candidates[self.best]

    @property
    def eps(self) -> float:
        """The violation ε that each candidate is certified at."""
        return self.certificate.eps

    @property
    def delta(self) -> float:
        """The probability δ that any candidate fails."""
        return self.certificate.delta

    @property
    def n_samples(self) -> int:
        """The number N of calibration rows."""
        return self.certificate.n_samples

    def bound(self, scale: Any = None) -> Any:
        """Return the certified bound on the error of the best candidate."""
        return self.certificate.bound(scale)

    def interval(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions of the best candidate."""
        return self.certificate.interval(y_pred, scale)

    def verify(self, y: Any, candidates: Mapping[str, Any]) -> bool:
        """Recompute every candidate's certificate from its data."""
        if set(candidates) != set(self.candidates):
            return False
        return all(cert.verify(y, *split_candidate(candidates[name])) for name, cert in self.candidates.items())

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return (
            f"With confidence {confidence(self.delta)}, each of the {len(self.candidates)} candidates keeps at "
            f"least {complement(self.eps)} of future errors within its own bound; the sharpest is {self.best!r}."
        )

    def __str__(self) -> str:
        width = max(len(name) for name in self.candidates)
        lines = [
            f"{'*' if name == self.best else ' '} {name:<{width}}  mean bound {figure(self.mean_bound[name]):<10}  "
            f"{cert.inequality}"
            for name, cert in self.candidates.items()
        ]
        rest = str(self.certificate).split("\n", 1)[1]
        return "\n".join([self.promise, *lines, rest])

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{name}{' (best)' if name == self.best else ''}",
                f"{cert.inequality}, mean {figure(self.mean_bound[name])}",
            )
            for name, cert in self.candidates.items()
        ]
        return card("pacband family certificate", self.promise, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        return {
            "kind": "family",
            "promise": self.promise,
            "best": self.best,
            "candidates": [
                {
                    "name": name,
                    "mean_bound": _encode(self.mean_bound[name]),
                    "sharpness": _encode(self.sharpness[name]),
                    "certificate": cert.to_dict(),
                }
                for name, cert in self.candidates.items()
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        members = content["candidates"]
        return cls(
            best=content["best"],
            candidates=FrozenMap({m["name"]: Certificate.from_dict(m["certificate"]) for m in members}),
            mean_bound=FrozenMap({m["name"]: _decode(m["mean_bound"]) for m in members}),
            sharpness=FrozenMap({m["name"]: _decode(m["sharpness"]) for m in members}),
        )


@dataclass(frozen=True, kw_only=True)
class GroupCertificate(_Portable):
    """One promise within every group of rows at once: each of G groups is certified at δ/G.

    Attributes
    ----------
    groups : mapping of label to Certificate
        What each group promises.
    """

    groups: FrozenMap[Label, Certificate]

    @property
    def _any(self) -> Certificate:
        return next(iter(self.groups.values()))

    @property
    def eps(self) -> float:
        """The violation ε within each group."""
        return self._any.eps

    @property
    def delta(self) -> float:
        """The probability δ that any group fails."""
        return self._any.delta

    @property
    def n_samples(self) -> int:
        """The number of calibration rows over all groups."""
        return sum(cert.n_samples for cert in self.groups.values())

    def gamma(self, groups: Any) -> Floats:
        """Return γ̄ of every row's own group; a label that was not calibrated is refused."""
        gammas = np.array([cert.gamma for cert in self.groups.values()])
        return np.asarray(gammas[locate_rows(as_labels(groups), list(self.groups))])

    def interval(self, y_pred: Any, groups: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions, each by its own row's group."""
        self._any._check_scale(scale)
        gamma = self.gamma(groups)
        if len(gamma) != len(y_pred):
            raise InvalidInput(f"groups and y_pred must have one length, got {len(gamma)} and {len(y_pred)}.")
        return self._any.rule.band(gamma, y_pred, scale)

    def verify(self, y: Any, y_pred: Any, groups: Any, scale: Any = None) -> bool:
        """Recompute every group's certificate from its data."""
        self._any._check_scale(scale)
        scores = self._any.rule.scores(y, y_pred, scale)
        members = group_rows(as_labels(groups))
        return set(members) == set(self.groups) and all(
            len(members[label]) == cert.n_samples
            and (cert.gamma, cert.data_digest) == measure(scores[members[label]], cert.rank)
            for label, cert in self.groups.items()
        )

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return (
            f"With confidence {confidence(self.delta)}, at least {complement(self.eps)} of future errors within each "
            f"of the {len(self.groups)} groups stay within the bound of that group."
        )

    def __str__(self) -> str:
        width = max(len(str(label)) for label in self.groups)
        lines = [
            f"  {label!s:<{width}}  {cert.inequality}  (rank {cert.rank} of {cert.n_samples})"
            for label, cert in self.groups.items()
        ]
        return "\n".join([self.promise, *lines, f"It holds if {'; '.join(self._any.assumptions)}."])

    def _repr_html_(self) -> str:
        rows = [
            (str(label), f"{cert.inequality} (rank {cert.rank} of {cert.n_samples})")
            for label, cert in self.groups.items()
        ]
        return card("pacband group certificate", self.promise, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        return {
            "kind": "groups",
            "promise": self.promise,
            "groups": [{"label": label, "certificate": cert.to_dict()} for label, cert in self.groups.items()],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        return cls(groups=FrozenMap({g["label"]: Certificate.from_dict(g["certificate"]) for g in content["groups"]}))


def load(path: str | os.PathLike[str]) -> Certificate | FamilyCertificate | GroupCertificate:
    """Read a certificate from its file.

    Raises
    ------
    CertificateError
        If the file is damaged, truncated, edited, or written by a newer pacband; the message says which.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> path = cert.save(pathlib.Path(tempfile.mkdtemp()) / "cert.json")
    >>> pacband.load(path) == cert
    True
    """
    content = read_document(path, SCHEMA, SCHEMA_VERSION)
    kinds: dict[str, type[Certificate] | type[FamilyCertificate] | type[GroupCertificate]] = {
        "single": Certificate,
        "family": FamilyCertificate,
        "groups": GroupCertificate,
    }
    try:
        return kinds[content["kind"]].from_dict(content)
    except CertificateError as error:
        raise CertificateError(f"{os.fspath(path)}: {error}") from None


def issue(
    scores: Floats,
    *,
    rule: ScoreRule,
    scale_kind: str,
    eps: float,
    delta: float,
    rank: int,
    n_candidates: int,
    weight: float | None = None,
) -> Certificate:
    """Make the certificate of scores, which are reordered."""
    gamma, digest = measure(scores, rank)
    return Certificate(
        gamma=gamma,
        eps=eps,
        delta=delta,
        n_samples=len(scores),
        rank=rank,
        n_candidates=n_candidates,
        weight=weight,
        side=rule.side,
        scale_kind=scale_kind,
        min_scale=rule.min_scale,
        gauge=rule.gauge,
        nonfinite=rule.nonfinite,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        data_digest=digest,
    )


def measure(scores: Floats, rank: int) -> tuple[float, str]:
    """Return γ̄ and the digest of scores, which are reordered."""
    gamma = rth_largest(scores, rank)
    return gamma, fingerprint(scores, gamma)


def split_candidate(candidate: Any) -> tuple[Any, Any]:
    """Return (y_pred, scale) of a candidate given as y_pred or as (y_pred, scale)."""
    if isinstance(candidate, tuple):
        if len(candidate) != 2:
            raise InvalidInput(f"a candidate must be y_pred or (y_pred, scale), got {len(candidate)} parts.")
        return candidate
    return candidate, None


def _encode(value: Any) -> Any:
    """Tuples as lists, and infinite floats as words, for JSON has no name for them."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return [_encode(item) for item in value] if isinstance(value, tuple) else value


def _decode(value: Any) -> Any:
    if value in ("Infinity", "-Infinity"):
        return float(value)
    return tuple(_decode(item) for item in value) if isinstance(value, list) else value
