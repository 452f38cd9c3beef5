"""The exact r-th largest score, q_(r): the generalized maximum of the paper's Definition 1.

In an array it is a partial sort. Where the scores are too many or too far away to be held, it is a search: a pass over
them counts how many lie at or above a few edges, which tells between which two edges q_(r) lies; that window shrinks
from pass to pass until few scores are in it, and those are fetched. The first edges are guessed from a sample; when
the guess is good, which it nearly always is, the second pass is the last. When it is bad, every further pass splits the
floats that are left evenly, so that no data can take more than 16. Counting needs no memory, counts of parts add up,
and comparing floats is exact on every engine: the result is, to the last bit, that of the partial sort.

Every pass must read the same rows. Where a pass counts or fetches another number of them than a pass before, the
search ends with an error.

A pass answers a `Request` by a `Tally`; `Search` turns the answer into the next request. Whoever can count can take
part: chunks of an array, processes on other machines, database engines.

>>> parts = np.split(np.random.default_rng(0).exponential(size=300_000), 3)  # on three machines, say
>>> search = Search.begin(parts[0][:1000], lambda n: n // 20)
>>> while search.request is not None:
...     search = search.step(sum_tallies(tally(part, search.request) for part in parts))
>>> search.measured.gamma == float(np.sort(np.concatenate(parts))[-15_000])
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Self, TypeAlias, TypeVar

import numpy as np

from pacband.core.arrays import Floats, blocks
from pacband.core.checks import check_positive_integer
from pacband.core.floats import float_at, ordinal
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.selection.fingerprint import fingerprint, fingerprint_total, fingerprint_unit, seal

__all__ = [
    "Measured",
    "Request",
    "Search",
    "Tally",
    "Window",
    "check_unchanged",
    "edges_above",
    "measure",
    "rth_largest",
    "select",
    "sum_tallies",
    "tally",
    "within",
]

# Scores that are few enough to be fetched: of one search, and of all that share a pass.
FEW = 1 << 19
FEW_IN_ALL = 1 << 22
# A guess from m scores is wrong by so many standard deviations once in 10⁹.
DEVIATIONS = 6.0
# Edges of a pass that has nothing to guess from: five bits a pass.
SPLITS = 32

K = TypeVar("K")
Settle: TypeAlias = Callable[[int], int]
# From the first to below the second; None stands for no limit.
Window: TypeAlias = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a certificate takes from its scores: how many there are, the one at its rank, and their fingerprint."""

    n_samples: int
    gamma: float
    digest: str


def check_unchanged(expected: int, found: int, what: str = "rows") -> None:
    """Raise where a pass found another number of rows than a pass before."""
    if expected != found:
        raise InvalidInput(
            f"rows changed between two readings of the table: the first found {expected} {what}, a later one {found}. "
            "Use a copy of the table that stays as it is."
        )


def rth_largest(scores: Floats, rank: int) -> float:
    """Return the r-th largest score, reordering `scores` in place.

    At most r − 1 scores are strictly larger than the result. Ties are conservative: with equal scores, fewer
    are. The rank is an integer, never a quantile level.

    Examples
    --------
    >>> rth_largest(np.array([3.0, 1.0, 2.0, 3.0]), 2)
    3.0
    >>> rth_largest(np.array([3.0, 1.0, 2.0, 3.0]), 3)
    2.0
    """
    rank = check_positive_integer("rank", rank)
    if rank > len(scores):
        raise InvalidInput(f"rank must not exceed the number of scores, {len(scores)}, got {rank}.")
    position = len(scores) - rank
    scores.partition(position)
    # Of the two zeros, the positive one.
    return float(scores[position]) + 0.0


def measure(scores: Floats, rank: int) -> Measured:
    """Measure scores, which are reordered."""
    gamma = rth_largest(scores, rank)
    return Measured(len(scores), gamma, fingerprint(scores, gamma))


@dataclass(frozen=True, slots=True)
class Request:
    """What a pass over the scores is asked for.

    Attributes
    ----------
    edges : tuple of float
        Count the scores at or above each.
    unit : float or None
        Sum up the fingerprint in this unit.
    keep : Window or None
        Hand over the scores in this window.
    """

    edges: tuple[float, ...] = ()
    unit: float | None = None
    keep: Window | None = None


def edges_above(gamma: float) -> tuple[float, ...]:
    """Return the edge from which on scores exceed γ̄, the next float; none where γ̄ is infinite."""
    return (math.nextafter(gamma, math.inf),) if gamma < math.inf else ()


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What a pass found; tallies of parts add up.

    A pass that hands over scores and cannot count all of them in the same reading has no `n_samples`.
    """

    n_samples: int
    at_least: tuple[int, ...]
    total: int
    kept: Floats

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.n_samples + other.n_samples,
            tuple(map(add, self.at_least, other.at_least)),
            self.total + other.total,
            np.concatenate([self.kept, other.kept]),
        )


def sum_tallies(tallies: Iterable[Tally]) -> Tally:
    """Return the tally of a whole from those of its parts."""
    return reduce(add, tallies)


def tally(scores: Floats, request: Request) -> Tally:
    """Answer a request for scores in an array."""
    counts = [0] * len(request.edges)
    for rows in blocks(len(scores)):
        block = scores[rows]
        for k, edge in enumerate(request.edges):
            counts[k] += int(np.count_nonzero(block >= edge))
    kept = np.empty(0) if request.keep is None else within(scores, request.keep)
    total = 0 if request.unit is None else fingerprint_total(scores, request.unit)
    return Tally(len(scores), tuple(counts), total, kept)


def within(scores: Floats, window: Window) -> Floats:
    """Return the scores in a window."""
    low, high = window
    inside = scores >= low
    if high is not None:
        inside &= scores < high
    return scores[inside]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How far the search for q_(r) has come, and what the next pass is asked for.

    Attributes
    ----------
    request : Request or None
        What the next pass is asked for; None when the search is over.
    measured : Measured or None
        What was found.
    """

    settle: Settle
    request: Request | None
    # So many scores may be fetched.
    few: int = FEW
    n_samples: int = 0
    rank: int = 0
    # By their places among the floats: q_(r) lies in [low, high), and so many scores at or above either end.
    low: int
    high: int
    from_low: int = 0
    from_high: int = 0
    unit: float
    total: int = 0
    measured: Measured | None = None

    @classmethod
    def begin(cls, sample: Floats, settle: Settle, *, share: int = 1) -> Self:
        """Start a search with a guess from some of the scores; `settle` turns their number N into the rank.

        Of what all searches of a pass may fetch, this one may fetch the `share`-th part.
        """
        edges, likely = _guess(np.sort(sample)[::-1], settle)
        unit = fingerprint_unit(likely)
        few = min(FEW, FEW_IN_ALL // share)
        return cls(settle=settle, request=Request(edges, unit), few=few, low=_START, high=_END, unit=unit)

    def step(self, answer: Tally) -> Self:
        """Return the search after a pass."""
        request = self.request
        if request is None:
            return self
        search = self
        if search.n_samples:
            search._check_unchanged(request, answer)
        if not search.n_samples:
            n_samples = answer.n_samples
            search = replace(
                search, n_samples=n_samples, rank=self.settle(n_samples), from_low=n_samples, total=answer.total
            )
        elif request.unit is not None and request.unit != search.unit:
            search = replace(search, unit=request.unit, total=answer.total)
        if request.keep is not None:
            return search._found(rth_largest(answer.kept, search.rank - search.from_high))
        if search.measured is not None:
            return search._found(search.measured.gamma)
        return search._narrowed(request.edges, answer.at_least)

    def _check_unchanged(self, request: Request, answer: Tally) -> None:
        """Raise unless this pass read what the passes before have read."""
        if request.keep is not None:
            check_unchanged(self.from_low - self.from_high, len(answer.kept), "scores near the bound")
            if not answer.n_samples:
                return
        check_unchanged(self.n_samples, answer.n_samples)
        if request.unit == self.unit:
            check_unchanged(self.total, answer.total, "as the sum of the fingerprint")

    def _narrowed(self, edges: tuple[float, ...], at_least: tuple[int, ...]) -> Self:
        """Shrink the window to the two edges around q_(r), and ask on."""
        search = self
        for edge, count in sorted(zip(edges, at_least, strict=True)):
            if count < self.rank:
                search = replace(search, high=ordinal(edge), from_high=count)
                break
            search = replace(search, low=ordinal(edge), from_low=count)
        return search._asked()

    def _asked(self) -> Self:
        """Ask for the scores in the window, or, where they are too many, split it; if it is one float, that is it."""
        if self.high - self.low == 1:
            return self._found(float_at(self.low))
        if self.from_low - self.from_high <= self.few:
            window = float_at(self.low), float_at(self.high) if self.high < _END else None
            return replace(self, request=Request(unit=self.unit, keep=window))
        return replace(self, request=Request(_splits(self.low, self.high), self.unit))

    def _found(self, gamma: float) -> Self:
        """Finish, once the fingerprint is known in the unit that belongs to γ̄."""
        unit = fingerprint_unit(gamma)
        measured = Measured(self.n_samples, gamma, seal(self.n_samples, self.total))
        request = None if unit == self.unit else Request(unit=unit)
        return replace(self, measured=measured, request=request)


def select(scan: Callable[[Mapping[K, Request]], Mapping[K, Tally]], searches: Mapping[K, Search]) -> dict[K, Measured]:
    """Finish several searches in the same passes; `scan` makes a pass for those that still ask."""
    current = dict(searches)
    while requests := {key: search.request for key, search in current.items() if search.request is not None}:
        answers = scan(requests)
        check_unchanged(len(requests), len(answers), "groups")
        for key, answer in answers.items():
            current[key] = current[key].step(answer)
    return {key: search.measured for key, search in current.items() if search.measured is not None}


def _guess(descending: Floats, settle: Settle) -> tuple[tuple[float, ...], float]:
    """Return edges that q_(r) of many more scores like these most likely lies between, and a likely q_(r)."""
    size = len(descending)
    if not size:
        return _splits(_START, _END), 1.0
    least, most = sorted(_share(settle, n_samples) for n_samples in (size, 10**11))
    least -= DEVIATIONS * math.sqrt(least * (1 - least) / size)
    spread = DEVIATIONS * math.sqrt(most * (1 - most) / size)
    places = [math.floor(share * size) for share in (least / 2, least, most + spread, 1.5 * most + spread, 3 * most)]
    edges = {float(descending[place]) + 0.0 for place in places if 0 <= place < size}
    return tuple(sorted(edges)), float(descending[min(size - 1, math.floor(most * size))])


def _share(settle: Settle, n_samples: int) -> float:
    try:
        return min(1.0, settle(n_samples) / n_samples)
    except NotEnoughSamples:
        return 0.0


def _splits(low: int, high: int) -> tuple[float, ...]:
    """Return floats that split those between two places evenly."""
    step = max(1, (high - low) // SPLITS)
    return tuple(float_at(place) for place in range(low + step, high, step))


_START, _END = ordinal(-math.inf), ordinal(math.inf) + 1
