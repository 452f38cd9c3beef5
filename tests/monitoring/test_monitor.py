"""The monitor: nothing depends on how a stream is cut, and bad input changes nothing."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from support.violations import certificate, in_threads, stream


@given(st.lists(st.integers(0, 3000), max_size=12), st.integers(0, 3))
def test_cuts_do_not_matter(cuts, case):
    rng = np.random.default_rng(case)
    rates = np.where(np.arange(3000) < 1500, 0.03, (0.03, 0.08, 0.2, 0.9)[case])
    cert, y, y_pred, _ = stream(rates, rng)
    y[rng.random(3000) < 0.1] = np.nan
    whole, cut = pacband.Monitor(cert), pacband.Monitor(cert)
    whole.update(y, y_pred)
    for start, stop in itertools.pairwise([0, *sorted(cuts), 3000]):
        cut.update(y[start:stop], y_pred[start:stop])
    assert cut.to_dict() == whole.to_dict()


def test_row_by_row_is_the_same(rng):
    cert, y, y_pred, _ = stream(np.full(1500, 0.12), rng)
    whole, single = pacband.Monitor(cert), pacband.Monitor(cert)
    whole.update(y, y_pred)
    for row in zip(y, y_pred, strict=True):
        single.update(*row)
    assert single.to_dict() == whole.to_dict()
    assert whole.state == "revoked"


def test_calibration_rows_violate_just_below_their_rank(rng):
    """By definition r − 1 of the calibration scores exceed the r-th largest."""
    y, y_pred, scale = rng.standard_normal(500), rng.standard_normal(500), rng.uniform(1, 2, 500)
    for options in ({}, {"side": "upper"}, {"side": "lower"}):
        for sigma in (None, scale):
            cert = pacband.certify(y, y_pred, sigma, eps=0.1, delta=0.01, **options)
            assert pacband.Monitor(cert).update(y, y_pred, sigma).violations == cert.rank - 1
    pair = pacband.certify(y, y_pred, (scale, 2 * scale), eps=0.1, delta=0.01)
    assert pacband.Monitor(pair).update(y, y_pred, (scale, 2 * scale)).violations == pair.rank - 1
    both = np.column_stack([y, y_pred])
    joint = pacband.certify(both, np.zeros((500, 2)), eps=0.1, delta=0.01, gauge=[[1, 0.2], [0.2, 1]])
    monitor = pacband.Monitor(joint)
    assert monitor.update(both, np.zeros((500, 2))).violations == joint.rank - 1
    assert monitor.update(both[0], [0.0, 0.0]).rows == 1
    family = pacband.certify_family(y, {"a": y_pred, "b": (0 * y, scale)}, eps=0.1, delta=0.01)
    assert family.best == "b"
    assert pacband.Monitor(family).update(y, 0 * y, scale).violations == family.certificate.rank - 1


def test_missing_labels_count_as_missing_and_bad_input_changes_nothing(rng):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    batch = monitor.update([0.0, np.nan, None, 99.0], [0.0, np.nan, 0.0, 0.0])
    assert (batch.rows, batch.violations, batch.unlabelled) == (2, 1, 2)
    before = monitor.to_dict()
    for arguments, message in [
        (([0.0, math.inf], [0.0, 0.0]), "y must be finite"),
        (([0.0, 0.0], [0.0, math.nan]), "y_pred must be finite"),
        (([0.0, 0.0], [0.0]), "same shape"),
        (([[0.0, 0.0]], [[0.0, 0.0]]), "bounds 1 output"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            monitor.update(*arguments)
    with pytest.raises(InvalidScale, match="calibrated with no scale"):
        monitor.update([0.0], [0.0], [1.0])
    with pytest.raises(InvalidInput, match="the certificate has none"):
        monitor.update([0.0], [0.0], groups=["a"])
    assert monitor.update([], []).rows == 0
    assert monitor.to_dict() == before
    lenient = pacband.Monitor(certificate(rng, nonfinite="violate"))
    assert lenient.update([0.0, 0.0], [math.nan, math.inf]).violations == 2


def test_threads_with_batches_of_their_own_leave_the_counts_and_the_trace_of_one(rng, tmp_path):
    cert = certificate(rng)
    y, y_pred = rng.standard_normal((8, 10, 300)), np.zeros(300)
    monitor = pacband.Monitor(cert)

    def work(k):
        for part in y[k]:
            monitor.update(part, y_pred)
            monitor.save(tmp_path / "state.json")
            assert monitor.n_violations <= monitor.n_rows
        return True

    assert in_threads(8, work) == [True] * 8
    assert (monitor.n_rows, monitor.n_violations) == (y.size, int((np.abs(y) > cert.gamma).sum()))
    rows = [n for n, _ in monitor.watches[None].trace]
    assert rows == sorted(set(rows))
    assert pacband.Monitor.load(tmp_path / "state.json", cert).to_dict() == monitor.to_dict()


def test_a_monitor_can_be_copied_and_pickled(rng):
    monitor = pacband.Monitor(certificate(rng))
    monitor.update([0.0] * 9, [0.0] * 9, batch_id="a")
    for twin in (copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))):
        assert twin.to_dict() == monitor.to_dict()
        twin.update([0.0], [0.0])
        assert (twin.n_rows, monitor.n_rows) == (10, 9)


def test_what_is_pickled_is_one_moment(rng):
    """Another thread may count rows before pickle has walked through the whole state."""
    monitor = pacband.Monitor(certificate(rng))
    monitor.update([0.0], [0.0])
    state = monitor.__getstate__()
    monitor.update([0.0], [0.0], batch_id="a")
    assert (state["watches"].n_rows, "a" in state["ledger"]) == (1, False)
    assert state["certificate"] is monitor.certificate


def test_arguments_are_checked(rng):
    cert = certificate(rng)
    with pytest.raises(InvalidInput, match=r"alpha must be in \(0, 1\), got 2"):
        pacband.Monitor(cert, alpha=2)
    with pytest.raises(InvalidInput, match="must be a positive finite number, got 0"):
        pacband.Monitor(cert, false_alarm_interval=0)
    with pytest.raises(InvalidInput, match=r"false_alarm_interval must be at least 1 row, got 0\.5"):
        pacband.Monitor(cert, false_alarm_interval=0.5)
    with pytest.raises(InvalidInput, match="false_alarm_interval must be a positive finite number, got 'often'"):
        pacband.Monitor(cert, false_alarm_interval="often")
    with pytest.raises(InvalidInput, match="certificate must be one that pacband made, got float"):
        pacband.Monitor(1.5)
    assert pacband.Monitor(cert, false_alarm_interval=1).false_alarm_interval == pytest.approx(200.0)
