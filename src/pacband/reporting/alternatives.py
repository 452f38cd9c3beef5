"""What other samples would have brought, and what other promises would have said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pacband._arrays import Floats
from pacband.certificate import Certificate
from pacband.exceptions import NotEnoughSamples
from pacband.planning import max_rank, min_samples

__all__ = ["Alternative", "PlanMap", "SampleSize", "alternatives", "own_delta", "plan_map", "sample_sizes"]

EPS_CHOICES = (0.01, 0.02, 0.05, 0.1, 0.2)
DELTA_CHOICES = (0.05, 1e-3, 1e-6, 1e-9)


@dataclass(frozen=True)
class SampleSize:
    """What N samples bring at the same (ε, δ): the rank, and the violation to expect. No rank: not enough."""

    n_samples: int
    rank: int | None
    bound: float | None

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
    """The violation to expect, r/(N + 1), against N for several δ at one ε, and where a certificate stands."""

    eps: float
    delta: float
    n_samples: int
    rank: int
    n_range: tuple[float, float]
    lines: tuple[tuple[float, Floats, Floats], ...]


def plan_map(eps: float, delta: float, n_samples: int, rank: int, share: Fraction) -> PlanMap:
    """Return the map around a plan or a certificate that spends this share of δ.

    A line joins the points (N, r/(N + 1)) where N is the smallest for its rank: the upper ends of the steps.
    """
    smallest = min_samples(eps, own_delta(delta, share))
    most = 20 * max(n_samples, smallest)
    # Neighbours of δ by less than two powers of ten would run into its line.
    deltas = [other for other in DELTA_CHOICES if abs(math.log10(other / delta)) >= 2.0]
    lines = []
    for each in sorted([*deltas, delta], reverse=True):
        ranks = np.unique(np.geomspace(1, max(2.0, eps * most), 40).round()).astype(int)
        sizes = np.array([min_samples(eps, own_delta(each, share), int(r)) for r in ranks], dtype=np.float64)
        kept = sizes <= 1.5 * most
        lines.append((each, sizes[kept], ranks[kept] / (sizes[kept] + 1.0)))
    return PlanMap(eps, delta, n_samples, rank, (0.7 * min(smallest, n_samples), most), tuple(lines))


def sample_sizes(single: Certificate, scores: Floats | None) -> tuple[SampleSize, ...]:
    """Return what more and fewer samples bring; the bound is read off the scores at hand, so about right."""
    found = []
    for n_samples in (single.n_samples // 2, single.n_samples, *(k * single.n_samples for k in (2, 4, 10))):
        rank = _rank(max(1, n_samples), single.eps, own_delta(single.delta, single.share))
        if n_samples == single.n_samples:
            rank = single.rank
        bound = None
        if scores is not None and rank is not None:
            at = single.rank if n_samples == single.n_samples else max(1, round(rank / n_samples * len(scores)))
            bound = kth_largest(scores, at)
        found.append(SampleSize(max(1, n_samples), rank, bound))
    return tuple(found)


def alternatives(single: Certificate, scores: Floats) -> tuple[Alternative, ...]:
    """Return what each alternative (ε, δ) would have certified, ε by ε."""
    found = []
    for eps in sorted({*EPS_CHOICES, single.eps}):
        for delta in sorted({*DELTA_CHOICES, single.delta}, reverse=True):
            rank = _rank(len(scores), eps, own_delta(delta, single.share))
            gamma = None if rank is None else kth_largest(scores, rank)
            needed = None if rank is not None else min_samples(eps, own_delta(delta, single.share))
            found.append(Alternative(eps, delta, rank, gamma, needed))
    return tuple(found)


def kth_largest(ordered: Floats, rank: int) -> float:
    """Return the score of this rank from the top of sorted scores."""
    return float(ordered[len(ordered) - rank])


def own_delta(delta: float, share: Fraction) -> float:
    """Return the part of δ that one candidate may spend, rounded down."""
    part = Fraction(delta) * share
    value = float(part)
    return value if Fraction(value) <= part else math.nextafter(value, 0.0)


def _rank(n_samples: int, eps: float, delta: float) -> int | None:
    try:
        return max_rank(n_samples, eps, delta)
    except NotEnoughSamples:
        return None
