"""Signs and ranks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from pacband.checks.transforms import centred_ranks, centred_signs, middle


@given(arrays(np.float64, st.integers(2, 50), elements=st.sampled_from([0.0, 1.0, 2.0, 5.5, np.inf])))
def test_ranks_are_those_of_scipy_and_centred(values):
    ranks = centred_ranks(values)
    if len(np.unique(values)) == 1:
        assert ranks is None
    else:
        np.testing.assert_allclose(ranks, (rankdata(values) - 0.5) / len(values) - 0.5, atol=1e-12)
        assert abs(ranks.sum()) < 1e-9


@given(arrays(np.float64, st.integers(4, 60), elements=st.sampled_from([-1.0, 0.0, 1.0, 2.0, 7.0])))
def test_the_middle_parts_the_rows_and_signs_are_centred(values):
    signs = centred_signs(values, middle(values))
    if signs is not None:
        assert abs(signs.sum()) < 1e-9
        assert 0.1 <= np.mean(signs > 0) <= 0.9


def test_ranks_within_groups_do_not_see_the_groups(rng):
    groups = np.repeat([0, 1], 500)
    values = rng.standard_normal(1000) + 100.0 * groups
    ranks = centred_ranks(values, groups)
    for group in (0, 1):
        np.testing.assert_allclose(ranks[groups == group], centred_ranks(values[groups == group]))


def test_nearly_constant_values_say_nothing():
    assert centred_signs(np.r_[np.zeros(99), 1.0], 0.5) is None
    assert centred_ranks(np.zeros(10), np.repeat([0, 1], 5)) is None
