"""The e-detector: its recursion, its mean time to a false warning, and its delay."""

import itertools
import math

import numpy as np
import pytest

from pacband.monitoring.detector import Detector
from pacband.monitoring.eprocess import first_crossing
from support.violations import ALPHA, EPS, detector_by_rows, positions


def test_detector_is_its_recursion(rng):
    fired = 0
    for rate in (0.01, 0.05, 0.1, 0.4) * 5:
        detector = Detector(EPS, 3000.0)
        violated = rng.random(700) < rate
        path = detector_by_rows(detector, violated)
        levels, alarm = detector.advance(detector.start(), 0, positions(violated))
        if alarm is None:
            assert path.max() < 3000.0
            quiet = 699 - positions(violated)[-1]
            assert np.mean(detector.decayed(levels, quiet)) == pytest.approx(path[-1], rel=1e-11)
        else:
            fired += 1
            assert positions(violated)[alarm] == np.argmax(path >= 3000.0)
    assert 5 <= fired <= 15


@pytest.mark.parametrize("p", [0.0, 0.02, EPS])
def test_detector_grows_by_at_most_one_a_row_by_enumeration(p):
    detector = Detector(EPS, 1e5)
    n = 11
    mean = np.zeros(n)
    for path in itertools.product([False, True], repeat=n):
        chance = p ** sum(path) * (1 - p) ** (n - sum(path))
        if chance:
            mean += chance * detector_by_rows(detector, path)
    if p == EPS:
        np.testing.assert_allclose(mean, np.arange(1, n + 1), rtol=1e-10)
    else:
        assert (mean <= np.arange(1, n + 1)).all()


def test_mean_time_to_a_false_warning(rng):
    """At the border of the promise, over 300 runs; the mean is 1.6 times the stated one, 7 standard errors above."""
    detector, times = Detector(EPS, 1e4), []
    for _ in range(300):
        at = np.cumsum(rng.geometric(EPS, 12000)) - 1
        _, alarm = detector.advance(detector.start(), 0, at)
        times.append(at[-1] if alarm is None else at[alarm])
    assert np.mean(times) >= 1e4


def test_a_late_rise_is_found_no_later_than_stated(rng):
    """From .05 to .10 at row 5000: a median of at most 320 rows; over 800 runs, whose medians scatter by 6."""
    detector, delays = Detector(EPS, 1e5), []
    while len(delays) < 800:
        calm, risen = rng.random(5000) < EPS, rng.random(4000) < 0.10
        violated = positions(np.concatenate([calm, risen]))
        _, alarm = detector.advance(detector.start(), 0, violated)
        if violated[alarm] >= 5000:
            delays.append(violated[alarm] - 4999)
    assert np.median(delays) <= 320


@pytest.mark.verify
def test_mean_time_to_a_false_warning_at_the_default(rng):
    detector, times = Detector(EPS, 1e5), []
    for _ in range(400):
        at = np.cumsum(rng.geometric(EPS, 10**5)) - 1
        _, alarm = detector.advance(detector.start(), 0, at)
        times.append(at[-1] if alarm is None else at[alarm])
    assert np.mean(times) >= 1e5


@pytest.mark.verify
def test_late_rise_over_many_runs(rng):
    detector, monitor_delays, detector_delays = Detector(EPS, 1e5), [], []
    while len(detector_delays) < 4000:
        at = positions(np.concatenate([rng.random(5000) < EPS, rng.random(8000) < 0.10]))
        _, alarm = detector.advance(detector.start(), 0, at)
        if at[alarm] < 5000:
            continue
        detector_delays.append(at[alarm] - 4999)
        index = first_crossing(np.arange(1, len(at) + 1), at + 1, EPS, -math.log(ALPHA))
        monitor_delays.append(at[index] - 4999 if index is not None else 8000)
    assert np.median(detector_delays) <= 312
    assert np.median(monitor_delays) > 3 * np.median(detector_delays)
