"""Plans: the rules for their arguments, what too few samples can promise instead, and the plan as a value."""

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from pacband import InvalidInput, NotEnoughSamples, Plan, attained_delta, attained_eps, max_rank, min_samples, plan

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


def refused(*arguments, **options):
    with pytest.raises(NotEnoughSamples) as caught:
        plan(*arguments, **options)
    return caught.value


def offers(error):
    """Return what the message of NotEnoughSamples offers: {"eps": 0.1, "delta": 0.3}."""
    instead = str(error).partition("These samples can promise ")[2]
    return {name: float(value) for name, value in re.findall(r"(eps|delta)=(\S+?) at this", instead)}


class TestNotEnoughSamples:
    def test_the_message(self):
        with pytest.raises(NotEnoughSamples) as caught:
            max_rank(200, 0.05, 1e-6)
        error = caught.value
        assert str(error) == (
            "eps=0.05 and delta=1e-06 need at least 270 samples at rank 1, got n_samples=200. "
            "These samples can promise eps=0.0668 at this delta, or delta=3.51e-05 at this eps."
        )
        assert (error.n_samples, error.needed) == (200, 270)
        assert error.eps_here == attained_eps(200, 1, 1e-6)
        assert error.delta_here == attained_delta(200, 1, 0.05)
        assert isinstance(error, InvalidInput)
        assert isinstance(error, ValueError)

    def test_the_candidates_are_named(self):
        error = refused(0.05, 1e-6, n_samples=200, n_candidates=10)
        assert "delta=1e-06, shared 10 ways, need at least 315 samples" in str(error)

    @pytest.mark.parametrize("n_samples", [3, 5, 30, 100, 269])
    @pytest.mark.parametrize("n_candidates", [1, 20])
    def test_what_is_offered_holds_as_it_is_printed(self, n_samples, n_candidates):
        error = refused(0.05, 1e-6, n_samples=n_samples, n_candidates=n_candidates)
        offered = offers(error)
        assert ("eps" in offered, "delta" in offered) == (error.eps_here is not None, error.delta_here is not None)
        for name, value in offered.items():
            promise = {"eps": 0.05, "delta": 1e-6, name: value}
            assert plan(**promise, n_samples=n_samples, n_candidates=n_candidates)

    @pytest.mark.parametrize(("eps", "delta"), [(0.05, 4e-4), (3e-4, 0.5), (0.05, 0.9)])
    def test_what_one_sample_is_offered_to_promise_holds(self, eps, delta):
        for name, value in offers(refused(eps, delta, n_samples=1)).items():
            assert plan(**{"eps": eps, "delta": delta, name: value}, n_samples=1)

    @pytest.mark.parametrize(("n_samples", "rank"), [(100, 3), (100, 50), (1826, 51), (2062, 60)])
    def test_what_is_offered_at_a_rank_holds_at_that_rank(self, n_samples, rank):
        error = refused(0.05, 1e-6, n_samples=n_samples, rank=rank)
        assert f"samples at rank {rank}" in str(error)
        assert error.needed == min_samples(0.05, 1e-6, rank)
        offered = offers(error)
        assert offered
        for name, value in offered.items():
            assert plan(**{"eps": 0.05, "delta": 1e-6, name: value}, n_samples=n_samples, rank=rank)

    @pytest.mark.parametrize("n_samples", [100, 150, 200, 269])
    def test_eps_here_and_delta_here_are_certified(self, n_samples):
        error = refused(0.05, 1e-6, n_samples=n_samples)
        assert plan(error.eps_here, 1e-6, n_samples=n_samples).rank == 1
        assert plan(0.05, error.delta_here, n_samples=n_samples).rank == 1

    @pytest.mark.parametrize(
        ("eps", "delta", "n_samples", "rule", "needed"),
        [
            (0.05, 1e-6, 1000, "paper", 2065),
            (0.05, 1e-6, 200, "maximum", 277),
            # Below 2/ε Lemma 1 has rank ⌊εN/2⌋ = 0: no bound at all, however large δ.
            (0.05, 0.9, 39, "paper", 40),
            (0.05, 0.9, 2, "paper", 40),
        ],
    )
    def test_what_a_rule_needs(self, eps, delta, n_samples, rule, needed):
        error = refused(eps, delta, n_samples=n_samples, rule=rule)
        assert f"need at least {needed} samples by rule '{rule}', got n_samples={n_samples}." in str(error)
        assert error.needed == needed
        assert plan(eps, delta, n_samples=needed, rule=rule)
        for name, value in offers(error).items():
            assert plan(**{"eps": eps, "delta": delta, name: value}, n_samples=n_samples)

    def test_lemma_1_has_no_bound_for_large_delta(self):
        # At its own N, Lemma 1 has rank zero where N < 2/ε: for δ > exp(−2/7.47) ≈ 0.765, up to rounding N.
        assert plan(0.05, 0.76, rule="paper").rank == 1
        assert "by rule 'paper'" in str(refused(0.05, 0.78, rule="paper"))

    def test_a_rank_beyond_lemma_1_needs_more_samples_than_there_are(self):
        assert refused(0.05, 1e-6, n_samples=2065, rank=100, rule="paper").needed > 2065

    def test_nothing_can_be_promised(self):
        error = refused(1e-9, 1e-300, n_samples=1)
        assert (error.eps_here, offers(error).get("eps")) == (None, None)


class TestPlan:
    made = plan(0.05, 1e-6, n_samples=2407, n_candidates=10)

    def test_it_is_frozen(self):
        for field in dataclasses.fields(Plan):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(self.made, field.name, 1)

    def test_it_is_a_value(self):
        again = plan(0.05, 1e-6, n_samples=2407, n_candidates=10)
        assert self.made == again
        assert hash(self.made) == hash(again)
        assert self.made != plan(0.05, 1e-6, n_samples=2407)

    def test_what_it_holds(self):
        assert dataclasses.asdict(self.made) == {
            "eps": 0.05,
            "delta": 1e-6,
            "n_candidates": 10,
            "n_samples": 2407,
            "rank": 69,
            "rule": "exact",
        }
        assert self.made.attained_delta == attained_delta(2407, 69, 0.05, 10) <= 1e-6
        assert self.made.expected_violation == 69 / 2408

    def test_its_words(self):
        assert str(self.made) == (
            "Draw 2407 samples the model has not seen and take the score of rank 69 from the top: with confidence "
            "99.9999 %, at least 95 % of future errors stay within the bound for each of 10 candidates."
        )
        assert "candidates" not in str(plan(0.05, 1e-6))

    def test_its_card(self):
        card = self.made._repr_html_()
        assert card.startswith("<div")
        assert card.endswith("</div>")
        for text in (str(self.made), "2407", "69", "1e-06", "exact", "0.0286545"):
            assert text in card
        assert "<script" not in card
        assert "http" not in card

    def test_the_defaults_are_the_papers_promise(self):
        assert plan() == plan(0.05, 1e-6)

    def test_with_both_given_the_pair_is_only_checked(self):
        assert plan(0.05, 1e-6, n_samples=2065, rank=3).rank == 3
