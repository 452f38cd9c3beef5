"""One watch: the rows of revocation and warning, and the sentences that explain its state."""

import math

import numpy as np

import pacband
from pacband.monitoring.detector import Detector
from pacband.monitoring.eprocess import log_e_value
from support.violations import ALPHA, EPS, detector_by_rows, stream


def test_the_rows_of_revocation_and_warning_are_the_first_that_reach_their_limits(rng):
    for rate in (0.09, 0.2, 0.6):
        cert, y, y_pred, violated = stream(np.full(2000, rate), rng)
        watch = pacband.Monitor(cert, alpha=ALPHA, false_alarm_interval=1e4)
        watch.update(y[:30], y_pred[:30])
        watch.update(y[30:], y_pred[30:])
        evidence = log_e_value(np.cumsum(violated), np.arange(1, 2001), EPS)
        assert watch.watches[None].revoked_at == 1 + np.argmax(evidence >= -math.log(ALPHA))
        with np.errstate(over="ignore"):
            path = detector_by_rows(Detector(EPS, 1e4), violated)
        assert watch.watches[None].warned_at == 1 + np.argmax(path >= 1e4)


def test_states_and_reasons(rng):
    cert, y, y_pred, _ = stream(np.where(np.arange(9000) < 6000, 0.03, 0.09), rng)
    monitor = pacband.Monitor(cert)
    assert math.isnan(monitor.violation_rate)
    assert monitor.update(y[:6000], y_pred[:6000]).state == "ok"
    assert "no evidence against the promise" in monitor.reason
    assert monitor.update(y[6000:7500], y_pred[6000:7500]).state == "warning"
    warned_at = monitor.watches[None].warned_at
    assert 6000 < warned_at <= 7500
    assert f"fired at row {warned_at}" in monitor.reason
    monitor.update(y[6100:6110] * 0, y_pred[6100:6110])
    assert monitor.state == "warning"
    monitor.acknowledge()
    assert monitor.state == "ok"
    assert monitor.detector_value == 0.0
    monitor.update(np.full(400, 9 * cert.gamma), np.zeros(400))
    assert monitor.state == "revoked"
    monitor.update(np.zeros(10**5), np.zeros(10**5))
    monitor.acknowledge()
    assert monitor.state == "revoked"
    assert "at row" in monitor.reason
    assert monitor.e_value < 1.0
    low, high = monitor.violation_interval(0.95)
    assert low < monitor.violation_rate < high
    assert monitor.watches[None].n_warnings == 2
    assert str(monitor).startswith("revoked: The promise does not hold")
    assert "pacband monitor: revoked" in monitor._repr_html_()


def test_a_revocation_states_the_dependence_that_was_declared(rng):
    y = rng.standard_normal(20_000)
    for mixing, stated in ((None, "at most 0.01. Since"), (0.5, "at most 0.01, and 9.53675e-07 more for every draw. ")):
        cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=pacband.draws.Spaced(20, mixing))
        monitor = pacband.Monitor(cert)
        monitor.update(np.full(4000, 9 * cert.gamma), np.zeros(4000))
        assert monitor.state == "revoked"
        assert stated in monitor.reason
