"""Units of the target and its rounding error."""

import numpy as np
import pytest

from pacband.local.units import rounding_error, unit_of


@pytest.mark.parametrize(("y", "unit"), [([0.0], 1.0), ([1.0], 1.0), ([-5.0, 3.0], 4.0), ([0.3], 0.25)])
def test_unit_is_the_power_of_two_below_the_largest(y, unit):
    assert unit_of(np.array(y)) == unit


def test_units_of_extreme_targets_are_normal_numbers():
    for size in (5e-324, 1e-310, 1e308):
        unit = unit_of(np.array([size]))
        assert np.isfinite(unit)
        assert unit >= 2.0**-1000


def test_rounding_error_is_positive_and_scales():
    eps, tiny = np.finfo(float).eps, np.finfo(float).tiny
    assert rounding_error(np.array([-3.0, 2.0])) == 3 * eps
    assert rounding_error(np.array([-3.0, 2.0]), 8.0) == 24 * eps
    assert rounding_error(np.zeros(2)) == tiny
