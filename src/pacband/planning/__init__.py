"""How many samples a promise needs, and which rank: Property 1, Lemma 1 and Corollary 1 of the paper."""

from pacband.planning.acceptance import AcceptancePlan, plan_acceptance
from pacband.planning.costs import DELTAS, PlanTable, more_samples, plan_table
from pacband.planning.limits import check_eps
from pacband.planning.plans import Plan, attained_delta, attained_eps, max_rank, min_samples, plan
from pacband.planning.ranks import PLAN_RULES, check_choice_of_rank, choose_rank, choose_samples
from pacband.planning.shares import WHOLE, DeltaShare
from pacband.planning.solving import LARGEST_N

__all__ = [
    "DELTAS",
    "LARGEST_N",
    "PLAN_RULES",
    "WHOLE",
    "AcceptancePlan",
    "Plan",
    "PlanTable",
    "DeltaShare",
    "attained_delta",
    "attained_eps",
    "check_choice_of_rank",
    "check_eps",
    "choose_rank",
    "choose_samples",
    "max_rank",
    "min_samples",
    "more_samples",
    "plan",
    "plan_acceptance",
    "plan_table",
]
