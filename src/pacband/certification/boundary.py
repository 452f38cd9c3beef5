"""The boundary of a curve: a level for every rank. The probability that any level fails is at most δ.

A design chooses which levels a curve has; η is the chance that one given level fails. `largest_eta` finds the largest η
whose boundary is crossed with a probability of at most δ, computed exactly by `pacband.certification.crossing`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import bdtrik, betaincc, betainccinv

from pacband.certification.crossing import crossing_probability
from pacband.core.arrays import Floats

__all__ = ["Design", "GivenLevels", "SpacedRanks", "largest_eta"]

Ranks: TypeAlias = npt.NDArray[np.int64]

# The chance that any level fails is at most δ, and at least δ·(1 − `_ACCURACY`).
_ACCURACY = 1e-6


class Design(ABC):
    """Which levels a curve has. Equal designs have equal boundaries: they are keys of a cache."""

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """The number of levels."""

    @abstractmethod
    def boundary(self, n_samples: int, eta: float) -> tuple[Floats, Ranks]:
        """Return increasing levels and their ranks, with B(r − 1; N, e_r) ≤ η."""

    def guess(self, delta: float) -> float | None:
        """Return about the largest η, or None if there is nothing to guess from."""
        return None


@dataclass(frozen=True)
class SpacedRanks(Design):
    """The ranks up to `most`; from rank 256 on in steps, and a level e_r for each."""

    most: int

    @property
    def n_levels(self) -> int:
        """The number of ranks."""
        return len(self._ranks())

    def boundary(self, n_samples: int, eta: float) -> tuple[Floats, Ranks]:
        """Return e_r, the root of B(r − 1; N, e) = η, for every rank."""
        ranks = self._ranks()
        return np.asarray(betainccinv(ranks, n_samples - ranks + 1, eta)), ranks

    def guess(self, delta: float) -> float | None:
        """Return δ by the number of independent levels that would fail as often as the whole curve does."""
        return delta / _number_of_looks(2 * self.most, delta) if self.most > 1 else None

    def _ranks(self) -> Ranks:
        return _spaced_ranks(self.most)


@dataclass(frozen=True)
class GivenLevels(Design):
    """The levels that the user asks for, and the largest valid rank of each."""

    eps: tuple[float, ...]

    @property
    def n_levels(self) -> int:
        """The number of levels."""
        return len(self.eps)

    def boundary(self, n_samples: int, eta: float) -> tuple[Floats, Ranks]:
        """Return the levels that have a valid rank, the largest r with B(r − 1; N, ε) ≤ η."""
        eps = np.array(self.eps)
        ranks = np.clip(np.nan_to_num(np.floor(bdtrik(eta, n_samples, eps))) + 2, 0, n_samples).astype(np.int64)
        while (over := (ranks > 0) & (betaincc(np.maximum(ranks, 1), n_samples - ranks + 1, eps) > eta)).any():
            ranks = ranks - over
        return eps[ranks > 0], ranks[ranks > 0]


@lru_cache(maxsize=256)
def largest_eta(n_samples: int, delta: float, design: Design) -> float:
    """Return the largest η, to six digits, whose boundary is crossed with a probability of at most δ."""

    @cache
    def excess(log_eta: float) -> float:
        levels, ranks = design.boundary(n_samples, math.exp(log_eta))
        if not len(ranks):
            return -math.inf
        return math.log(crossing_probability(n_samples, levels, ranks, accuracy=0.1 * _ACCURACY * delta) / delta)

    # The union bound is valid. No more than δ is valid, except where a grid of ε leaves some of it unused.
    low, high = math.log(delta / design.n_levels), math.log(delta)
    guess = design.guess(delta)
    if guess is not None:
        found = _secant(excess, math.log(guess), low, high)
        if found is not None:
            return math.exp(found)
    if excess(high) <= 0.0:
        return delta
    if design.n_levels > 1 and excess(low) < 0.0:
        low = brentq(excess, low, high, xtol=0.25 * _ACCURACY, rtol=1e-15)
    while excess(low) > 0.0:
        low -= 0.5 * _ACCURACY
    return math.exp(low)


def _number_of_looks(n_samples: int, delta: float) -> float:
    """Return about δ/η: the number of independent levels that would fail as often as the whole curve does.

    It grows with ln N and with the depth ln(1/δ). The formula is fitted to N from 1e2 to 1e6
    and δ from 1e-9 to 0.5, to about 5 %. As a starting point it saves half of the crossing probabilities.
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


@lru_cache(maxsize=16)
def _spaced_ranks(most: int) -> Ranks:
    ranks = [1]
    while (step := ranks[-1] + max(1, int(max(math.sqrt(ranks[-1]) / 8, ranks[-1] / 150)))) <= most:
        ranks.append(step)
    found = np.array(ranks, dtype=np.int64)
    found.flags.writeable = False
    return found
