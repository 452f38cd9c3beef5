"""The certificate of every ε at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from pacband.certificate.about import About
from pacband.certificate.portable import encode
from pacband.certificate.promise import ANY_EPS, Promise, assumptions_of
from pacband.certificate.single import Certificate, issue
from pacband.core.arrays import Floats
from pacband.core.checks import check_probability
from pacband.core.wording import bound, card, confidence, round_up
from pacband.draws import ROWS
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import WHOLE, DeltaShare, min_samples
from pacband.planning.binomial import covering_delta
from pacband.scores import ScoreRule
from pacband.selection import measure

__all__ = ["Curve"]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """With confidence 1 − δ, for every ε at once: at least 1 − ε of future errors stay within γ̄(ε)·σ̂(x).

    Made by `certify_curve`.

    Attributes
    ----------
    delta : float
        The largest probability that the curve fails at any ε; with several candidates, that any of theirs fails.
    share : DeltaShare
        The part of δ that this curve uses: 1/n_F, or the candidate's weight.
    local_delta : float
        η, the probability that one given level fails.
    n_samples : int
        N.
    levels, ranks, gammas : tuple
        At violation `levels[k]` the bound is `gammas[k]`, the score of rank `ranks[k]`. The levels increase.
    """

    delta: float
    local_delta: float
    n_samples: int
    levels: tuple[float, ...]
    ranks: tuple[int, ...]
    gammas: tuple[float, ...]
    scoring: ScoreRule = field(repr=False)
    n_outputs: int = field(repr=False)
    scale_kind: str = field(repr=False)
    scores: Floats = field(repr=False, compare=False)
    share: DeltaShare = WHOLE
    n_steps: int | None = field(default=None, repr=False)
    about: About = field(default=About(), repr=False)

    @property
    def n_candidates(self) -> int:
        """The number n_F of candidates that share δ, among which this one may have been picked by its scores."""
        return self.share.n_candidates

    @property
    def own_delta(self) -> float:
        """The part of δ that this curve uses: the curve alone fails with at most this probability."""
        return self.share.own_delta(self.delta)

    @property
    def smallest_eps(self) -> float:
        """The smallest ε for which the curve has a bound."""
        return self.levels[0]

    def rank(self, eps: float) -> int:
        """Return the rank whose score bounds the errors at this ε."""
        return self.ranks[self._at(eps)]

    def gamma(self, eps: float) -> float:
        """Return γ̄(ε); ε may depend on the data in any way."""
        return self.gammas[self._at(eps)]

    def interval(self, y_pred: Any, scale: Any = None, *, eps: float) -> Floats:
        """Return the certified band at this ε around predictions, shape (n, 2) or (n, k, 2)."""
        return self.certificate(eps).interval(y_pred, scale)

    def certificate(self, eps: float) -> Certificate:
        """Return the certificate of one point of the curve. It uses a part of the curve's δ that suffices for it."""
        eps, rank = check_probability("eps", eps), self.rank(eps)
        if len(self.scores) != self.n_samples:
            raise InvalidInput("this curve was made from a summary of the scores: certify the rows at this ε instead.")
        first, second, _, *others = assumptions_of(self.scoring, ROWS, runs=self.n_steps is not None)
        basis = Promise(
            eps=eps,
            delta=self.delta,
            scoring=self.scoring,
            scale_kind=self.scale_kind,
            n_outputs=self.n_outputs,
            n_steps=self.n_steps,
            about=self.about,
            assumptions=(first, second, ANY_EPS, *others),
        )
        weight = covering_delta(self.n_samples, rank, eps, Fraction(self.delta))
        return issue(basis, measure(self.scores.copy(), rank), rank, DeltaShare(self.n_candidates, weight))

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return (
            f"With confidence {confidence(self.delta)}{self._jointly}, for all ε ≥ {round_up(self.smallest_eps, 3):g} "
            f"at once: at least 1 − ε of future {'errors' if self.n_steps is None else 'runs'} stay within the bound "
            "of that ε."
        )

    @property
    def _jointly(self) -> str:
        return f", for all {self.n_candidates} candidates at once" if self.n_candidates > 1 else ""

    def __str__(self) -> str:
        return "\n".join([self.promise, *(f"  ε = {eps:<6g} {text}" for eps, text in self._examples())])

    def _repr_html_(self) -> str:
        return card("pacband curve", self.promise, [(f"ε = {eps:g}", text) for eps, text in self._examples()])

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON-ready values."""
        return {
            "kind": "curve",
            "promise": self.promise,
            "delta": self.delta,
            "n_candidates": self.n_candidates,
            "local_delta": self.local_delta,
            "n_samples": self.n_samples,
            "levels": list(self.levels),
            "ranks": list(self.ranks),
            "gammas": [encode(gamma) for gamma in self.gammas],
        }

    def _at(self, eps: float) -> int:
        eps = check_probability("eps", eps)
        if eps < self.smallest_eps:
            raise NotEnoughSamples(
                f"eps must be at least {round_up(self.smallest_eps, 6):g}, the smallest that this curve of "
                f"{self.n_samples} samples certifies, got {eps!r}.",
                n_samples=self.n_samples,
                needed=min_samples(eps, self.local_delta),
                eps_here=self.smallest_eps,
            )
        return int(np.searchsorted(self.levels, eps, side="right")) - 1

    def _examples(self) -> list[tuple[float, str]]:
        shown = [eps for eps in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if self.smallest_eps <= eps <= self.levels[-1]]
        return [(eps, f"bound {bound(self.gamma(eps))}, rank {self.rank(eps)}") for eps in shown or [self.smallest_eps]]
