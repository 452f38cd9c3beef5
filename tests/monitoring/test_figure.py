"""The figure of a monitor."""

import numpy as np

import pacband
from pacband.core.look import BAND, LIMIT
from pacband.monitoring import Monitor
from support.violations import stream


def test_plot(rng):
    cert, y, y_pred, _ = stream(np.full(900, 0.2), rng)
    monitor = pacband.Monitor(cert)
    monitor.plot()
    monitor.update(y, y_pred)
    ax = monitor.plot()
    assert ax.get_title(loc="left") == "pacband monitor: revoked"
    rows, rate = ax.lines[0].get_data()
    assert (rows[-1], rate[-1]) == (900, monitor.violation_rate)


def test_a_monitor_draws_any_label(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.standard_normal(300)
    labels = np.where(y > 0, "$$", "a$b$c")
    cert = pacband.certify_groups(y, np.zeros(300), labels, eps=0.2, delta=0.05)
    monitor = Monitor(cert)
    monitor.update(y, np.zeros(300), groups=labels)
    monitor.plot().figure.savefig(tmp_path / "monitor.png")
    assert (tmp_path / "monitor.png").read_bytes().startswith(b"\x89PNG")


def test_a_monitor_has_the_look_of_the_reports():
    y = np.random.default_rng(1).standard_normal(300)
    monitor = Monitor(pacband.certify(y, np.zeros(300), eps=0.2, delta=0.05))
    monitor.update(y, np.zeros(300))
    ax = monitor.plot()
    rate, promised = ax.get_lines()
    assert (rate.get_color(), promised.get_color()) == (BAND, LIMIT)
    assert promised.get_ydata() == [0.2, 0.2]
    assert ax.get_title(loc="left") == "pacband monitor: ok"


def test_a_warning_and_a_revocation_do_not_look_alike(rng):
    cert, y, y_pred, _ = stream(np.r_[np.full(900, 0.02), np.full(900, 0.4)], rng)
    monitor = pacband.Monitor(cert)
    monitor.update(y, y_pred)
    drawn = {line.get_label().split(" at ")[0]: line.get_color() for line in monitor.plot().get_lines()}
    assert drawn["revoked"] == LIMIT
    assert drawn["warning"] not in (LIMIT, BAND)
