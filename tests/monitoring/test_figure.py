"""The figure of a monitor."""

import numpy as np

import pacband
from support.violations import stream


def test_plot(rng):
    cert, y, y_pred, _ = stream(np.full(900, 0.2), rng)
    monitor = pacband.Monitor(cert)
    monitor.plot()
    monitor.update(y, y_pred)
    ax = monitor.plot()
    assert ax.get_title() == "pacband monitor: revoked"
    rows, rate = ax.lines[0].get_data()
    assert (rows[-1], rate[-1]) == (900, monitor.violation_rate)
