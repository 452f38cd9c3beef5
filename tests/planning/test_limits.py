"""The rules for the arguments of plans."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from pacband import InvalidInput, NotEnoughSamples, attained_delta, attained_eps, max_rank, min_samples, plan
from pacband.planning import LARGEST_N
from pacband.planning.limits import check_reach

GOOD_ARGUMENTS = {
    min_samples: {"eps": 0.05, "delta": 0.05, "rank": 3, "n_candidates": 2},
    max_rank: {"n_samples": 500, "eps": 0.05, "delta": 0.05, "n_candidates": 2},
    attained_delta: {"n_samples": 500, "rank": 3, "eps": 0.05, "n_candidates": 2},
    attained_eps: {"n_samples": 500, "rank": 3, "delta": 0.05, "n_candidates": 2},
    plan: {"eps": 0.05, "delta": 0.05, "n_samples": 500, "rank": 3, "n_candidates": 2},
}
OUTSIDE = [0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, math.inf, -math.inf, True, False, "0.05", 10**400]
NOT_NUMBERS = [None, "five", [0.1, 0.2], 1j]
TOO_SMALL = [0, -1, True, False]
NOT_INTEGERS = [2.0, 1.5, math.nan, "3", [1], 0.95]


def bad_arguments():
    cases = []
    for function, arguments in GOOD_ARGUMENTS.items():
        for name in arguments:
            if name in ("eps", "delta"):
                rules = [(OUTSIDE, f"{name} must be in (0, 1)"), (NOT_NUMBERS, f"{name} must be a number in (0, 1)")]
            else:
                rules = [(TOO_SMALL, f"{name} must be at least 1"), (NOT_INTEGERS, f"{name} must be an integer")]
            cases += [
                pytest.param(function, name, value, rule, id=f"{function.__name__}-{name}-{str(value)[:20]!r}")
                for values, rule in rules
                for value in values
            ]
    return cases


def functions_with(*names):
    return [f for f, arguments in GOOD_ARGUMENTS.items() if set(names) <= set(arguments)]


class TestBadInput:
    @pytest.mark.parametrize(("function", "name", "value", "rule"), bad_arguments())
    def test_the_message_states_the_rule_and_the_value(self, function, name, value, rule):
        with pytest.raises(InvalidInput, match=re.escape(f"{rule}, got {value!r}.")):
            function(**{**GOOD_ARGUMENTS[function], name: value})

    @pytest.mark.parametrize("function", list(GOOD_ARGUMENTS))
    def test_the_good_arguments_are_good_also_as_numpy_scalars(self, function):
        arguments = GOOD_ARGUMENTS[function]
        as_numpy = {name: np.array([value])[0] for name, value in arguments.items()}
        assert function(**as_numpy) == function(**arguments)

    @pytest.mark.parametrize("function", functions_with("n_samples"))
    def test_more_than_1e12_samples(self, function):
        with pytest.raises(InvalidInput, match=r"n_samples must be at most 1e\+12, got 1000000000001\."):
            function(**{**GOOD_ARGUMENTS[function], "n_samples": 10**12 + 1})

    @pytest.mark.parametrize("function", functions_with("n_samples", "rank"))
    def test_a_rank_beyond_the_samples(self, function):
        with pytest.raises(InvalidInput, match=r"rank must not exceed the number of samples, 500, got 501\."):
            function(**{**GOOD_ARGUMENTS[function], "rank": 501})

    @pytest.mark.parametrize("function", functions_with("eps"))
    def test_eps_below_the_range(self, function):
        with pytest.raises(InvalidInput, match=r"eps must be at least 1e-09, got 9\.9e-10\."):
            function(**{**GOOD_ARGUMENTS[function], "eps": 9.9e-10})

    @pytest.mark.parametrize("function", functions_with("delta"))
    def test_delta_below_the_range(self, function):
        message = r"delta / n_candidates must be at least 1e-300, got 1e-299 / 11\."
        with pytest.raises(InvalidInput, match=message):
            function(**{**GOOD_ARGUMENTS[function], "delta": 1e-299, "n_candidates": 11})

    @pytest.mark.parametrize("value", ["Exact", "", None, 1, ["exact"], "paper"])
    def test_a_rule_that_min_samples_does_not_know(self, value):
        message = re.escape(f"rule must be one of 'exact', 'corollary', got {value!r}.")
        with pytest.raises(InvalidInput, match=message):
            min_samples(0.05, 0.05, rule=value)

    @pytest.mark.parametrize("value", ["Exact", "", None, 1, ["exact"], "corollary"])
    def test_a_rule_that_plan_does_not_know(self, value):
        message = re.escape(f"rule must be one of 'exact', 'paper', 'maximum', got {value!r}.")
        with pytest.raises(InvalidInput, match=message):
            plan(0.05, 0.05, rule=value)

    @pytest.mark.parametrize("n_samples", [None, 500])
    def test_the_largest_score_has_rank_one(self, n_samples):
        with pytest.raises(InvalidInput, match="rule 'maximum' takes the largest score, so rank must be 1, got 2"):
            plan(0.05, 0.05, n_samples=n_samples, rank=2, rule="maximum")

    def test_the_options_of_plan_are_keywords(self):
        with pytest.raises(TypeError, match="positional"):
            plan(0.05, 0.05, 500)

    def test_not_enough_samples_with_delta_as_a_fraction(self):
        with pytest.raises(NotEnoughSamples):
            plan(0.05, Fraction(1, 20), n_samples=10)


def test_the_largest_number_of_samples_is_within_reach():
    assert check_reach(LARGEST_N, 0.05, 0.01, None) == LARGEST_N
    with pytest.raises(InvalidInput, match=r"eps=0.05 and delta=0.01 need more than 1e\+12 samples"):
        check_reach(LARGEST_N + 1, 0.05, 0.01, None)
    with pytest.raises(InvalidInput, match=r"delta=0.01 at rank 7 need more than"):
        check_reach(LARGEST_N + 1, 0.05, 0.01, 7)
