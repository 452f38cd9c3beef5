"""Means in fixed point: next to the rational mean, and the same bits in any order and in any parts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from pacband.scores.means import STEP, exact_mean, fixed_mean, fixed_unit


def rational_mean(values):
    return sum(map(Fraction, values.tolist())) / len(values)


@pytest.mark.parametrize("size", [1, 3, 1000, 40_000])
@pytest.mark.parametrize("factor", [1.0, -1e-200, 1e200])
def test_the_mean_is_the_rational_one_but_for_two_to_the_minus_59_of_the_largest(size, factor):
    values = np.random.default_rng(0).standard_normal(size) * factor
    mean = rational_mean(values)
    cut_off = Fraction(float(np.abs(values).max())) / 2**58
    assert abs(Fraction(exact_mean(values)) - mean) <= cut_off + abs(mean) / 2**52


def test_the_mean_does_not_depend_on_the_order_nor_on_the_shape():
    values = np.random.default_rng(1).standard_normal(40_000)
    assert (
        exact_mean(values)
        == exact_mean(values[::-1])
        == exact_mean(np.sort(values))
        == exact_mean(values.reshape(-1, 4))
    )


def test_a_sum_of_floats_would_lose_what_the_mean_keeps():
    values = np.array([1.0, 2.0**-50] * 1000)
    assert exact_mean(values) == (1.0 + 2.0**-50) / 2


@pytest.mark.parametrize("largest", [1.0, 0.75, 1.5, 3e-200, 7e300, 1e-297])
def test_the_unit_is_the_power_of_two_that_brings_numbers_to_at_most_two_to_the_30(largest):
    unit = fixed_unit(largest)
    assert math.frexp(unit)[0] == 0.5
    assert 2.0**29 <= largest * unit <= STEP == 2.0**30


@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_the_unit_of_tiny_numbers_stays_finite(tiny):
    assert fixed_unit(tiny) == 2.0**1020
    assert exact_mean(np.array([tiny, tiny])) == pytest.approx(tiny, abs=2.0**-1070)


def test_the_mean_from_the_sums_of_the_parts():
    assert fixed_mean(7, 2**29, 2.0, 3) == 1.25


def test_the_mean_of_zeros():
    assert exact_mean(np.zeros(3)) == 0.0


def test_the_mean_of_large_negative_numbers_does_not_depend_on_the_order():
    rng = np.random.default_rng(2)
    values = np.where(rng.random(40_000) < 0.5, -(10.0 ** rng.uniform(0, 12, 40_000)), 1e-3 * rng.random(40_000))
    assert {exact_mean(rng.permutation(values)) for _ in range(10)} == {exact_mean(values)}
    assert exact_mean(values) == pytest.approx(float(rational_mean(values)), rel=1e-15)
