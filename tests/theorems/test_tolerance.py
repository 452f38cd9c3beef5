"""The share found for a given bound is too small with probability at most δ: summed exactly, for every violation p.

No simulation is needed: with N rows, k violations have the probability C(N, k)·p^k·(1 − p)^(N − k), and the share
found depends on k alone.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom, binomtest

import pacband
from pacband import attained_eps

N = 60


def failure(p, shares):
    """The probability that the share found is below the true violation p."""
    return float(binom.pmf(np.arange(N), N, p)[np.array(shares) < p].sum())


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3])
def test_the_share_is_too_small_with_probability_at_most_delta(delta):
    shares = [attained_eps(N, k + 1, delta) for k in range(N)]
    worst = max(failure(p, shares) for p in np.linspace(0.001, 0.999, 999))
    assert worst <= delta * (1 + 1e-9)
    # It is sharp: just beyond every share, the promise fails with probability δ.
    assert max(failure(np.nextafter(share, 1.0), shares) for share in shares[:20]) == pytest.approx(delta, rel=1e-6)
    # The wrong twin: rank k in place of k + 1.
    twin = [0.0, *shares[:-1]]
    assert max(failure(p, twin) for p in np.linspace(0.001, 0.5, 500)) > 1.5 * delta


def test_a_tolerance_chosen_after_looking_breaks_the_promise(rng):
    """At δ = 0.05: of many tolerances, one whose share is too small is found far more often than δ allows."""
    delta, runs = 0.05, 2000
    shares = np.array([attained_eps(N, k + 1, delta) for k in range(N)])
    tolerances = np.linspace(0.3, 2.5, 60)
    beyond = (np.abs(rng.standard_normal((runs, N)))[:, :, None] > tolerances).sum(axis=1)
    too_small = shares[np.minimum(beyond, N - 1)] < 2 * ndtr(-tolerances)
    assert binomtest(int(too_small[:, 30].sum()), runs, delta, alternative="greater").pvalue > 1e-6
    assert binomtest(int(too_small.any(axis=1).sum()), runs, delta, alternative="greater").pvalue < 1e-6


def test_certify_tolerance_is_this_share(rng):
    y = rng.standard_normal(N)
    k = int((np.abs(y) > 1.5).sum())
    assert pacband.certify_tolerance(y, np.zeros(N), 1.5, delta=0.05).eps == attained_eps(N, k + 1, 0.05)
