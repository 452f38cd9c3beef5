"""Choose N and the rank from (ε, δ) and a share of δ, before any score is looked at."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from pacband.core.checks import check_choice, check_positive_integer, check_probability
from pacband.core.floats import first, first_float
from pacband.core.wording import round_up
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning.binomial import covering_delta, tail_at_most
from pacband.planning.limits import check_budget, check_eps, check_reach
from pacband.planning.mistakes import warn_of_mistakes
from pacband.planning.shares import WHOLE, DeltaShare, rounded_up
from pacband.planning.shortage import not_enough_samples
from pacband.planning.solving import half_rank, largest_rank, likely_rank, samples_by_rule, smallest_eps

__all__ = ["PLAN_RULES", "check_choice_of_rank", "choose_rank", "choose_samples", "guess_rank", "smallest_delta"]

PLAN_RULES = ("exact", "paper", "maximum")


def check_choice_of_rank(eps: Any, delta: Any, rank: Any, rule: Any) -> tuple[float, float, int | None]:
    """Return (ε, δ, rank) as numbers, or raise unless a rule can choose a rank for them.

    Warns if ε or δ is more than half.
    """
    check_choice("rule", rule, PLAN_RULES)
    eps, delta = check_eps(eps), check_probability("delta", delta)
    if rank is not None:
        rank = check_positive_integer("rank", rank)
    if rule == "maximum" and rank not in (None, 1):
        raise InvalidInput(f"rule 'maximum' takes the largest score, so rank must be 1, got {rank}.")
    warn_of_mistakes(eps=eps, delta=delta)
    return eps, delta, rank


def choose_samples(
    eps: float, delta: float, share: DeltaShare = WHOLE, *, rank: int | None = None, rule: str = "exact"
) -> int:
    """Return the N that a rule asks for at a share of δ."""
    return check_reach(samples_by_rule(eps, share.budget(delta), rank, rule), eps, delta, rank)


@lru_cache(maxsize=1 << 12)
def choose_rank(
    n_samples: int,
    eps: float,
    delta: float,
    share: DeltaShare = WHOLE,
    *,
    rank: int | None = None,
    rule: str = "exact",
    slack: Fraction = Fraction(0),
    slack_each: Fraction = Fraction(0),
) -> int:
    """Return the rank of N samples at a share of δ, the given one or that of the rule. Raise if it is not valid.

    `slack` is the part of the share that the dependence between samples uses up; one more sample uses up `slack_each`
    more. Results are cached: a large table has
    many groups, but few different numbers of rows.
    """
    check_budget(delta, share)
    budget = share.budget(delta) - slack
    if budget <= 0:
        raise InvalidInput(
            f"the dependence between {n_samples} samples uses up {float(slack):.3g}, and delta={delta:g} leaves "
            f"{float(share.budget(delta)):.3g} for it: take a larger gap or a larger delta."
        )
    if rank is None and rule == "exact":
        chosen = largest_rank(n_samples, eps, budget)
        valid = chosen > 0
    else:
        if rank is not None and rank > n_samples:
            raise InvalidInput(f"rank must not exceed the number of samples, {n_samples}, got {rank}.")
        # Lemma 1 gives rank ⌊εN/2⌋ = 0, no bound at all, where N < 2/ε.
        chosen = rank or (1 if rule == "maximum" else half_rank(n_samples, eps))
        valid = chosen > 0 and tail_at_most(n_samples, chosen, eps, budget)
    if not valid:
        raise _not_enough_samples(
            n_samples, eps, delta, share, slack, slack_each, rank=chosen, rule=rule, rank_given=rank is not None
        )
    return chosen


@lru_cache(maxsize=1 << 12)
def smallest_delta(n_samples: int, rank: int, eps: float, share: DeltaShare, slack: Fraction) -> float:
    """Return the smallest δ that these numbers certify, rounded up: (B(r − 1; N, ε) + slack) / share, at most 1."""
    alone = covering_delta(n_samples, rank, eps, share.fraction)
    return alone if not slack else min(1.0, rounded_up(Fraction(alone) + slack / share.fraction))


def guess_rank(
    n_samples: int, eps: float, delta: float, share: DeltaShare = WHOLE, *, rank: int | None = None, rule: str = "exact"
) -> int:
    """Return about the rank that `choose_rank` gives, without a decision; 0 if N is too small for any."""
    check_budget(delta, share)
    if rank is not None:
        return rank
    if rule != "exact":
        return 1 if rule == "maximum" else half_rank(n_samples, eps)
    return max(0, round(likely_rank(n_samples, eps, share.budget(delta))))


def _not_enough_samples(
    n_samples: int,
    eps: float,
    delta: float,
    share: DeltaShare,
    slack: Fraction,
    slack_each: Fraction,
    *,
    rank: int,
    rule: str,
    rank_given: bool,
) -> NotEnoughSamples:
    """Return the error that states what (ε, δ) need, and what these samples can promise instead."""
    wanted = max(1, rank)
    budget = share.budget(delta)
    needed = _needed_samples(n_samples, eps, budget, slack, slack_each, rank=wanted, rule=rule)
    if rule == "paper" and not rank_given:
        eps_here = _smallest_eps_of_lemma(n_samples, budget - slack)
        # Rank ⌊εN/2⌋ = 0 is no bound, however large δ is.
        delta_here = smallest_delta(n_samples, rank, eps, share, slack) if rank else 1.0
    else:
        eps_here = smallest_eps(n_samples, wanted, budget - slack)
        delta_here = smallest_delta(n_samples, wanted, eps, share, slack)
    at = f"at rank {wanted}" if rule == "exact" else f"by rule {rule!r}"
    needs = f"need at least {needed} samples {at}"
    if needed is None:
        needs = "cannot be promised by any number of these samples, because their dependence uses up delta"
    return not_enough_samples(
        eps, delta, share, needs, n_samples=n_samples, needed=needed, eps_here=eps_here, delta_here=delta_here
    )


def _needed_samples(
    n_samples: int, eps: float, budget: Fraction, slack: Fraction, slack_each: Fraction, *, rank: int, rule: str
) -> int | None:
    """Return how many samples suffice if each uses up a part of the budget; None if no number does."""
    needed = n_samples
    while (left := budget - slack - (needed - n_samples) * slack_each) > 0:
        wanted = samples_by_rule(eps, left, rank, rule)
        if wanted <= needed:
            return needed
        needed = wanted
    return None


def _smallest_eps_of_lemma(n_samples: int, budget: Fraction) -> float:
    """Return the smallest ε that N samples promise at rank ⌊εN/2⌋, also as it is printed; 1.0 if there is none.

    All ε from 2r/N up to 2(r + 1)/N have the rank r; call them a stretch. Along a stretch the tail falls. At the start
    of the next one it jumps up, so that an ε which is rounded up to three digits may be refused. From the end of one
    stretch to the end of the next the tail falls. So bisection finds the first rank that is valid in its stretch.
    """

    def valid(eps: float) -> bool:
        rank = half_rank(n_samples, eps)
        return rank > 0 and tail_at_most(n_samples, rank, eps, budget)

    def start(rank: int) -> float:
        return first_float(lambda eps: half_rank(n_samples, eps) >= rank, guess=min(1.0, 2 * rank / n_samples))

    def valid_at_end(rank: int) -> bool:
        return tail_at_most(n_samples, rank, math.nextafter(start(rank + 1), 0.0), budget)

    ranks = range(1, half_rank(n_samples, math.nextafter(1.0, 0.0)) + 1)
    rank = first(valid_at_end, ranks, guess=1.0) if ranks else 1
    if rank not in ranks:
        return 1.0
    smallest = max(start(rank), smallest_eps(n_samples, rank, budget))
    printed = round_up(smallest, 3)
    if printed >= 1.0 or valid(printed):
        return smallest
    while printed < 1.0 and not valid(printed):
        printed = round_up(math.nextafter(printed, 1.0), 3)
    return printed
