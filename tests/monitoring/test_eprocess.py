"""The e-process: its promises by exact enumeration."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from pacband.monitoring.eprocess import first_crossing, log_e_value, prior
from support.violations import ALPHA, EPS, positions


def first_times(p, eps, alpha, steps):
    """P(the e-process first reaches 1/alpha at row n), exactly, by carrying the law of the count from row to row."""
    alive = np.zeros(int(steps * p + 12 * math.sqrt(steps * p) + 60))
    alive[0], times = 1.0, np.zeros(steps + 1)
    for n in range(1, steps + 1):
        alive[1:] = alive[1:] * (1 - p) + alive[:-1] * p
        alive[0] *= 1 - p
        above = np.arange(int(eps * n) + 1, min(len(alive), n + 1))
        above = above[alive[above] > 0]
        crossed = above[log_e_value(above, n, eps) >= -math.log(alpha)]
        times[n], alive[crossed] = alive[crossed].sum(), 0.0
    return times


@pytest.mark.parametrize(("violations", "rows", "eps"), [(0, 7, 0.05), (3, 9, 0.05), (12, 100, 0.01), (40, 50, 0.7)])
def test_e_value_is_the_mixture_of_likelihood_ratios(violations, rows, eps):
    mpmath.mp.dps = 30
    a, b = map(mpmath.mpf, prior(eps))
    others = rows - violations

    def ratio(p):
        return (p / eps) ** violations * ((1 - p) / (1 - mpmath.mpf(eps))) ** others

    def mixed(function):
        # Over u = (1 − p)^b, so that the prior has no pole at p = 1.
        return mpmath.quad(lambda u: (1 - u ** (1 / b)) ** (a - 1) * function(1 - u ** (1 / b)), [0, (1 - eps) ** b])

    expected = mixed(ratio) / mixed(lambda p: 1)
    assert math.exp(log_e_value(violations, rows, eps)) == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize("n", range(16))
def test_e_value_has_mean_one_at_eps_and_less_below_by_enumeration(n):
    counts = np.arange(n + 1)
    values = np.exp(log_e_value(counts, n, EPS))
    assert binom.pmf(counts, n, EPS) @ values == pytest.approx(1.0, rel=1e-12)
    for p in (0.0, 0.01, 0.03, 0.049):
        assert binom.pmf(counts, n, p) @ values <= 1.0 + 1e-12


def test_e_value_is_a_martingale_given_every_past():
    for n, s in itertools.product(range(15), range(15)):
        if s <= n:
            now, hit, miss = np.exp(
                [log_e_value(s, n, EPS), log_e_value(s + 1, n + 1, EPS), log_e_value(s, n + 1, EPS)]
            )
            assert EPS * hit + (1 - EPS) * miss == pytest.approx(now, rel=1e-12)
            assert hit > now > miss


def test_delays_and_false_revocations_exactly():
    """Medians no later than 271 and 37 rows; crossing at the border of the promise with probability below alpha."""
    assert np.searchsorted(first_times(0.10, EPS, ALPHA, 400).cumsum(), 0.5) == 233
    assert np.searchsorted(first_times(0.20, EPS, ALPHA, 60).cumsum(), 0.5) == 37
    assert 0.003 < first_times(EPS, EPS, ALPHA, 3000).sum() <= ALPHA


def test_first_crossing_is_that_of_a_look_at_every_row(rng):
    found = 0
    for _ in range(60):
        violated = rng.random(600) < rng.choice([0.05, 0.08, 0.15, 0.5])
        counts = np.cumsum(violated)
        looks = log_e_value(counts, np.arange(1, 601), EPS) >= math.log(20)
        at = positions(violated)
        index = first_crossing(counts[at], at + 1, EPS, math.log(20))
        assert (None if index is None else at[index]) == (np.argmax(looks) if looks.any() else None)
        found += index is not None
    assert 10 < found < 55


@pytest.mark.verify
def test_false_revocations_over_a_long_stream(rng):
    """20,000 rows at the border of the promise: exactly, and over 2,000 streams; peeking at a test is no match."""
    exact = first_times(EPS, EPS, ALPHA, 20000).sum()
    assert 0.006 < exact < 0.008
    revoked = peeked = 0
    n = np.arange(1, 20001)
    critical = binom.isf(ALPHA, n, EPS)
    for _ in range(2000):
        violated = rng.random(20000) < EPS
        counts = np.cumsum(violated)
        at = positions(violated)
        revoked += first_crossing(counts[at], at + 1, EPS, -math.log(ALPHA)) is not None
        peeked += bool((counts > critical).any())
    assert revoked <= binom.ppf(1 - 1e-6, 2000, ALPHA)
    assert peeked / 2000 > 0.10
