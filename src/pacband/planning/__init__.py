"""How many samples a promise takes, and which rank: Property 1, Lemma 1 and Corollary 1 of the paper."""

from pacband.planning.plans import (
    LARGEST_N,
    PLAN_RULES,
    Plan,
    attained_delta,
    attained_eps,
    check_eps,
    max_rank,
    min_samples,
    plan,
    smallest_delta,
)

__all__ = [
    "LARGEST_N",
    "PLAN_RULES",
    "Plan",
    "attained_delta",
    "attained_eps",
    "check_eps",
    "max_rank",
    "min_samples",
    "plan",
    "smallest_delta",
]
