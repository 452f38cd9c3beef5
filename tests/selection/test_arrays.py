"""The r-th largest score of an array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.exceptions import InvalidInput
from pacband.selection import rth_largest


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_bound_of_zero_is_the_positive_zero(zero):
    assert math.copysign(1.0, rth_largest(np.array([zero, -1.0, zero]), 1)) == 1.0


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, 7.0, np.inf]), min_size=1, max_size=60), st.data())
def test_rth_largest_is_the_generalized_maximum(scores, data):
    rank = data.draw(st.integers(1, len(scores)))
    value = rth_largest(np.array(scores), rank)
    assert value == sorted(scores, reverse=True)[rank - 1]
    assert sum(score > value for score in scores) <= rank - 1


@pytest.mark.parametrize("rank", [0, 4, 1.5])
def test_rth_largest_refuses_a_rank_out_of_range(rank):
    with pytest.raises(InvalidInput, match="rank must"):
        rth_largest(np.ones(3), rank)
