"""From the scores of draws to the bound, and what supports it: a rank, or evidence about the mean of units."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.certificate import Certificate, Promise
from pacband.certificate.single import issue
from pacband.certification.terms import Terms
from pacband.core.arrays import Floats
from pacband.draws import Sample
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare
from pacband.planning.averages import BETS, Evidence, choose_bets, log_evidence, log_fraction
from pacband.selection import Measured, measure
from pacband.selection.fingerprint import fingerprint

__all__ = ["certify_draws"]

Counts: TypeAlias = npt.NDArray[np.int64]


def certify_draws(
    terms: Terms, basis: Promise, sample: Sample, scores: Floats, rank: int, share: DeltaShare
) -> Certificate:
    """Make the certificate of draws. Reorders `scores` in place.

    Parameters
    ----------
    terms : Terms
        What was asked for.
    basis : Promise
        What is promised.
    sample : Sample
        The draws.
    scores : array
        Their scores, as `Sample.reduce` returns them.
    rank : int
        The rank that was chosen for their number.
    share : DeltaShare
        The part of δ that the certificate uses.
    """
    if sample.sizes is not None:
        return _certify_average(basis, scores, sample.sizes, share)
    if sample.certain is not None:
        scores, rank = _worst_draws(terms, sample, scores, share)
    return issue(basis, measure(scores, rank), rank, share)


def _certify_average(basis: Promise, scores: Floats, sizes: Counts, share: DeltaShare) -> Certificate:
    """Certify units on average: the smallest score at which a mean of at most ε is shown (`planning.averages`).

    The evidence grows with the bound, so the smallest is found by bisection. At the largest score no row violates.
    """
    budget = share.budget(basis.delta)
    bets = choose_bets(len(sizes), basis.eps, budget)
    order = np.argsort(scores, kind="stable")
    ordered, units = scores[order], np.repeat(np.arange(len(sizes)), sizes)[order]

    def violations(place: int) -> Counts:
        above = int(np.searchsorted(ordered, ordered[place], side="right"))
        return np.bincount(units[above:], minlength=len(sizes))

    low, high = 0, len(ordered) - 1
    while low < high:
        middle = (low + high) // 2
        if _shows(violations(middle), sizes, basis.eps, budget, bets):
            high = middle
        else:
            low = middle + 1
    # Of the two zeros, the positive one.
    gamma = float(ordered[low]) + 0.0
    measured = Measured(len(sizes), gamma, fingerprint(scores, gamma))
    return issue(basis, measured, None, share, evidence=Evidence.of(violations(low), sizes))


def _shows(violations: Counts, sizes: Counts, eps: float, budget: Fraction, bets: tuple[Fraction, ...]) -> bool:
    """Decide whether units show a mean of at most ε by these bets; `Evidence` decides what floats leave open."""
    if bets == BETS:
        found, error = log_evidence(violations / sizes, eps)
        margin = found + log_fraction(budget)
        if abs(margin) > error:
            return margin > 0.0
    return Evidence.of(violations, sizes).shows_by(bets, eps, budget)


def _worst_draws(terms: Terms, sample: Sample, scores: Floats, share: DeltaShare) -> tuple[Floats, int]:
    """Return the scores of the draws in the worst case at the bound, and its rank (`draws.weighted` has the proof).

    The condition holds at every larger bound, so the smallest is found by bisection.
    """
    possible, certain = np.sort(scores), np.sort(scores[sample.certain])

    def counts(gamma: float) -> tuple[int, int]:
        above = len(possible) - int(np.searchsorted(possible, gamma, side="right"))
        return above, above + int(np.searchsorted(certain, gamma, side="right"))

    def holds(place: int) -> bool:
        above, n_draws = counts(certain[place])
        return above < terms.choose_rank(n_draws, share)

    low, high = 0, len(certain) - 1
    if not holds(high):
        raise InvalidInput(
            f"{counts(certain[high])[0]} rows that may be accepted exceed all {len(certain)} rows that certainly are: "
            "narrow the interval of importance, or take more rows."
        )
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    gamma = float(certain[low])
    return sample.worst_at(scores, gamma), counts(gamma)[0] + 1
