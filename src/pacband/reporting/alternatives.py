"""What other samples would have brought, and what other promises would have said."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pacband.certificate import Certificate
from pacband.core.arrays import Floats
from pacband.exceptions import NotEnoughSamples
from pacband.planning import PLAN_RULES, Share, min_samples, plan
from pacband.selection.ranked import Ranked

__all__ = ["Alternative", "PlanMap", "SampleSize", "alternatives", "plan_map", "rank_rule", "sample_sizes"]

EPS_CHOICES = (0.01, 0.02, 0.05, 0.1, 0.2)
DELTA_CHOICES = (0.05, 1e-3, 1e-6, 1e-9)


@dataclass(frozen=True)
class SampleSize:
    """What N samples bring at the same (ε, δ): the rank, and the violation to expect. No rank: not enough.

    `certified` marks the size and rank of the certificate itself.
    """

    n_samples: int
    rank: int | None
    bound: float | None
    certified: bool = False

    @property
    def expected_violation(self) -> float | None:
        """r/(N + 1)."""
        return None if self.rank is None else self.rank / (self.n_samples + 1)


@dataclass(frozen=True)
class Alternative:
    """What would have been certified had (ε, δ) been chosen beforehand."""

    eps: float
    delta: float
    rank: int | None
    gamma: float | None
    needed: int | None


@dataclass(frozen=True)
class PlanMap:
    """r/(N + 1) against N for several δ at one ε, and where a certificate stands.

    This is the violation to expect of a bound that was chosen beforehand.
    """

    eps: float
    delta: float
    n_samples: int
    rank: int
    n_range: tuple[float, float]
    lines: tuple[tuple[float, Floats, Floats], ...]
    beforehand: bool


def plan_map(eps: float, delta: float, n_samples: int, rank: int, share: Share) -> PlanMap:
    """Return the map around a plan or a certificate that uses this share of δ.

    A line joins the points (N, r/(N + 1)) where N is the smallest for its rank: the upper ends of the steps.
    """
    smallest = min_samples(eps, share.own_delta(delta))
    most = 20 * max(n_samples, smallest)
    # Neighbours of δ by less than two powers of ten would run into its line.
    deltas = [other for other in DELTA_CHOICES if abs(math.log10(other / delta)) >= 2.0]
    lines = []
    for each in sorted([*deltas, delta], reverse=True):
        ranks = np.unique(np.geomspace(1, max(2.0, eps * most), 40).round()).astype(int)
        sizes = np.array([min_samples(eps, share.own_delta(each), int(r)) for r in ranks], dtype=np.float64)
        kept = sizes <= 1.5 * most
        lines.append((each, sizes[kept], ranks[kept] / (sizes[kept] + 1.0)))
    n_range = (0.7 * min(smallest, n_samples), most)
    return PlanMap(eps, delta, n_samples, rank, n_range, tuple(lines), beforehand=share.fraction >= 1)


def sample_sizes(single: Certificate, scores: Ranked | None) -> tuple[SampleSize, ...]:
    """Return what more and fewer samples bring by the same rule for the rank.

    Where the rank was chosen by hand there is no rule: the other sizes then have the largest valid rank. Bounds are
    read off the scores at hand, so about right.
    """
    rule = rank_rule(single)
    found = []
    for n_samples in (single.n_samples // 2, single.n_samples, *(k * single.n_samples for k in (2, 4, 10))):
        n_samples = max(1, n_samples)
        if n_samples == single.n_samples:
            bound = None if scores is None else scores.largest(single.rank)
            found.append(SampleSize(n_samples, single.rank, bound, certified=True))
            if rule is not None:
                continue
        rank = _rank(n_samples, single.eps, single.share.own_delta(single.delta), rule or "exact")
        bound = None
        if scores is not None and rank is not None:
            bound = scores.largest(max(1, round(rank / n_samples * len(scores))))
        found.append(SampleSize(n_samples, rank, bound))
    return tuple(found)


def rank_rule(single: Certificate) -> str | None:
    """Return the rule of `plan` that gives this rank; None where it was chosen by hand."""
    delta = single.share.own_delta(single.delta)
    rules = (rule for rule in PLAN_RULES if _rank(single.n_samples, single.eps, delta, rule) == single.rank)
    return next(rules, None)


def alternatives(single: Certificate, scores: Ranked) -> tuple[Alternative, ...]:
    """Return what each alternative (ε, δ) would have certified, ε by ε."""
    found = []
    for eps in sorted({*EPS_CHOICES, single.eps}):
        for delta in sorted({*DELTA_CHOICES, single.delta}, reverse=True):
            rank = _rank(len(scores), eps, single.share.own_delta(delta))
            gamma = None if rank is None else scores.largest(rank)
            needed = None if rank is not None else min_samples(eps, single.share.own_delta(delta))
            found.append(Alternative(eps, delta, rank, gamma, needed))
    return tuple(found)


def _rank(n_samples: int, eps: float, delta: float, rule: str = "exact") -> int | None:
    try:
        return plan(eps, delta, n_samples=n_samples, rule=rule).rank
    except NotEnoughSamples:
        return None
