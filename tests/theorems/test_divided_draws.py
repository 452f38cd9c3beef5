"""A split that respects the draws keeps the promise of `fit`; a split of rows breaks it.

A model that memorises its rows knows the machines and the days that it was fitted on. Every test simulates many fits
with fixed seeds. "Keeps" rejects at p < 1e-6; the wrong twin splits rows at random.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest
from sklearn.neighbors import KNeighborsRegressor

import pacband.estimators.division  # noqa: F401 (the twins take the place of its functions)
from pacband import CertifiedRegressor
from pacband.draws import Spaced, Units
from pacband.estimators.drawing import refuse_seen_units
from pacband.estimators.splitting import latest_rows, rows_of_units
from pacband.exceptions import ReusedData
from support.twins import put_in_place

FALSE_ALARM = 1e-6
EPS, DELTA, N_FITS = 0.2, 0.1, 60


def promise_fails(fit):
    """How many of many fits have a violation probability above ε."""
    rng = np.random.default_rng(7)
    return sum(fit(rng, k) > EPS for k in range(N_FITS))


def machines(rng, n_units, n_rows=5):
    """Rows of machines: one input that identifies the machine, and a target that only its own rows tell."""
    unit = np.repeat(np.arange(n_units), n_rows)
    y = rng.standard_normal(n_units)[unit] + 0.1 * rng.standard_normal(n_units * n_rows)
    return rng.random(n_units)[unit][:, None], y, unit


def violation_of_new_machines(rng, seed):
    X, y, unit = machines(rng, 150)
    model = CertifiedRegressor(KNeighborsRegressor(1), eps=EPS, delta=DELTA, random_state=seed)
    model.fit(X, y, draws=Units(unit))
    # Counted over 4,000 machines: the count errs by less than 0.035, five standard deviations.
    X, y, unit = machines(rng, 4000)
    outside = np.abs(y - model.predict(X)) > model.certificate_.gamma
    return np.mean(np.bincount(unit, outside) > 0) - 0.035


def rows_at_random(sample, fit, calibrate):
    """The wrong twin: as many rows, of any unit."""
    rows = np.random.default_rng(0).permutation(len(sample.codes))
    n_fit = int(np.isin(sample.codes, fit).sum())
    return rows[:n_fit], rows[n_fit:]


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_no_machine_on_both_sides_keeps_the_promise_about_new_machines(monkeypatch):
    failures = promise_fails(violation_of_new_machines)
    assert binomtest(failures, N_FITS, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    put_in_place(monkeypatch, rows_of_units, rows_at_random)
    # A machine on both sides is refused. Without that, the promise fails.
    with pytest.raises(ReusedData):
        promise_fails(violation_of_new_machines)
    put_in_place(monkeypatch, refuse_seen_units, lambda training, calibration: None)
    failures = promise_fails(violation_of_new_machines)
    assert binomtest(failures, N_FITS, DELTA, alternative="greater").pvalue < FALSE_ALARM
    assert failures == N_FITS


def violation_of_the_future(rng, seed):
    """A slow series, predicted from the time alone: beyond its rows, the model predicts a constant."""
    n_rows, rate = 6000, 0.9
    from scipy.signal import lfilter

    noise = rng.standard_normal(n_rows) * np.sqrt(1 - rate**2)
    noise[0] = rng.standard_normal()
    y, time = lfilter([1.0], [1.0, -rate], noise), np.arange(float(n_rows))[:, None]
    model = CertifiedRegressor(KNeighborsRegressor(1), eps=EPS, delta=DELTA, random_state=seed)
    model.fit(time, y, draws=Spaced(60))
    (centre,), gamma = model.predict([[1e9]]), model.certificate_.gamma
    return 1 - (ndtr(centre + gamma) - ndtr(centre - gamma))


def days_at_random(n_rows, n_draws, gap):
    """The wrong twin: as many rows, of any time."""
    rows = np.random.default_rng(0).permutation(n_rows)
    return np.sort(rows[n_draws * gap :]), np.sort(rows[: n_draws * gap])


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_the_latest_rows_keep_the_promise_about_the_future(monkeypatch):
    failures = promise_fails(violation_of_the_future)
    assert binomtest(failures, N_FITS, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    put_in_place(monkeypatch, latest_rows, days_at_random)
    failures = promise_fails(violation_of_the_future)
    assert binomtest(failures, N_FITS, DELTA, alternative="greater").pvalue < FALSE_ALARM
    assert failures > 0.9 * N_FITS
