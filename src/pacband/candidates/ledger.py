"""The ledger of a search: how much time is left, how many steps are done, and what was dropped, and why."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite
from time import perf_counter

from pacband.core.callers import caller_level
from pacband.core.progress import Progress

__all__ = ["Ledger", "Tried", "is_late", "late"]

_LATE = "the budget leaves"


@dataclass(frozen=True)
class Tried:
    """The record of one candidate.

    Attributes
    ----------
    name : str
        A predictor T, or T and its scale.
    width : float or None
        The mean of γσ̂ on rows that neither T nor σ̂ has seen; with one side, the mean distance from y to the bound.
        None if no width was estimated.
    seconds : float
        How long the fits of its predictor and of its scale took.
    status : str
        "chosen", "wider", "given", or why it was dropped.
    """

    name: str
    width: float | None
    seconds: float
    status: str

    @property
    def is_late(self) -> bool:
        """Whether the time budget left it out."""
        return is_late(self.status)


def is_late(status: str) -> bool:
    """Whether a status is one of `late`."""
    return _LATE in status


def late(why: str) -> str:
    """Return the status of a candidate that the time budget leaves out.

    >>> late("no time to try it")
    'the budget leaves no time to try it'
    """
    return f"{_LATE} {why}"


# At least this share of the budget is kept for the end of the search: the last fits, the ranks of the pairs and the
# predictions of the calibration rows. This share is kept for what is no fit.
_LAST_SHARE, _AFTER_SHARE = 0.1, 0.08


class Ledger:
    """The time, the progress and the drops of one search.

    Parameters
    ----------
    budget : float
        How many seconds the search may take, from now on; infinite if a plan decides what is fitted.
    progress : function of (done, total), optional
        Called after every step.

    Attributes
    ----------
    dropped : list of Tried
        What was dropped, in order.
    interrupted : bool
        Whether the user stopped the search. Nothing more is tried then.
    """

    def __init__(self, budget: float, progress: Progress | None = None) -> None:
        self.dropped: list[Tried] = []
        self.interrupted = False
        self._interrupted_after = 0.0
        self._budget = budget
        self._reserved = 0.0
        self._last_share = _LAST_SHARE
        self._progress = progress
        self._done = self._total = 0
        self._start = perf_counter()

    @property
    def limited(self) -> bool:
        """Whether there is a budget."""
        return isfinite(self._budget)

    def seconds_left(self) -> float:
        """Return how many seconds remain of the budget; negative if it is used up."""
        return self._budget - (perf_counter() - self._start)

    def seconds_before(self, kept_share: float, *, more_last: float = 0.0) -> float:
        """Return how many seconds remain before the time that is kept: this share of the budget, and the last fits.

        `more_last` are seconds that the last fits need in addition to those that `reserve` keeps.
        """
        last = max(self._last_share * self._budget, _AFTER_SHARE * self._budget + self._reserved + more_last)
        return self.seconds_left() - kept_share * self._budget - last

    def share_of(self, seconds: float) -> float:
        """Return seconds as a share of the budget."""
        return seconds / self._budget

    def reserve(self, seconds: float) -> None:
        """Keep these seconds for the fits at the end of the search."""
        self._reserved += seconds

    def reserve_share(self, share: float) -> None:
        """Keep at least this share of the budget for the fits at the end of the search."""
        self._last_share = share

    def expect_steps(self, n_steps: int) -> None:
        """Set the total number of steps."""
        self._total = n_steps

    def finish_step(self) -> None:
        """Count one more step as done. Calls `progress`."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done))

    def drop(self, name: str, seconds: float, reason: str) -> None:
        """Record that a candidate was dropped after these seconds."""
        self.dropped.append(Tried(name, None, seconds, f"dropped: {reason}"))

    def interrupt(self) -> None:
        """Record that the user stopped the search, and warn of it."""
        self.interrupted, self._interrupted_after = True, perf_counter() - self._start
        warnings.warn(
            "the search was interrupted: the best so far is fitted and certified. Interrupt again to end without a "
            "result.",
            stacklevel=caller_level(),
        )

    def describe_end(self) -> str:
        """Return, in a sentence, why the search ended; empty if a plan decided what was fitted."""
        seconds = self._interrupted_after if self.interrupted else perf_counter() - self._start
        took = f"{seconds:.0f} s" if seconds >= 10.0 else f"{seconds:.2g} s"
        if self.interrupted:
            return f"The search was interrupted after {took}, and the best so far was kept."
        if not self.limited:
            return ""
        left_out = ", ".join(tried.name for tried in self.dropped if tried.is_late)
        if left_out:
            return f"The budget of {self._budget:g} s left out {left_out}: with more time, the band may be narrower."
        return f"All models were tried in {took}: a larger budget changes nothing."
