"""What other numbers of samples allow, and which bounds other promises would have had."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pacband.certificate import Certificate
from pacband.exceptions import NotEnoughSamples
from pacband.planning import PLAN_RULES, DeltaShare
from pacband.planning.ranks import choose_rank, choose_samples
from pacband.selection.ranked import Ranked

__all__ = ["Alternative", "SampleSize", "add_bounds", "alternatives", "rank_rule", "sample_sizes"]

EPS_CHOICES = (0.01, 0.02, 0.05, 0.1, 0.2)
DELTA_CHOICES = (0.05, 1e-3, 1e-6, 1e-9)


@dataclass(frozen=True)
class SampleSize:
    """What N samples allow at the same (ε, δ): the rank, and the bound if scores are known.

    The rank is None if N is too small. `certified` marks the size and rank of the certificate itself.
    """

    n_samples: int
    rank: int | None
    bound: float | None = None
    certified: bool = False

    @property
    def expected_violation(self) -> float | None:
        """r/(N + 1)."""
        return None if self.rank is None else self.rank / (self.n_samples + 1)


@dataclass(frozen=True)
class Alternative:
    """What would have been certified if (ε, δ) had been chosen beforehand; without a rank, N `needed` for one."""

    eps: float
    delta: float
    rank: int | None
    gamma: float | None
    needed: int | None


def sample_sizes(single: Certificate, rule: str | None) -> tuple[SampleSize, ...]:
    """Return what more and fewer samples allow, with the same `rank_rule`.

    If the rank was chosen by hand there is no rule: the other sizes then have the largest valid rank.
    """
    found = []
    for n_samples in (single.n_samples // 2, single.n_samples, *(k * single.n_samples for k in (2, 4, 10))):
        n_samples = max(1, n_samples)
        if n_samples == single.n_samples:
            found.append(SampleSize(n_samples, single.rank, certified=True))
            if rule is not None:
                continue
        found.append(SampleSize(n_samples, _rank(n_samples, single.eps, single.delta, single.share, rule or "exact")))
    return tuple(found)


def add_bounds(sizes: tuple[SampleSize, ...], scores: Ranked) -> tuple[SampleSize, ...]:
    """Return the sizes with bounds read off these scores: estimates for all sizes but the certified one."""
    return tuple(
        each
        if each.rank is None
        else replace(each, bound=scores.largest(max(1, round(each.rank / each.n_samples * len(scores)))))
        for each in sizes
    )


def rank_rule(single: Certificate) -> str | None:
    """Return the rule of `plan` that gives this rank; None if the rank was chosen by hand."""
    size = single.n_samples, single.eps, single.delta, single.share
    return next((rule for rule in PLAN_RULES if _rank(*size, rule) == single.rank), None)


def alternatives(single: Certificate, scores: Ranked) -> tuple[Alternative, ...]:
    """Return what each alternative (ε, δ) would have certified, ε by ε."""
    found = []
    for eps in sorted({*EPS_CHOICES, single.eps}):
        for delta in sorted({*DELTA_CHOICES, single.delta}, reverse=True):
            rank = _rank(len(scores), eps, delta, single.share)
            gamma = None if rank is None else scores.largest(rank)
            needed = None if rank is not None else choose_samples(eps, delta, single.share, rank=1)
            found.append(Alternative(eps, delta, rank, gamma, needed))
    return tuple(found)


def _rank(n_samples: int, eps: float, delta: float, share: DeltaShare, rule: str = "exact") -> int | None:
    # The share is exact, as it was for the certificate: the share of the first candidate of a fit is just what its rank
    # needs, and a rounded one would lose that rank.
    try:
        return choose_rank(n_samples, eps, delta, share, rule=rule)
    except NotEnoughSamples:
        return None
