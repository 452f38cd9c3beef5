"""Tail probabilities against scipy."""

import math

import pytest
from scipy import stats

from pacband.checks.tails import chi2_tail, f_tail, kolmogorov_tail, normal_tail


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("value", [0.0, 0.3, 4.0, 25.0, 80.0])
def test_chi2(df, value):
    assert chi2_tail(value, df) == pytest.approx(stats.chi2.sf(value, df), rel=1e-9)


@pytest.mark.parametrize("value", [0.01, 0.21, 0.5, 1.0, 2.0, 4.0])
def test_kolmogorov_and_normal(value):
    assert kolmogorov_tail(value) == pytest.approx(stats.kstwobign.sf(value), rel=1e-9)
    assert normal_tail(value) == pytest.approx(stats.norm.sf(value), rel=1e-12)


@pytest.mark.parametrize("between", [4, 10, 200, 20_000])
@pytest.mark.parametrize("within", [30, 1000, 20_000])
def test_f_is_never_below_the_truth(between, within):
    for tail in (1e-2, 1e-4, 1e-6):
        found = f_tail(stats.f.isf(tail, between, within), between, within)
        assert 0.999 * tail <= found <= 2.2 * tail


def test_f_at_its_ends():
    assert f_tail(0.0, 5, 50) == 1.0
    assert f_tail(math.inf, 5, 50) == 0.0
