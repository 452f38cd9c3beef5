"""The search for the first integer or float at which a monotone condition becomes true."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.core.floats import first, first_float, float_at, ordinal


@given(st.integers(-50, 50), st.integers(0, 60), st.floats(-200, 200) | st.just(math.nan))
def test_the_first_number_is_found_from_any_guess(start, place, guess):
    numbers = range(start, start + 50)
    limit = start + place
    assert first(lambda k: k >= limit, numbers, guess) == min(limit, numbers.stop)


def test_a_good_guess_needs_few_steps():
    asked = []
    assert first(lambda k: asked.append(k) or k >= 500_000, range(10**6), 500_001) == 500_000
    assert len(asked) < 6


@given(st.floats(1e-300, 1 - 1e-9), st.floats(0.0, 1.0))
def test_the_first_float_is_exact(limit, guess):
    assert first_float(lambda value: value >= limit, guess) == limit


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_places_are_ordered_as_the_floats_are(a, b):
    assert (ordinal(a) < ordinal(b)) == (a < b)
    assert (ordinal(a) == ordinal(b)) == (a == b)
    assert float_at(ordinal(a)) == a
    if math.isfinite(a):
        assert ordinal(math.nextafter(a, math.inf)) == ordinal(a) + 1


@given(st.floats(allow_nan=False))
def test_places_are_those_of_neighbours(value):
    assert float_at(ordinal(value)) == value
    assert ordinal(math.nextafter(value, math.inf)) - ordinal(value) in ((0,) if value == math.inf else (1,))


def test_both_zeros_have_one_place():
    assert ordinal(0.0) == ordinal(-0.0) == 0
    with pytest.raises(OverflowError):
        float_at(2**64)
