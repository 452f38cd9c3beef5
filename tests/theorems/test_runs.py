"""Promises about whole runs: the violation of runs follows the Beta law, and bounds for each step do not keep it.

Every test simulates many calibrations with fixed seeds. "Is the law" rejects at p < 1e-6; the wrong twins must fail.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binom, binomtest, chi2, kstest

from pacband import PromiseWarning, Share, certify, max_rank
from pacband.draws import Units
from pacband.scores.arrays import score_rows
from support.twins import put_in_place

FALSE_ALARM = 1e-6
N_RUNS, H, EPS, DELTA = 60, 8, 0.2, 0.1
RANK = max_rank(N_RUNS, EPS, DELTA)
# Independent steps of different sizes, which the profile does not fit: the law holds with any profile.
SIZE, PROFILE = np.linspace(0.5, 2.0, H), np.linspace(1.0, 1.3, H)


def inside(gamma):
    """P{a step is inside}, for every step."""
    return 1 - 2 * ndtr(-gamma * PROFILE / SIZE)


def all_steps(gamma):
    """P{a future run leaves its tube at any step}."""
    return 1 - np.prod(inside(gamma))


def most_steps(gamma):
    """P{a future run has fewer than 6 of 8 steps inside}, by the Poisson binomial law."""
    law = np.ones(1)
    for p in inside(gamma):
        law = np.convolve(law, [1 - p, p])
    return law[:6].sum()


def violations(rng, gauge, violation, n=1500):
    """The true violation probabilities of calibrations."""
    found = []
    for _ in range(n):
        error = SIZE * rng.standard_normal((N_RUNS, H))
        scale = np.broadcast_to(PROFILE, error.shape)
        cert = certify(error[..., None], 0 * error[..., None], scale, gauge=gauge, eps=EPS, delta=DELTA)
        found.append(violation(cert.gamma))
    return found


def follows(found, rank=RANK):
    return kstest(found, beta(rank, N_RUNS - rank + 1).cdf).pvalue >= FALSE_ALARM


# 0.75·8 = 6 steps exactly; 0.7 needs 6 of 8 as well.
GAUGES = {"all": ("max", all_steps), "0.75": (Share(0.75), most_steps), "0.7": (Share(0.7), most_steps)}


@pytest.mark.parametrize("name", GAUGES)
def test_the_violation_of_runs_follows_the_beta_law(name):
    gauge, violation = GAUGES[name]
    found = violations(np.random.default_rng(1), gauge, violation)
    assert follows(found)
    # One rank off, and one step off, are other laws.
    assert not follows(found, RANK + 1)
    other = Share(0.875) if name == "all" else Share(0.625)
    assert not follows(violations(np.random.default_rng(1), other, violation))


def test_ellipsoids_for_each_step_follow_the_beta_law():
    """Errors of covariance Σ_t: the score of a step squared is χ² with two degrees of freedom."""
    rng = np.random.default_rng(2)
    matrices = np.array([[[1.0 + t, 0.8], [0.8, 1.0]] for t in range(H)])
    roots = np.linalg.cholesky(matrices)
    found, one_for_all = [], []
    for _ in range(1500):
        error = np.einsum("tij,ntj->nti", roots, rng.standard_normal((N_RUNS, H, 2)))
        for gauge, into in ((matrices, found), (matrices[0], one_for_all)):
            gamma = certify(error, 0 * error, gauge=gauge, eps=EPS, delta=DELTA).gamma
            into.append(1 - chi2.cdf(gamma**2, 2) ** H)
    assert follows(found)
    assert not follows(one_for_all)


def twin_of_the_first_step(rule, target, prediction, spread):
    """The wrong twin: a run is scored by its first step only."""
    return score_rows(rule, target[:, :1], prediction[:, :1], type(spread)((spread.parts[0][:, :1],), spread.floor))


def test_a_run_is_more_than_its_first_step(monkeypatch):
    put_in_place(monkeypatch, score_rows, twin_of_the_first_step)
    assert not follows(violations(np.random.default_rng(1), "max", all_steps, n=200))


def test_bounds_for_each_step_do_not_hold_for_runs():
    """Each of 8 steps certified by itself at (ε, δ): more than ε of the runs leave, in nearly all calibrations."""
    rng = np.random.default_rng(3)
    failures = {"run": 0, "steps": 0}
    n = 300
    for _ in range(n):
        error = SIZE * rng.standard_normal((N_RUNS, H))
        gamma = certify(error[..., None], 0 * error[..., None], np.broadcast_to(PROFILE, error.shape), eps=EPS, delta=DELTA).gamma  # fmt: skip
        steps = np.array([certify(error[:, t], 0 * error[:, t], eps=EPS, delta=DELTA).gamma for t in range(H)])
        failures["run"] += all_steps(gamma) > EPS
        failures["steps"] += 1 - np.prod(1 - 2 * ndtr(-steps / SIZE)) > EPS
    assert binomtest(failures["run"], n, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    assert failures["steps"] / n > 0.95


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")
def test_windows_that_slide_over_one_run_are_no_independent_runs():
    """AR(1) with ρ = .9: windows of one series, taken for runs, break the promise in far more than δ = 5 %."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(4)
    eps, delta, width, n = 0.1, 0.05, 5, 300
    future = lfilter([1.0], [1.0, -0.9], rng.standard_normal((20_000, width + 200)), axis=1)[:, -width:]
    largest = np.abs(future).max(axis=1)
    failures = 0
    for _ in range(n):
        series = lfilter([1.0], [1.0, -0.9], rng.standard_normal(700))[200:]
        windows = np.lib.stride_tricks.sliding_window_view(series, width)[..., None]
        failures += np.mean(largest > certify(windows, 0 * windows, eps=eps, delta=delta).gamma) > eps
    assert binomtest(failures, n, delta, alternative="greater").pvalue < FALSE_ALARM
    # No silent false promise: the windows are noticed.
    with pytest.warns(PromiseWarning, match="(errors|scores) depend on the rows before"):
        certify(windows, 0 * windows, eps=eps, delta=delta)


def test_runs_of_machines_are_units():
    """Machines with several runs each: the share of machines that keep all runs in the tube follows the Beta law."""
    rng = np.random.default_rng(5)
    found = []
    labels = np.repeat(np.arange(N_RUNS), 3)
    for _ in range(800):
        error = SIZE * rng.standard_normal((3 * N_RUNS, H))
        scale = np.broadcast_to(PROFILE, error.shape)
        cert = certify(error[..., None], 0 * error[..., None], scale, eps=EPS, delta=DELTA, draws=Units(labels))
        found.append(1 - np.prod(inside(cert.gamma)) ** 3)
    assert follows(found)


def test_the_poisson_binomial_law_is_the_binomial_law_of_equal_steps(monkeypatch):
    monkeypatch.setattr(f"{__name__}.inside", lambda gamma: np.full(H, 0.9))
    np.testing.assert_allclose(most_steps(1.0), binom.cdf(5, H, 0.9), rtol=1e-12)
