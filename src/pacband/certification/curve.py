"""A bound for every ε at once, so that ε may be chosen after the fact.

The true violation probabilities V₁ ≤ V₂ ≤ … of the largest score, the second largest, … are the order
statistics of N uniform numbers (where scores are continuous; with ties they are smaller). One certificate bounds
one of them. A curve bounds them all: levels e₁ ≤ e₂ ≤ … such that

    P{V_r ≤ e_r for every r} ≥ 1 − δ.

Every level is given the same chance η of failing alone, B(r − 1; N, e_r) = η, so that no part of the curve is
favoured, and η is the largest for which the chance that *any* of them fails, computed exactly
(`pacband.certification.crossing`), is at most δ. The inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, of levels
(r − 1)/N + sqrt(ln(1/δ)/2N), is far from this where ε is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import bdtrik, betaincc, betainccinv

from pacband.certificate import Certificate
from pacband.certificate.portable import encode
from pacband.certificate.single import ASSUMPTIONS, issue
from pacband.certification.crossing import crossing_probability
from pacband.certification.terms import rounded_down
from pacband.core.arrays import Floats, as_numbers, check_same_rows
from pacband.core.checks import check_positive_integer, check_probability
from pacband.core.wording import card, confidence, figure, round_up
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import min_samples
from pacband.scores import ScoreRule
from pacband.selection import measure
from pacband.selection.ranked import Ranked

__all__ = ["Curve", "certify_curve", "curve_of_scores"]

Ranks: TypeAlias = npt.NDArray[np.int64]

# How closely the chance that any level fails is brought to δ, from below.
_ACCURACY = 1e-6


@dataclass(frozen=True, kw_only=True)
class Curve:
    """With confidence 1 − δ, for every ε at once: at least 1 − ε of future errors stay within γ̄(ε)·σ̂(x).

    Made by `certify_curve`.

    Attributes
    ----------
    delta : float
        The probability that the curve fails anywhere; of one of several candidates, that any of their curves does.
    n_candidates : int
        The number n_F of candidates that share δ, among which this one may have been picked by its scores.
    share : Fraction
        The share of δ that this curve spends: 1/n_F, or the candidate's weight.
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
    rule: ScoreRule = field(repr=False)
    n_outputs: int = field(repr=False)
    scale_kind: str = field(repr=False)
    scores: Floats = field(repr=False, compare=False)
    n_candidates: int = 1
    share: Fraction = Fraction(1)

    @property
    def own_delta(self) -> float:
        """The share of δ that this curve spends, as a probability: it alone fails no more often than this."""
        return rounded_down(Fraction(self.delta) * self.share)

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
        """Return the certificate of one point of the curve, which spends its share η/δ of the curve's δ."""
        single = issue(
            measure(self.scores.copy(), self.rank(eps)),
            n_outputs=self.n_outputs,
            rule=self.rule,
            scale_kind=self.scale_kind,
            eps=check_probability("eps", eps),
            delta=self.delta,
            rank=self.rank(eps),
            n_candidates=self.n_candidates,
            # Levels were rounded, by less than this.
            weight=min(1.0, self.local_delta / self.delta * (1.0 + 1e-9)),
        )
        return replace(
            single, assumptions=(*ASSUMPTIONS[:2], "δ was chosen before looking at the scores; ε need not be")
        )

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return (
            f"With confidence {confidence(self.delta)}{self._jointly}, for every ε from "
            f"{round_up(self.smallest_eps, 3):g} on at once: at least 1 − ε of future errors stay within the bound of "
            "that ε."
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
        return [
            (eps, f"bound {figure(self.gamma(eps))}, rank {self.rank(eps)}") for eps in shown or [self.smallest_eps]
        ]


def certify_curve(
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    delta: float = 1e-6,
    eps: Iterable[float] | None = None,
    max_eps: float = 0.5,
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
) -> Curve:
    """Certify the errors for every ε at once, so that ε may be picked after the curve was seen.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`: rows that neither the predictor nor the scale has seen.
    delta : float in (0, 1)
        The probability that the curve fails at any ε.
    eps : iterable of float, optional
        Certify these ε only, all at once: a little sharper than the whole curve, and quick for any N. (Another
        ε then has the bound of the next smaller one.)
    max_eps : float in (0, 1)
        Without `eps`: the largest ε of interest. Above it, the bound stays what it is there.
    side, min_scale, nonfinite, gauge
        As in `certify`.
    n_candidates : int
        If this model is one of n_F that you will choose among, say how many: each curve spends δ/n_F, so that all
        hold together, and the one that is chosen holds, with confidence 1 − δ.

    Notes
    -----
    From rank 256 on, the curve steps over ranks: by an eighth of √r, the spread of the r-th violation, or by
    r/150 where that is more. This costs next to no sharpness and keeps ten million samples a matter of seconds.

    References
    ----------
    .. [1] A. Moscovich, B. Nadler, "Fast calculation of boundary crossing probabilities for Poisson processes",
       Statistics & Probability Letters 123, 2017.
    .. [2] A. Moscovich, B. Nadler, C. Spiegelman, "On the exact Berk-Jones statistics and their p-value
       calculation", Electronic Journal of Statistics 10, 2016: levels of equal local chance.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> y = np.random.default_rng(0).standard_normal(2000)
    >>> curve = pacband.certify_curve(y, np.zeros(2000), delta=0.01)
    >>> [round(curve.gamma(eps), 2) for eps in (0.02, 0.05, 0.1)]
    [2.55, 2.11, 1.74]
    >>> curve.rank(0.05), pacband.max_rank(2000, 0.05, 0.01)  # what it costs to choose ε afterwards
    (69, 78)
    """
    delta = check_probability("delta", delta)
    grid = None if eps is None else _check_grid(eps)
    target = as_numbers("y", y)
    rule = ScoreRule.create(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite)
    check_same_rows(y=y, y_pred=y_pred, scale=scale)
    n_candidates = check_positive_integer("n_candidates", n_candidates)
    return curve_of_scores(
        rule.scores(target, y_pred, scale),
        delta=delta,
        share=Fraction(1, n_candidates),
        n_candidates=n_candidates,
        eps=grid,
        max_eps=check_probability("max_eps", max_eps),
        rule=rule,
        n_outputs=int(target.shape[1]) if target.ndim == 2 else 1,
        scale_kind=rule.spread(scale, target.shape).kind,
    )


def curve_of_scores(
    scores: Floats | Ranked,
    *,
    delta: float,
    share: Fraction = Fraction(1),
    n_candidates: int = 1,
    eps: Floats | None = None,
    max_eps: float = 0.5,
    rule: ScoreRule,
    n_outputs: int,
    scale_kind: str,
) -> Curve:
    """Return the curve of scores that were computed already, or of a summary of them that does not err downwards.

    It spends a share of δ: the even one of n_F candidates, or a candidate's weight.
    """
    n_samples = len(scores)
    most = max(1, int(max_eps * n_samples))
    own_delta = rounded_down(Fraction(delta) * share)
    eta = _largest_eta(n_samples, own_delta, most if eps is None else tuple(eps.tolist()))
    levels, ranks = _boundary(n_samples, most if eps is None else eps, eta)
    if eps is not None and not len(ranks):
        largest = float(eps[-1])
        needed = min_samples(largest, own_delta)
        raise NotEnoughSamples(
            f"eps={largest:g} and delta={delta:g} need at least {needed} samples, got n_samples={n_samples}.",
            n_samples=n_samples,
            needed=needed,
        )
    ranked = scores if isinstance(scores, Ranked) else Ranked.of(scores)
    return Curve(
        delta=delta,
        local_delta=eta,
        n_samples=n_samples,
        levels=tuple(levels.tolist()),
        ranks=tuple(ranks.tolist()),
        gammas=tuple(ranked.at(ranks).tolist()),
        rule=rule,
        n_outputs=n_outputs,
        scale_kind=scale_kind,
        scores=ranked.values,
        n_candidates=n_candidates,
        share=share,
    )


@lru_cache(maxsize=256)
def _largest_eta(n_samples: int, delta: float, design: int | tuple[float, ...]) -> float:
    """Return the largest η, to six digits, whose boundary is crossed with a probability of at most δ."""
    grid = design if isinstance(design, int) else np.array(design)

    @cache
    def excess(log_eta: float) -> float:
        times, counts = _boundary(n_samples, grid, math.exp(log_eta))
        if not len(counts):
            return -math.inf
        return math.log(crossing_probability(n_samples, times, counts, accuracy=0.1 * _ACCURACY * delta) / delta)

    # The union bound is valid; more than δ cannot be, save where a grid of ε leaves some of it unused.
    n_levels = len(_spaced_ranks(design)) if isinstance(design, int) else len(design)
    low, high = math.log(delta / n_levels), math.log(delta)
    if isinstance(design, int) and n_levels > 1:
        found = _secant(excess, math.log(delta) - math.log(_number_of_looks(2 * design, delta)), low, high)
        if found is not None:
            return math.exp(found)
    if excess(high) <= 0.0:
        return delta
    if n_levels > 1 and excess(low) < 0.0:
        low = brentq(excess, low, high, xtol=0.25 * _ACCURACY, rtol=1e-15)
    while excess(low) > 0.0:
        low -= 0.5 * _ACCURACY
    return math.exp(low)


def _number_of_looks(n_samples: int, delta: float) -> float:
    """About δ/η: how many independent levels would fail as often as the whole curve does.

    It grows with ln N and with the depth ln(1/δ). Fitted to N from 1e2 to 1e6 and δ from 1e-9 to 0.5, to some 5 %: a
    place to start from, which saves half of the crossing probabilities.
    """
    depth = math.log(1.0 / delta)
    decades = max(0.0, math.log(n_samples / 100.0))
    return 1.0 + 4.5 * math.pow(depth, 0.55) + 1.7 * math.pow(depth, 0.74) * decades


def _secant(excess: Callable[[float], float], start: float, low: float, high: float) -> float | None:
    """Return where an increasing function of slope near one is at most 0, by at most `_ACCURACY`; None if not found."""
    place = min(max(start, low), high)
    value, slope = excess(place), 0.96
    for _ in range(8):
        if -_ACCURACY <= value <= 0.0:
            return place
        following = min(max(place - (value + 0.4 * _ACCURACY) / slope, low), high)
        if following == place:
            return None
        change = excess(following) - value
        slope = min(max(change / (following - place), 0.5), 2.0)
        place, value = following, value + change
    return None


def _boundary(n_samples: int, design: int | Floats, eta: float) -> tuple[Floats, Ranks]:
    """Return levels and ranks with B(r − 1; N, e_r) ≤ η: e_r of spaced ranks up to one, or r of each given ε."""
    if isinstance(design, int):
        ranks = _spaced_ranks(design)
        return np.asarray(betainccinv(ranks, n_samples - ranks + 1, eta)), ranks
    ranks = np.clip(np.nan_to_num(np.floor(bdtrik(eta, n_samples, design))) + 2, 0, n_samples).astype(np.int64)
    while (over := (ranks > 0) & (betaincc(np.maximum(ranks, 1), n_samples - ranks + 1, design) > eta)).any():
        ranks = ranks - over
    return design[ranks > 0], ranks[ranks > 0]


def _spaced_ranks(most: int) -> Ranks:
    ranks = [1]
    while (step := ranks[-1] + max(1, int(max(math.sqrt(ranks[-1]) / 8, ranks[-1] / 150)))) <= most:
        ranks.append(step)
    return np.array(ranks, dtype=np.int64)


def _check_grid(eps: Iterable[float]) -> Floats:
    grid = sorted({check_probability("eps", value) for value in eps})
    if not grid:
        raise InvalidInput("eps must have at least one value, got none.")
    return np.array(grid)
