"""The exact r-th largest score, q_(r), of scores that are not in one array.

In an array q_(r) is a partial sort. Where the scores are too many for memory or in an engine, it is a search: a pass
over them counts how many lie at or above a few edges, and the counts show between which two edges q_(r) lies. That
bracket shrinks from pass to pass until few scores are in it, and those are fetched. The first edges are guessed from a
sample. If the guess is good, which it nearly always is, the second pass is the last. If it is bad, every further pass
splits the floats that are left evenly, so that no data take more than 16 passes. Counting needs no memory, counts of
parts add up, and comparing floats is exact on every engine: the result is, to the last bit, that of the partial sort.

Every pass must read the same rows. If a pass counts or fetches another number of them than an earlier pass, the search
ends with an error.

A search is in one of four states. Each has the `request` of the next pass; its `step` takes the answer and returns the
next state, or what was `Measured`:

    Guessing ──► Counting (again and again) ──► Fetching ──► Sealing ──► Measured

`Guessing` is the first pass. `Counting` is left out if the guess is good. `Fetching` is left out if the bracket is a
single float. `Sealing` is left out if the fingerprint was summed in the right unit all along.

>>> from pacband.selection import sum_tallies, tally
>>> parts = np.split(np.random.default_rng(0).exponential(size=300_000), 3)  # on three machines
>>> search = begin_search(parts[0][:1000], lambda n: n // 20)
>>> while not isinstance(search, Measured):
...     search = search.step(sum_tallies(tally(part, search.request) for part in parts))
>>> search.gamma == float(np.sort(np.concatenate(parts))[-15_000])
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.floats import float_at
from pacband.exceptions import NotEnoughSamples
from pacband.selection.arrays import Measured, rth_largest
from pacband.selection.brackets import Bracket
from pacband.selection.fingerprint import fingerprint_unit, seal
from pacband.selection.limits import Limits, current_limits
from pacband.selection.passes import Request, Tally, check_unchanged

__all__ = ["Counting", "Fetching", "Guessing", "RankOf", "Sealing", "Search", "begin_search", "same_share", "select"]

# A guess from m scores is wrong by so many standard deviations once in 10⁹.
DEVIATIONS = 6.0

K = TypeVar("K")
# Turns the number of scores into the rank.
RankOf: TypeAlias = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the first pass found. Every later pass must find it again.

    Attributes
    ----------
    n_samples, rank : int
        N and r.
    few : int
        The most scores that may be fetched.
    unit : float
        The unit of the fingerprint.
    total : int
        The sum of the fingerprint in that unit.
    """

    n_samples: int
    rank: int
    few: int
    unit: float
    total: int

    def check(self, answer: Tally) -> None:
        """Raise unless a pass read the same scores."""
        check_unchanged(self.n_samples, answer.n_samples)
        check_unchanged(self.total, answer.total, "as the sum of the fingerprint")

    def search_in(self, bracket: Bracket) -> Search | Measured:
        """Fetch the scores in the bracket; split it if they are too many. A bracket of one float is q_(r)."""
        if bracket.is_one_float:
            return self.finish(float_at(bracket.low))
        if bracket.n_inside <= self.few:
            return Fetching(Request(unit=self.unit, keep=bracket.window), self, bracket)
        return Counting(Request(bracket.splits(), self.unit), self, bracket)

    def finish(self, gamma: float) -> Sealing | Measured:
        """Return what was measured, or ask for the fingerprint in the unit that belongs to γ̄."""
        unit = fingerprint_unit(gamma)
        if unit == self.unit:
            return Measured(self.n_samples, gamma, seal(self.n_samples, self.total))
        return Sealing(Request(unit=unit), self.n_samples, gamma)


@dataclass(frozen=True, slots=True)
class Guessing:
    """The first pass counts N and the scores at or above the edges that were guessed from a sample."""

    request: Request
    unit: float
    rank_of: RankOf
    few: int

    def step(self, answer: Tally) -> Search | Measured:
        """Return the state after the pass."""
        n_samples = answer.n_samples
        facts = _Facts(n_samples, self.rank_of(n_samples), self.few, self.unit, answer.total)
        everywhere = Bracket.of_all_floats(n_samples)
        return facts.search_in(everywhere.narrow(facts.rank, self.request.edges, answer.at_least))


@dataclass(frozen=True, slots=True)
class Counting:
    """A pass counts the scores at or above edges that split the bracket evenly."""

    request: Request
    facts: _Facts
    bracket: Bracket

    def step(self, answer: Tally) -> Search | Measured:
        """Return the state after the pass."""
        self.facts.check(answer)
        return self.facts.search_in(self.bracket.narrow(self.facts.rank, self.request.edges, answer.at_least))


@dataclass(frozen=True, slots=True)
class Fetching:
    """A pass returns the few scores in the bracket, and q_(r) is one of them."""

    request: Request
    facts: _Facts
    bracket: Bracket

    def step(self, answer: Tally) -> Sealing | Measured:
        """Return the state after the pass."""
        check_unchanged(self.bracket.n_inside, len(answer.kept), "scores near the bound")
        # Some engines cannot count all scores in the same reading.
        if answer.n_samples:
            self.facts.check(answer)
        return self.facts.finish(rth_largest(answer.kept, self.facts.rank - self.bracket.from_high))


@dataclass(frozen=True, slots=True)
class Sealing:
    """A pass sums the fingerprint in the unit of γ̄: the guessed unit was another one."""

    request: Request
    n_samples: int
    gamma: float

    def step(self, answer: Tally) -> Measured:
        """Return what was measured."""
        check_unchanged(self.n_samples, answer.n_samples)
        return Measured(self.n_samples, self.gamma, seal(self.n_samples, answer.total))


Search: TypeAlias = Guessing | Counting | Fetching | Sealing


def same_share(rank: int, n_samples: int) -> RankOf:
    """Return the rule that gives this rank of N scores, and of fewer or more scores the same share."""
    return lambda n: rank if n == n_samples else max(1, round(rank * (n / n_samples)))


def begin_search(
    sample: Floats,
    rank_of: RankOf,
    *,
    guess: RankOf | None = None,
    share: int = 1,
    limits: Limits | None = None,
) -> Search:
    """Begin a search with edges guessed from some of the scores.

    Parameters
    ----------
    sample : array
        Some of the scores, or none.
    rank_of : function of int
        Turns the number of scores, N, into the rank.
    guess : function of int, optional
        Turns any number of scores into about their rank. By default `rank_of`, which may take long.
    share : int
        This search may fetch one part in `share` of the scores that all searches of a pass may fetch.
    limits : Limits, optional
        By default those in force.
    """
    limits = limits or current_limits()
    edges, likely = _guess(np.sort(sample)[::-1], guess or rank_of)
    unit = fingerprint_unit(likely)
    return Guessing(Request(edges, unit), unit, rank_of, min(limits.few, limits.few_in_all // share))


def select(scan: Callable[[Mapping[K, Request]], Mapping[K, Tally]], searches: Mapping[K, Search]) -> dict[K, Measured]:
    """Finish several searches in the same passes. `scan` makes a pass for the searches that are not finished."""
    open_searches = dict(searches)
    measured: dict[K, Measured] = {}
    while open_searches:
        answers = scan({key: search.request for key, search in open_searches.items()})
        check_unchanged(len(open_searches), len(answers), "groups")
        for key, answer in answers.items():
            after = open_searches.pop(key).step(answer)
            if isinstance(after, Measured):
                measured[key] = after
            else:
                open_searches[key] = after
    return {key: measured[key] for key in searches}


def _guess(descending: Floats, rank_of: RankOf) -> tuple[tuple[float, ...], float]:
    """Return edges that q_(r) of many more scores like these most likely lies between, and a likely q_(r)."""
    size = len(descending)
    if not size:
        return Bracket.of_all_floats(0).splits(), 1.0
    least, most = sorted(_rank_share(rank_of, n_samples) for n_samples in (size, 10**11))
    least -= DEVIATIONS * math.sqrt(least * (1 - least) / size)
    spread = DEVIATIONS * math.sqrt(most * (1 - most) / size)
    places = [math.floor(share * size) for share in (least / 2, least, most + spread, 1.5 * most + spread, 3 * most)]
    edges = {float(descending[place]) + 0.0 for place in places if 0 <= place < size}
    return tuple(sorted(edges)), float(descending[min(size - 1, math.floor(most * size))])


def _rank_share(rank_of: RankOf, n_samples: int) -> float:
    """Return r/N for N scores; 0 if N is too small for any rank."""
    try:
        return min(1.0, rank_of(n_samples) / n_samples)
    except NotEnoughSamples:
        return 0.0
