"""The certificate of a family of candidates (Theorem 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pacband.certificate.decision import check_joint
from pacband.certificate.inequality import symbols
from pacband.certificate.portable import decode, encode
from pacband.certificate.promise import Promise
from pacband.certificate.promising import Promising
from pacband.certificate.single import Certificate
from pacband.core.arrays import Floats
from pacband.core.frozen import FrozenMap
from pacband.core.wording import bound, card
from pacband.draws import Draws
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import CertificateError, InvalidInput

__all__ = ["FamilyCertificate", "check_candidates", "sharpest_first", "sharpness_name", "split_candidate"]


def sharpest_first(
    mean_bound: Mapping[str, float], mean_offset: Mapping[str, float], unanswered: Mapping[str, int]
) -> list[str]:
    """Return the names of candidates, the sharpest first, whether their promise has groups or not.

    The sharpest has the smallest mean of γ̄·σ̂(x) plus the mean offset (`pacband.scores.arrays.mean_offset`).
    `unanswered` counts the rows without a finite prediction, in which the band is infinite: a candidate with fewer of
    them comes first. The band is measured before it is clipped to a known range of y: `clip` changes no choice.

    Examples
    --------
    >>> sharpest_first({"a": 2.0, "b": 1.0, "c": 0.5}, dict.fromkeys("abc", 0.0), {"a": 0, "b": 0, "c": 3})
    ['b', 'a', 'c']
    """

    def order(name: str) -> tuple[float, int, float]:
        size = mean_bound[name] + mean_offset[name]
        return math.inf if unanswered[name] else size, unanswered[name], size

    return sorted(mean_bound, key=order)


@dataclass(frozen=True, kw_only=True)
class FamilyCertificate(Promising):
    """One promise for every candidate of a family at once (Theorem 1), and the sharpest of them.

    Because all candidates hold together with confidence 1 − δ, picking one afterwards costs nothing.

    Attributes
    ----------
    best : str
        The candidate with the smallest `sharpness`. If it is infinite for all, the candidate that has a finite band in
        the most rows; among equals, the sharpest in those rows.
    candidates : mapping of str to Certificate
        What each candidate promises.
    mean_bound : mapping of str to float
        The mean of γ̄·σ̂(x) over the calibration rows. Infinite where a prediction is NaN or infinite in some row
        (nonfinite="violate"): there is no finite band in that row.
    sharpness : mapping of str to float
        What `best` minimises: `mean_bound`; for one-sided certificates, where shifting T moves γ̄ the other
        way, the mean distance from y to the bound.
    """

    best: str
    candidates: FrozenMap[str, Certificate]
    mean_bound: FrozenMap[str, float]
    sharpness: FrozenMap[str, float]

    def __post_init__(self) -> None:
        check_joint(self.candidates.values())
        if not set(self.candidates) == set(self.mean_bound) == set(self.sharpness) or self.best not in self.candidates:
            raise CertificateError("best, mean_bound and sharpness of a family must name its candidates.")

    @classmethod
    def of(
        cls,
        certificates: Mapping[str, Certificate],
        mean_scale: Mapping[str, float],
        mean_offset: Mapping[str, float],
        unanswered: Mapping[str, int],
    ) -> Self:
        """Join the certificates of all candidates, and find the sharpest.

        The mean scale and offset over the rows measure how sharp each is.
        """
        answered = {name: cert.mean_bound(mean_scale[name]) for name, cert in certificates.items()}
        mean_bound = {name: math.inf if unanswered[name] else bound for name, bound in answered.items()}
        sharpness = {name: bound + mean_offset[name] for name, bound in mean_bound.items()}
        return cls(
            best=sharpest_first(answered, mean_offset, unanswered)[0],
            candidates=FrozenMap(certificates),
            mean_bound=FrozenMap(mean_bound),
            sharpness=FrozenMap(sharpness),
        )

    @property
    def certificate(self) -> Certificate:
        """The certificate of the best candidate."""
        return self.candidates[self.best]

    @property
    def basis(self) -> Promise:
        """What is promised of the best candidate, and how a row is scored with it."""
        return self.certificate.basis

    @property
    def single(self) -> Certificate:
        """The one certificate that bounds all rows: that of the best candidate."""
        return self.certificate

    @property
    def parts(self) -> dict[None, Certificate]:
        """The certificates that judge rows, by group: that of the best candidate, under None."""
        return self.certificate.parts

    @property
    def n_samples(self) -> int:
        """The number N of calibration draws."""
        return self.certificate.n_samples

    def bound(self, scale: Any = None) -> Any:
        """Return the certified bound on the error of the best candidate."""
        return self.certificate.bound(scale)

    def interval(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified band around predictions of the best candidate."""
        return self.certificate.interval(y_pred, scale)

    def tube(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return the certified tube around runs that the best candidate predicts; see `Certificate.tube`."""
        return self.certificate.tube(y_pred, scale)

    def outlook(self, m: int, delta: float | None = None) -> int:
        """Return the most violations of the best candidate among the next m draws; see `Certificate.outlook`.

        Every candidate uses its share of δ, so the count holds although the best was picked by its scores.
        """
        return self.certificate.outlook(m, delta)

    def verify(self, y: Any, candidates: Mapping[str, Any], *, draws: Draws | None = None) -> bool:
        """Recompute every candidate's certificate from its data. If it was certified with `draws`, they are needed."""
        if set(candidates) != set(self.candidates):
            return False
        return all(
            cert.verify(y, *split_candidate(candidates[name]), draws=draws) for name, cert in self.candidates.items()
        )

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        if len(self.candidates) == 1:
            return self.certificate.promise
        if isinstance(self.basis.draws, UnitDraws):
            limit, noun = "its own bound", self.basis.noun
            kept = self.basis.draws.sentence(self.basis.kept, limit, noun=noun, verb="are within")
            each = f"for each of the {len(self.candidates)} candidates {kept}"
            return f"{self.basis.confidence}, {each}; the sharpest is {self.best!r}."
        return (
            f"{self.basis.confidence}, each of the {len(self.candidates)} candidates keeps {self.basis.kept} of future "
            f"{self.basis.subject} within its own bound; the sharpest is {self.best!r}."
        )

    @property
    def headline(self) -> str:
        """The promise of the best candidate, with its number. It holds although the best was picked by its scores."""
        if len(self.candidates) == 1 or math.isinf(self.certificate.gamma):
            return self.promise
        claim, chosen = self.basis.claim(self.certificate.gamma), f"the sharpest of {len(self.candidates)} candidates"
        return f"{self.basis.confidence}, {claim}. This is {self.best!r}, {chosen}."

    def __str__(self) -> str:
        width = max(len(name) for name in self.candidates)
        lines = [
            f"{'*' if name == self.best else ' '} {name:<{width}}  {self._sharpness_name} "
            f"{self._format_sharpness(name):<10}  {cert.inequality}"
            for name, cert in self.candidates.items()
        ]
        rest = str(self.certificate).split("\n", 1)[1]
        return "\n".join([self.promise, *lines, rest])

    def _format_sharpness(self, name: str) -> str:
        """Format the sharpness of a candidate, rounded up as its bound is."""
        return bound(self.sharpness[name])

    @property
    def _sharpness_name(self) -> str:
        return sharpness_name(self.certificate.side).removesuffix(" from y to the bound")

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{name}{' (best)' if name == self.best else ''}",
                f"{cert.inequality}, {self._sharpness_name} {self._format_sharpness(name)}",
            )
            for name, cert in self.candidates.items()
        ]
        return card(
            "pacband family certificate",
            self.headline,
            [("where", symbols(self.basis)), *self.about.facts(), *rows],
            unit=self.about.unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""
        content = self._content({name: cert.to_dict() for name, cert in self.candidates.items()})
        return {"kind": "family", "promise": self.promise, **content}

    def stated(self) -> dict[str, Any]:
        """Return what the certificate states, without what follows from it."""
        return {"kind": "family", **self._content({name: cert.stated() for name, cert in self.candidates.items()})}

    def _content(self, certificates: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the best candidate, and every candidate with its certificate as given."""
        candidates = [
            {
                "name": name,
                "mean_bound": encode(self.mean_bound[name]),
                "sharpness": encode(self.sharpness[name]),
                "certificate": certificate,
            }
            for name, certificate in certificates.items()
        ]
        return {"best": self.best, "candidates": candidates}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""
        members = content["candidates"]
        return cls(
            best=content["best"],
            candidates=FrozenMap({m["name"]: Certificate.from_dict(m["certificate"]) for m in members}),
            mean_bound=FrozenMap({m["name"]: decode(m["mean_bound"]) for m in members}),
            sharpness=FrozenMap({m["name"]: decode(m["sharpness"]) for m in members}),
        )


def sharpness_name(side: str) -> str:
    """Return the name of what the best candidate of a family minimises, `FamilyCertificate.sharpness`."""
    return "mean half-width" if side == "both" else "mean distance from y to the bound"


def check_candidates(candidates: Any) -> None:
    """Raise unless these are named candidates."""
    if not isinstance(candidates, Mapping) or not candidates:
        raise InvalidInput(
            "candidates must be a non-empty mapping of names to y_pred or (y_pred, scale), "
            f"got {type(candidates).__name__}."
        )
    for name in candidates:
        if not isinstance(name, str):
            raise InvalidInput(f"candidate names must be strings, got {name!r}.")


def split_candidate(candidate: Any, what: str = "y_pred") -> tuple[Any, Any]:
    """Return (y_pred, scale) of a candidate given as y_pred or as (y_pred, scale); `what` names y_pred in the error."""
    if isinstance(candidate, tuple):
        if len(candidate) != 2:
            raise InvalidInput(f"a candidate must be {what} or ({what}, scale), got {len(candidate)} parts.")
        return candidate
    return candidate, None
