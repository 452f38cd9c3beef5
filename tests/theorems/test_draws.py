"""Promises about dependent rows: the right draws keep them, and rows taken for draws break them.

Every test simulates many calibrations with fixed seeds. "Keeps" rejects at p < 1e-6; "breaks" is the wrong twin.
"""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binomtest, kstest

from pacband import certify, max_rank
from pacband.draws import Spaced, Units, Weighted
from support.units import machines

FALSE_ALARM = 1e-6


def unit_violation(gamma, n_rows, icc, share=None):
    """P{a future machine breaks the promise}, by quadrature over the machine's own error."""
    own = ndtri((np.arange(2000) + 0.5) / 2000)
    inside = ndtr((gamma - np.sqrt(icc) * own) / np.sqrt(1 - icc)) - ndtr(
        (-gamma - np.sqrt(icc) * own) / np.sqrt(1 - icc)
    )
    if share is None:
        return 1 - np.mean(inside**n_rows)
    from scipy.stats import binom

    least = int(np.ceil(round(share * n_rows, 9)))
    return np.mean(binom.cdf(least - 1, n_rows, inside))


@pytest.mark.parametrize("within", ["all", 0.9])
def test_the_violation_of_units_follows_the_beta_law(within):
    """The share of future machines that break γ̄ is Beta(r, U − r + 1), and one rank off is not."""
    rng = np.random.default_rng(1)
    n_units, n_rows, icc, eps, delta = 60, 10, 0.5, 0.2, 0.1
    rank = max_rank(n_units, eps, delta)
    found = []
    for _ in range(1500):
        error, labels = machines(rng, n_units, n_rows, icc)
        gamma = certify(error, 0 * error, eps=eps, delta=delta, draws=Units(labels, within)).gamma
        found.append(unit_violation(gamma, n_rows, icc, None if within == "all" else within))
    assert kstest(found, beta(rank, n_units - rank + 1).cdf).pvalue >= FALSE_ALARM
    assert kstest(found, beta(rank + 1, n_units - rank).cdf).pvalue < FALSE_ALARM


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")
def test_rows_of_machines_taken_for_independent_rows_break_the_promise():
    """100 machines of 20 rows, ICC .5, δ = .05: rows fail in about a fifth of the calibrations, one row a machine does not."""
    rng = np.random.default_rng(2)
    eps, delta, n_draws = 0.1, 0.05, 600
    failures = {"rows": 0, "one": 0}
    for k in range(n_draws):
        error, labels = machines(rng, 100, 20, 0.5)
        for name, draws in (("rows", None), ("one", Units(labels, "one", random_state=k))):
            gamma = certify(error, 0 * error, eps=eps, delta=delta, draws=draws).gamma
            failures[name] += 2 * ndtr(-gamma) > eps
    assert binomtest(failures["one"], n_draws, delta, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(failures["rows"], n_draws, delta, alternative="greater").pvalue < FALSE_ALARM
    assert 0.15 < failures["rows"] / n_draws < 0.30


def series(rng, n_rows, rate):
    from scipy.signal import lfilter

    noise = rng.standard_normal(n_rows) * np.sqrt(1 - rate**2)
    noise[0] = rng.standard_normal()
    return lfilter([1.0], [1.0, -rate], noise)


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")
def test_a_series_taken_for_independent_rows_breaks_the_promise():
    """AR(1) with ρ = .9, δ = .05: rows fail in about 29 % of the calibrations, every 60-th row does not."""
    rng = np.random.default_rng(3)
    eps, delta, n_draws = 0.1, 0.05, 600
    failures = {"rows": 0, "spaced": 0}
    for _ in range(n_draws):
        error = series(rng, 6000, 0.9)
        for name, draws in (("rows", None), ("spaced", Spaced(60))):
            gamma = certify(error, 0 * error, eps=eps, delta=delta, draws=draws).gamma
            failures[name] += 2 * ndtr(-gamma) > eps
    assert binomtest(failures["spaced"], n_draws, delta, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(failures["rows"], n_draws, delta, alternative="greater").pvalue < FALSE_ALARM
    assert failures["rows"] / n_draws > 0.2


def test_weights_keep_the_promise_under_a_known_shift():
    """Errors grow with x; calibration x is uniform, future x has density 2x. Without weights the promise fails."""
    rng = np.random.default_rng(4)
    eps, delta, n_draws = 0.1, 0.05, 400
    x_future = np.sqrt((np.arange(4000) + 0.5) / 4000)
    failures = {"weighted": 0, "ignored": 0}
    for k in range(n_draws):
        x = rng.random(2000)
        error = x * rng.standard_normal(2000)
        for name, draws in (("weighted", Weighted(2 * x, at_most=2.0, random_state=k)), ("ignored", None)):
            gamma = certify(error, 0 * error, eps=eps, delta=delta, draws=draws).gamma
            failures[name] += np.mean(2 * ndtr(-gamma / x_future)) > eps
    assert binomtest(failures["weighted"], n_draws, delta, alternative="greater").pvalue >= FALSE_ALARM
    assert failures["ignored"] / n_draws > 0.9
