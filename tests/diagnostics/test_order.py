"""Serial dependence and drift."""

import numpy as np
import pytest
from scipy.stats import binom

import pacband
from pacband.diagnostics.order import check_drift, check_serial_dependence
from support.diagnosed import autoregressive, checks


@pytest.mark.parametrize("check", [check_serial_dependence, check_drift])
def test_order_checks_hold_their_size_in_the_tail(rng, check):
    """Over 3000 orders of 100 rows: p-values below .002 and .02 at most that often."""
    p_values = np.array([check(rng.random(100)).p_value for _ in range(3000)])
    for level in (0.002, 0.02):
        assert np.count_nonzero(p_values <= level) <= binom.ppf(1 - 1e-6, 3000, level)


@pytest.mark.parametrize("rho", [0.6, 0.9])
def test_serial_dependence_is_found(rng, rho):
    for _ in range(30):
        diagnosis = pacband.diagnose(autoregressive(rng, rho), np.zeros(1000))
        assert "serial dependence" in checks(diagnosis)
    (finding,) = (finding for finding in diagnosis.findings if finding.check == "serial dependence")
    assert "are worth about" in finding.effect
    assert finding.p_value < 1e-6


def test_drift_is_found_and_placed(rng):
    for _ in range(30):
        noise = rng.standard_normal(1000)
        noise[600:] += 1.0
        drift = next(f for f in pacband.diagnose(noise, np.zeros(1000)).findings if f.check == "drift")
        row = int(drift.seen.split("row ")[1].split()[0])
        assert 500 <= row <= 700
        assert "calibrate on later rows" in drift.advice
