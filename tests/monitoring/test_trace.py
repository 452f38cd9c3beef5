"""The trace of a stream: counts at evenly spaced rows, in bounded memory."""

import numpy as np

import pacband
from support.violations import certificate, stream


def test_memory_does_not_grow(rng):
    monitor = pacband.Monitor(certificate(rng))
    sizes = []
    for _ in range(40):
        monitor.update(rng.standard_normal(5000), np.zeros(5000))
        sizes.append(len(monitor.watches[None].trace))
    assert max(sizes) <= 256
    assert sizes[-1] >= 128


def test_trace_is_the_running_count(rng):
    cert, y, y_pred, violated = stream(np.full(3000, 0.04), rng)
    monitor = pacband.Monitor(cert)
    for start in range(0, 3000, 70):
        monitor.update(y[start : start + 70], y_pred[start : start + 70])
    counts = np.cumsum(violated)
    assert all(counts[n - 1] == s for n, s in monitor.watches[None].trace)
