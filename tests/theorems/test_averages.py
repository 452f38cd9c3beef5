"""Promises about units on average, and with an importance known as an interval: kept, sharp, and broken by their twins.

Every test simulates many calibrations with fixed seeds. "Keeps" rejects at p < 1e-6; "breaks" is the wrong twin.
"""

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from pacband import PromiseWarning, certify
from pacband.draws import Units, Weighted

FALSE_ALARM = 1e-6
EPS, DELTA = 0.1, 0.05


def fails(gammas):
    """How often the mean share of rows beyond γ̄ exceeds ε: the rows are standard normal."""
    return int(np.count_nonzero(2 * ndtr(-np.array(gammas)) > EPS))


@pytest.mark.parametrize(("icc", "sharper"), [(0.1, 0.93), (0.5, 0.95)])
def test_all_rows_on_average_are_sharper_than_one_row_a_unit(icc, sharper):
    """100 machines of 20 rows: at least 5 % sharper, and never failing more than δ."""
    rng, n_draws = np.random.default_rng(10), 300
    gammas = {"one": [], "average": []}
    labels = np.repeat(np.arange(100), 20)
    for k in range(n_draws):
        own, noise = rng.standard_normal((100, 1)), rng.standard_normal((100, 20))
        error = (np.sqrt(icc) * own + np.sqrt(1 - icc) * noise).ravel()
        for within, found in gammas.items():
            units = Units(labels, within, random_state=k if within == "one" else None)
            found.append(certify(error, 0 * error, eps=EPS, delta=DELTA, draws=units).gamma)
    # The means err by some 0.3 %: six standard errors are less than the distance to the limit.
    assert np.mean(gammas["average"]) <= sharper * np.mean(gammas["one"])
    for found in gammas.values():
        assert binomtest(fails(found), n_draws, DELTA, alternative="greater").pvalue >= FALSE_ALARM


@pytest.mark.parametrize("icc", [0.0, 0.5, 0.97])
def test_few_units_keep_the_promise_on_average_with_a_bound_below_that_for_all_rows(icc):
    """30 machines of 20 rows: too few for the five bets, enough for the whole one."""
    rng, n_draws = np.random.default_rng(13), 400
    labels, gammas = np.repeat(np.arange(30), 20), {"all": [], "average": []}
    for _ in range(n_draws):
        own, noise = rng.standard_normal((30, 1)), rng.standard_normal((30, 20))
        error = (np.sqrt(icc) * own + np.sqrt(1 - icc) * noise).ravel()
        for within, found in gammas.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PromiseWarning)
                found.append(certify(error, 0 * error, eps=EPS, delta=DELTA, draws=Units(labels, within)).gamma)
    assert np.all(np.array(gammas["average"]) <= gammas["all"])
    assert np.mean(gammas["average"]) < 0.97 * np.mean(gammas["all"]) or icc > 0.9
    assert binomtest(fails(gammas["average"]), n_draws, DELTA, alternative="greater").pvalue >= FALSE_ALARM


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # certify notices it: the rows are in order
def test_rows_of_machines_taken_for_units_break_the_promise_on_average():
    """Rows of one machine that are nearly alike (ICC .97), 100 machines of 20 rows."""
    rng, n_draws = np.random.default_rng(11), 700
    gammas = {"machines": [], "rows": []}
    for _ in range(n_draws):
        own, noise = rng.standard_normal((100, 1)), rng.standard_normal((100, 20))
        error = (np.sqrt(0.97) * own + np.sqrt(0.03) * noise).ravel()
        for name, labels in (("machines", np.repeat(np.arange(100), 20)), ("rows", np.arange(2000))):
            gammas[name].append(certify(error, 0 * error, eps=EPS, delta=DELTA, draws=Units(labels, "average")).gamma)
    assert binomtest(fails(gammas["machines"]), n_draws, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(fails(gammas["rows"]), n_draws, DELTA, alternative="greater").pvalue < FALSE_ALARM


def test_an_interval_of_importance_keeps_the_promise_and_its_middle_does_not():
    """Errors grow with x; calibration x is uniform, future x has density 2x. The interval contains 2x at one end."""
    rng, n_draws = np.random.default_rng(12), 300
    x_future = np.sqrt((np.arange(4000) + 0.5) / 4000)
    failures = {"interval": 0, "middle": 0}
    for k in range(n_draws):
        x = rng.random(2000)
        error = x * rng.standard_normal(2000)
        low, high = np.where(x > 0.5, 1.4 * x, 2 * x), np.where(x > 0.5, 2 * x, 3 * x)
        for name, importance in (("interval", (low, high)), ("middle", (low + high) / 2)):
            draws = Weighted(importance, at_most=2.0, random_state=k)
            gamma = certify(error, 0 * error, eps=EPS, delta=DELTA, draws=draws).gamma
            failures[name] += np.mean(2 * ndtr(-gamma / x_future)) > EPS
    assert binomtest(failures["interval"], n_draws, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(failures["middle"], n_draws, DELTA, alternative="greater").pvalue < FALSE_ALARM
