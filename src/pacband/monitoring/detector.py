"""Has the violation rate risen lately? An e-detector for changes that come long after the start.

Long after the start, the e-process (`pacband.monitoring.eprocess`) has a small value and needs many rows to grow again.
A detector starts again at every violation (Shin, Ramdas and Rinaldo, 2022). For an alternative p > ε,

    M ← M·p/ε + 1/ε at a violation,      M ← M·(1−p)/(1−ε) otherwise.

M is the sum over all violations j of the likelihood ratio since j, which starts with the e-value 1/ε of the violation
itself. While P(violation) ≤ ε, M grows by at most one a row on average. So the mean number of rows until the mean of M
over a few alternatives reaches c is at least c.

The method also allows a start at every row. Starting only at violations loses nothing, because M can rise only there.
Between violations M falls, so that it must be compared with c only at violations.
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

# The odds of the alternatives are these multiples of the odds of ε: for 0.05 the alternatives are .073, .095 and .208.
_ODDS = (1.5, 2.0, 5.0)
# Number of violations in one block, so that temporary arrays stay small.
_CHUNK = 4096


@dataclass(frozen=True)
class Detector:
    """The e-detector for rates above `eps`. It raises an alarm when the mean of M reaches `threshold`."""

    eps: float
    threshold: float

    @cached_property
    def alternatives(self) -> Floats:
        """The rates p of the alternatives."""
        odds = np.array(_ODDS) * self.eps
        return odds / (1.0 - self.eps + odds)

    def start(self) -> Levels:
        """Return M for every alternative before the first row."""
        return 0.0, 0.0, 0.0

    def advance(self, levels: Levels, quiet: int, violations: npt.NDArray[np.int64]) -> tuple[Levels, int | None]:
        """Return M after the last violation, and the position of the violation that raised an alarm, or None.

        M is updated from violation to violation, over any number of rows at once. So the result does not depend on how
        a stream is cut into batches.

        Parameters
        ----------
        levels : tuple of float
            M for every alternative just after the last violation before the new rows.
        quiet : int
            The number of rows since that violation.
        violations : array of int
            The positions of the violations among the new rows.
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
            # Three Python floats in place of an array of length 3: this takes a fifth of the time.
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
        """Return the factor of M over each gap and the violation at its end."""
        factors: list[list[float]] = (self._between[:, None] ** gaps * (self.alternatives / self.eps)[:, None]).tolist()
        return factors
