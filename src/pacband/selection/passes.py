"""What a pass over scores has to compute, and its result.

A pass answers a `Request` with a `Tally`. Tallies of parts add up, so that everything that can count can answer: an
array, chunks of one, processes on other machines, a database engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np

from pacband.core.arrays import Floats, blocks
from pacband.exceptions import InvalidInput
from pacband.selection.fingerprint import fingerprint_total

__all__ = ["Request", "Tally", "Window", "check_unchanged", "edges_above", "sum_tallies", "tally", "within"]

# The scores at or above the first float and below the second; None is no upper limit.
Window: TypeAlias = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Request:
    """What a pass over the scores has to compute.

    Attributes
    ----------
    edges : tuple of float
        Count the scores at or above each edge.
    unit : float or None
        Sum up the fingerprint in this unit.
    keep : Window or None
        Return the scores in this window.
    """

    edges: tuple[float, ...] = ()
    unit: float | None = None
    keep: Window | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What a pass found. Tallies of parts add up.

    `n_samples` is 0 if the pass returns scores and cannot count all scores in the same reading.
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
    """Return the tally of all scores from the tallies of their parts."""
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


def edges_above(gamma: float) -> tuple[float, ...]:
    """Return the smallest edge above γ̄, the next float; no edge if γ̄ is infinite."""
    return (math.nextafter(gamma, math.inf),) if gamma < math.inf else ()


def check_unchanged(expected: int, found: int, what: str = "rows") -> None:
    """Raise if a pass finds another number of rows than an earlier pass."""
    if expected != found:
        raise InvalidInput(
            f"rows changed between two readings of the table: the first found {expected} {what}, a later one {found}. "
            "Use a copy of the table that does not change."
        )
