"""Shares of one δ: exact fractions that never sum to more than one."""

import math
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.exceptions import InvalidInput
from pacband.planning.shares import WHOLE, DeltaShare, rounded_down, rounded_up, successor_delta, weighted_shares

NAMES = ["a", "b", "c"]


def test_an_even_share_is_the_exact_part_and_a_weight_is_itself():
    assert WHOLE == DeltaShare() == DeltaShare(1)
    assert WHOLE.fraction == 1
    assert DeltaShare(3).fraction == Fraction(1, 3)
    assert DeltaShare(3, 0.1).fraction == Fraction(0.1)
    assert DeltaShare(3).budget(0.3) == Fraction(0.3) / 3 != Fraction(0.3 / 3)


@given(st.integers(1, 10**6), st.floats(1e-300, 1, exclude_max=True))
def test_the_delta_of_a_share_is_round_down(n_candidates, delta):
    own = DeltaShare(n_candidates).own_delta(delta)
    assert Fraction(own) <= Fraction(delta) / n_candidates < Fraction(math.nextafter(own, 1.0))


def test_among_groups_a_share_is_divided_evenly():
    assert DeltaShare(3).among(4) == DeltaShare(12)
    assert WHOLE.among(1) is WHOLE
    # A weight is no even part: it can only be used whole.
    assert DeltaShare(2, 0.3).among(1) == DeltaShare(2, 0.3)
    with pytest.raises(InvalidInput, match="weights cannot be combined with groups"):
        DeltaShare(2, 0.3).among(2)


def test_without_weights_every_candidate_has_the_even_part():
    assert weighted_shares(None, NAMES) == dict.fromkeys(NAMES, DeltaShare(3))


def test_weights_with_names_are_matched_by_name_and_others_by_position():
    by_name = weighted_shares({"c": 0.5, "a": 0.125, "b": 0.375}, NAMES)
    assert {name: share.weight for name, share in by_name.items()} == {"a": 0.125, "b": 0.375, "c": 0.5}
    assert weighted_shares(pd.Series({"c": 0.5, "a": 0.125, "b": 0.375}), NAMES) == by_name
    assert weighted_shares(iter([0.125, 0.375, 0.5]), NAMES) == by_name
    assert {share.n_candidates for share in by_name.values()} == {3}


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=30))
def test_rounded_weights_never_use_more_than_delta(weights):
    total = sum(weights)
    names = [str(k) for k in range(len(weights))]
    shares = weighted_shares([weight / total for weight in weights], names)
    assert 1 - Fraction(1, 10**12) < sum(share.fraction for share in shares.values()) <= 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5], "one value for each of"),
        ({"a": 0.5, "b": 0.25, "d": 0.25}, "matched by name: pass a list to match by position"),
        ([0.5, 0.25, "0.25"], "weights must be numbers"),
        ([0.5, 0.25, 0.26], "positive and sum to 1"),
        ([1.0, 0.0, 0.0], "positive and sum to 1"),
        ([0.5, 0.5, math.nan], "positive and sum to 1"),
        ("abc", "a mapping or a sequence"),
        (0.5, "a mapping or a sequence"),
    ],
)
def test_weights_that_share_nothing_out_are_refused(weights, message):
    with pytest.raises(InvalidInput, match=message):
        weighted_shares(weights, NAMES)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(1, 10), Fraction(1, 2), Fraction(2, 3)])
def test_rounding_down_gives_the_largest_float_that_is_not_above(value):
    below = rounded_down(value)
    assert Fraction(below) <= value < Fraction(math.nextafter(below, 1.0))


def test_a_chain_never_uses_more_than_its_delta():
    # The sum telescopes: n certificates use 1 − 1/(2n) of the δ of the chain.
    used = Fraction(1, 2)
    for generation in range(2, 50):
        used += successor_delta(1.0, generation)
        assert used == 1 - Fraction(1, 2 * generation)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(1, 10), Fraction(2, 3), Fraction(1, 4)])
def test_rounding_up_is_the_nearest_float_that_is_not_smaller(value):
    up = rounded_up(value)
    assert Fraction(math.nextafter(up, 0.0)) < value <= Fraction(up)


def test_weights_may_miss_one_by_rounding_only():
    assert weighted_shares([0.5, 0.5 + 0.9e-9], ["a", "b"])["a"].weight <= 0.5
    with pytest.raises(InvalidInput, match="sum to 1"):
        weighted_shares([0.5, 0.5 + 1.5e-9], ["a", "b"])


def test_only_what_has_names_is_matched_by_name():
    with pytest.raises(InvalidInput) as caught:
        weighted_shares([0.5, 0.25, 0.25], ["a", "b"])
    assert "matched by name" not in str(caught.value)
    with pytest.raises(InvalidInput, match="matched by name: pass a list to match by position"):
        weighted_shares({"a": 0.5, "c": 0.5}, ["a", "b"])


def test_no_weight_is_more_than_all_of_delta():
    with pytest.raises(InvalidInput, match="weights must be positive and sum to 1"):
        weighted_shares([1.0 + 0.5e-9], ["a"])


@pytest.mark.parametrize("method", ["keys", "items"])
def test_weights_are_matched_by_position_unless_they_have_both_names_and_values(method):
    class Weights(list):
        pass

    weights = Weights([0.25, 0.75])
    setattr(weights, method, lambda: [("b", 0.25), ("a", 0.75)])
    assert weighted_shares(weights, ["a", "b"])["a"].fraction == Fraction(1, 4)
