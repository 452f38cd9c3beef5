"""Has the violation rate risen lately? An e-detector, for changes that come long after the start.

The e-process of the start has by then sunk low and must climb back. A detector starts anew all the time
(Shin, Ramdas and Rinaldo, 2022): for an alternative p > ε

    M ← M·p/ε + 1/ε at a violation,      M ← M·(1−p)/(1−ε) otherwise,

the sum over all violations j of the likelihood ratio since j, begun with the e-value 1/ε of the violation itself. While
P(violation) ≤ ε, M grows by at most one a row on average, so the mean time until the mean of M over a few
alternatives reaches c is at least c rows. Starting at violations alone, in place of everywhere, loses nothing (no
rise begins elsewhere), makes M fall between them, so that it need only be looked at there, and keeps it at zero
while nothing happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats

__all__ = ["Detector", "Levels"]

Levels: TypeAlias = tuple[float, float, float]

# Alternatives as multiples of the odds of ε: from .05 to .073, .095 and .208.
_ODDS = (1.5, 2.0, 5.0)
# Violations worked through at a time, so that scratch memory stays small.
_CHUNK = 4096


@dataclass(frozen=True)
class Detector:
    """The e-detector for rates above `eps`: an alarm where the mean of M reaches `threshold`."""

    eps: float
    threshold: float

    @cached_property
    def alternatives(self) -> Floats:
        """The rates p that it looks for."""
        odds = np.array(_ODDS) * self.eps
        return odds / (1.0 - self.eps + odds)

    def start(self) -> Levels:
        """Return M of every alternative before the first row."""
        return 0.0, 0.0, 0.0

    def advance(self, levels: Levels, quiet: int, violations: npt.NDArray[np.int64]) -> tuple[Levels, int | None]:
        """Return M after the last violation, and which violation raised an alarm, if one did.

        Parameters
        ----------
        levels : tuple of float
            M of every alternative just after the last violation before these rows.
        quiet : int
            Rows without a violation since.
        violations : array of int
            Where among the new rows the violations are. M is carried from violation to violation, over any number
            of rows at once, so that it does not depend on how a stream is cut into batches.
        """
        if not len(violations):
            return levels, None
        gaps = np.empty_like(violations)
        gaps[0] = violations[0] + quiet
        np.subtract(violations[1:], violations[:-1] + 1, out=gaps[1:])
        begin, limit = 1.0 / self.eps, len(_ODDS) * self.threshold
        slow, middle, fast = levels
        for start in range(0, len(gaps), _CHUNK):
            steps = zip(*self._factors(gaps[start : start + _CHUNK]), strict=True)
            # Unrolled, in Python's own floats: a fifth of the time that steps of small arrays take.
            for at, (by_slow, by_middle, by_fast) in enumerate(steps, start):
                slow = slow * by_slow + begin
                middle = middle * by_middle + begin
                fast = fast * by_fast + begin
                if slow + middle + fast >= limit:
                    return (slow, middle, fast), at
        return (slow, middle, fast), None

    def decayed(self, levels: Levels, quiet: int) -> Levels:
        """Return M after `quiet` rows without a violation."""
        slow, middle, fast = (np.array(levels) * self._between**quiet).tolist()
        return slow, middle, fast

    @cached_property
    def _between(self) -> Floats:
        return np.asarray((1.0 - self.alternatives) / (1.0 - self.eps))

    def _factors(self, gaps: npt.NDArray[np.int64]) -> list[list[float]]:
        """What M is multiplied by over each gap and the violation that ends it."""
        factors: list[list[float]] = (self._between[:, None] ** gaps * (self.alternatives / self.eps)[:, None]).tolist()
        return factors
