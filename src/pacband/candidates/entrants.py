"""Which of the screened candidates are certified, and the share of δ of each: from sizes and (ε, δ) alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pacband.certification.terms import Terms
from pacband.exceptions import InvalidInput
from pacband.planning import WHOLE, DeltaShare
from pacband.planning.binomial import covering_delta
from pacband.planning.limits import SMALLEST_BUDGET
from pacband.planning.shares import rounded_down, rounded_up

__all__ = ["entrants", "group_entrants"]

# The first candidate may use up to this share of δ. The others share the rest.
_FIRST_SHARE = 0.9


def entrants(terms: Terms, names: Sequence[str], n_samples: int) -> dict[str, DeltaShare]:
    """Return the candidates that N calibration rows can certify, and the share of δ of each.

    A rank is an integer, so the first candidate rarely needs all of δ for its rank. It gets what it needs. As many
    others as can be certified share the rest. The result depends on (N, ε, δ) alone, so it is chosen before looking at
    the rows.

    Parameters
    ----------
    terms : Terms
        The promise.
    names : sequence of str
        The candidates, the most promising first.
    n_samples : int
        N.

    Raises
    ------
    NotEnoughSamples
        If not even the first can be certified.

    Examples
    --------
    >>> terms = Terms.create(eps=0.1, delta=0.05, side="both", min_scale=None, nonfinite="raise", gauge="max")
    >>> {name: round(share.weight, 2) for name, share in entrants(terms, ["a", "b", "c"], 88).items()}
    {'a': 0.39, 'b': 0.3, 'c': 0.3}
    """
    first, *others = names
    terms.choose_rank(n_samples, WHOLE)
    try:
        rank = terms.choose_rank(n_samples, DeltaShare(1, _FIRST_SHARE))
    except InvalidInput:
        return {first: WHOLE}
    # What the first needs of δ for its rank, as a part of it.
    delta, needed = Fraction(terms.delta), _FIRST_SHARE
    # Units on average have no rank: their bound is the sharper, the more of δ they have.
    if not terms.draws.kind.averages:
        tail = Fraction(covering_delta(n_samples, rank, terms.eps, delta))
        # At a smaller share the inequality is not decided.
        least = Fraction(SMALLEST_BUDGET) / delta
        needed = rounded_up(max(tail + terms.slack(n_samples) / delta, least))
    for kept in range(len(others), 0, -1):
        share = DeltaShare(kept + 1, rounded_down((1 - Fraction(needed)) / kept))
        try:
            terms.choose_rank(n_samples, share)
        except InvalidInput:
            continue
        return {first: DeltaShare(kept + 1, needed), **dict.fromkeys(others[:kept], share)}
    return {first: WHOLE}


def group_entrants(terms: Terms, names: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return the candidates that can be certified within every group, in even shares of δ.

    Parameters
    ----------
    terms : Terms
        The promise.
    names : sequence of str
        The candidates, the most promising first.
    sizes : sequence of int
        The number of calibration rows of each group.

    Raises
    ------
    NotEnoughSamples
        If not even the first can be certified.

    Examples
    --------
    >>> terms = Terms.create(eps=0.1, delta=0.05, side="both", min_scale=None, nonfinite="raise", gauge="max")
    >>> group_entrants(terms, ["a", "b", "c"], [40, 90])
    ['a']
    >>> group_entrants(terms, ["a", "b", "c"], [90, 90])
    ['a', 'b', 'c']
    """
    smallest = min(sizes)
    for kept in range(len(names), 1, -1):
        try:
            terms.choose_rank(smallest, DeltaShare(kept).among(len(sizes)))
        except InvalidInput:
            continue
        return list(names[:kept])
    terms.choose_rank(smallest, DeltaShare(len(sizes)))
    return list(names[:1])
