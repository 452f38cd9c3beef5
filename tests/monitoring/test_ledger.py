"""The ledger: a batch is counted once, and long ids keep the state small."""

import numpy as np
import pytest

import pacband
from support.violations import certificate, in_threads


def test_same_batch_twice_is_skipped_with_a_notice(rng):
    monitor = pacband.Monitor(certificate(rng))
    monitor.update([0.0], [0.0], batch_id="monday")
    with pytest.warns(UserWarning, match="batch 'monday' was already counted: it is skipped"):
        assert monitor.update([9.0], [0.0], batch_id="monday").repeated
    assert monitor.n_rows == 1
    for i in range(1024):
        monitor.update([0.0], [0.0], batch_id=i)
    assert not monitor.update([0.0], [0.0], batch_id="monday").repeated
    assert len(monitor.to_dict()["batches"]) == 1024


def test_long_batch_ids_keep_the_state_small(rng, tmp_path):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    names = [f"{k}{'x' * 10_000}" for k in range(20)]
    for name in names:
        monitor.update([0.0], [0.0], batch_id=name)
    assert monitor.save(tmp_path / "state.json").stat().st_size < 5000
    for known in (monitor, pacband.Monitor.load(tmp_path / "state.json", cert)):
        for name in names:
            with pytest.warns(UserWarning, match="was already counted") as caught:
                assert known.update([0.0], [0.0], batch_id=name).repeated
            assert len(str(caught[0].message)) < 200
    # What is kept of a long id is no other batch's own.
    kept = monitor.ledger.to_dict()["batches"][0]
    assert not monitor.update([0.0], [0.0], batch_id=kept).repeated


@pytest.mark.filterwarnings("ignore:batch 'one' was already counted")
def test_threads_that_bring_one_batch_count_it_once(rng):
    cert = certificate(rng)
    y, y_pred = rng.standard_normal(2000), np.zeros(2000)
    for _ in range(200):
        monitor = pacband.Monitor(cert)
        batches = in_threads(4, lambda k, m=monitor: m.update(y, y_pred, batch_id="one"))
        assert sorted(batch.repeated for batch in batches) == [False, True, True, True]
        assert monitor.n_rows == 2000
