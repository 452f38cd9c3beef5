"""The r-th largest score of an array."""

import math

import numpy as np
import pytest

from pacband.selection import rth_largest


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_bound_of_zero_is_the_positive_zero(zero):
    assert math.copysign(1.0, rth_largest(np.array([zero, -1.0, zero]), 1)) == 1.0
