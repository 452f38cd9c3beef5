"""Rows of a series in a monitor: every gap-th row is a draw, however the stream is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pacband
from pacband.draws import Spaced, Units, Weighted
from pacband.exceptions import CertificateError, InvalidInput
from pacband.monitoring import StateFile
from support.rewriting import redigested


def spaced_certificate(gap=7, mixing=None):
    error = np.random.default_rng(0).standard_normal(7000)
    return pacband.certify(error, 0 * error, eps=0.1, delta=0.05, draws=Spaced(gap, mixing))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(1, 9))
def test_any_cut_of_a_series_gives_the_same_state(cuts, gap):
    cert = spaced_certificate(gap)
    error = np.random.default_rng(1).standard_normal(sum(cuts)) * 1.5
    whole, pieces = pacband.Monitor(cert), pacband.Monitor(cert)
    whole.update(error, 0 * error)
    for part in np.split(error, np.cumsum(cuts)[:-1]):
        pieces = pacband.Monitor.from_dict(pieces.to_dict(), cert)
        pieces.update(part, 0 * part)
    assert pieces.to_dict() == whole.to_dict()
    assert whole.n_rows == len(error) // gap
    assert whole.n_violations == int((np.abs(error[gap - 1 :: gap]) > cert.gamma).sum())


def test_a_draw_without_a_label_is_left_out(rng):
    cert = spaced_certificate(3)
    y = np.array([0.0, 0.0, np.nan, np.nan, 0.0, 9.0, 9.0])
    monitor = pacband.Monitor(cert)
    batch = monitor.update(y, 0 * y)
    assert (batch.rows, batch.violations, batch.unlabelled) == (1, 1, 1)
    assert "1 violations in 1 rows that are 3 apart" in monitor.reason
    assert repr(monitor) == "<Monitor ok: 1 violations in 1 rows that are 3 apart>"


def test_a_series_goes_on_after_a_restart(rng, tmp_path):
    cert = spaced_certificate(24)
    monitor = pacband.Monitor(cert)
    monitor.update(np.zeros(100), np.zeros(100))
    monitor.save(tmp_path / "state.json")
    again = pacband.Monitor.load(tmp_path / "state.json", cert)
    assert again.update(np.zeros(19), np.zeros(19)).rows == 0
    assert again.update(9 * cert.gamma, 0.0).violations == 1
    redigested(tmp_path / "state.json", lambda content: content["held"].update(rows=24))
    with (
        pytest.raises(CertificateError, match="fewer rows than the gap, 24"),
        StateFile(tmp_path / "state.json") as file,
    ):
        file.read(cert, kind=pacband.Monitor)


def test_what_a_series_refuses():
    monitor = pacband.Monitor(spaced_certificate(7))
    with pytest.raises(InvalidInput, match="no promise about units"):
        monitor.update([0.0], [0.0], complete=["a"])
    with pytest.raises(InvalidInput, match=r"less than 7 apart"):
        monitor.merge(pacband.Monitor(spaced_certificate(7)))
    assert monitor.finish().rows == 0
    assert monitor.open_units == ()


def test_rows_and_weighted_rows_are_all_counted(rng):
    y = rng.standard_normal(4000)
    plain = pacband.certify(y, 0 * y, eps=0.1, delta=0.05)
    weighted = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Weighted(rng.uniform(0, 2, 4000), at_most=2.0))
    for cert in (plain, weighted):
        monitor = pacband.Monitor(cert)
        assert monitor.update(y[:50], np.zeros(50)).rows == 50
        assert "held" not in monitor.to_dict()
        for refused in (Units(np.arange(50)), Spaced(2), Weighted(np.ones(50), at_most=1.0)):
            with pytest.raises(InvalidInput, match="every fresh row is a draw"):
                monitor.update(y[:50], np.zeros(50), draws=refused)
        with pytest.raises(InvalidInput, match="complete was given"):
            monitor.update(y[:50], np.zeros(50), complete=[1])
        assert monitor.n_rows == 50
        with pytest.raises(CertificateError, match="holds rows back"):
            pacband.Monitor.from_dict({**monitor.to_dict(), "held": {"rows": 1}}, cert)


def test_a_series_takes_no_other_draws_than_its_own():
    cert, error = spaced_certificate(3), np.zeros(30)
    monitor = pacband.Monitor(cert)
    for refused in (Units(np.arange(30)), Spaced(24), Weighted(np.ones(30), at_most=1.0)):
        with pytest.raises(InvalidInput, match=r"about every 3-th row: draws must be Spaced\(3\)"):
            monitor.update(error, error, draws=refused)
    assert monitor.to_dict() == pacband.Monitor(cert).to_dict()
    assert monitor.update(error, error, draws=Spaced(3)).rows == 10
