"""Exact intervals and p-values."""

import pytest
from scipy.stats import binom, binomtest

from pacband.judging.counts import exact_interval, exceedance, mean_interval


def test_exact_intervals_and_p_values_are_scipys():
    for k, n in [(0, 10), (3, 10), (10, 10), (17, 4000)]:
        interval = binomtest(k, n).proportion_ci(0.95, method="exact")
        assert exact_interval(k, n) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert exceedance(k, n, 0.1) == pytest.approx(binom.sf(k - 1, n, 0.1), rel=1e-9)


@pytest.mark.parametrize(("mean", "trials"), [(0.999, 1), (1e-3, 1), (0.9999, 10), (1.0, 3), (0.0, 3)])
def test_the_interval_of_a_mean_near_the_ends(mean, trials):
    low, high = mean_interval(mean, trials)
    assert 0.0 <= low <= mean <= high <= 1.0
