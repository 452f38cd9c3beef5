"""Choose N and the rank from (ε, δ) and a share of δ, before any score is looked at."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from pacband.core.checks import check_choice, check_positive_integer, check_probability
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
        raise _not_enough_samples(n_samples, eps, delta, share, slack, slack_each, rank=chosen, rule=rule)
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
) -> NotEnoughSamples:
    """Return the error that states what (ε, δ) need, and what these samples can promise instead."""
    wanted, here = max(1, rank), max(1, min(rank, n_samples))
    budget = share.budget(delta)
    needed = _needed_samples(n_samples, eps, budget, slack, slack_each, rank=wanted, rule=rule)
    eps_here = smallest_eps(n_samples, here, budget - slack)
    delta_here = smallest_delta(n_samples, here, eps, share, slack)
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
