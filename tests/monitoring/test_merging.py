"""Merged monitors: shards are the whole, and no row is counted twice."""

import numpy as np
import pytest

import pacband
from pacband.exceptions import InvalidInput
from pacband.monitoring.ledger import StreamPosition
from support.violations import certificate, stream


def test_merged_shards_are_the_whole(rng):
    cert, y, y_pred, _ = stream(np.full(4000, 0.055), rng)
    shards = [pacband.Monitor(cert) for _ in range(4)]
    whole = pacband.Monitor(cert)
    whole.update(y, y_pred)
    for i, shard in enumerate(shards):
        shard.update(y[i::4], y_pred[i::4], batch_id=i)
    merged = shards[0].merge(*shards[1:])
    assert (merged.n_rows, merged.n_violations) == (whole.n_rows, whole.n_violations)
    assert merged.e_value == whole.e_value
    assert merged.detector_value == pytest.approx(sum(shard.detector_value for shard in shards))
    assert merged.violation_interval() == whole.violation_interval()
    assert merged.state == "ok"
    with pytest.warns(UserWarning, match="'3' was already counted"):
        merged.update([0.0], [0.0], batch_id=3)
    shards[2].update(np.full(99, 9 * cert.gamma), np.zeros(99))
    assert shards[0].merge(shards[2]).state == "revoked"
    with pytest.raises(InvalidInput, match="one of them twice"):
        shards[0].merge(shards[1], shards[0])
    with pytest.raises(InvalidInput, match="must have one certificate, alpha"):
        shards[0].merge(pacband.Monitor(cert, alpha=0.05))


def test_shards_that_took_in_the_same_batch_are_not_merged(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(3)]
    for k, shard in enumerate(shards):
        shard.update([0.0] * 5, [0.0] * 5, batch_id=f"batch {k}")
    shards[0].update([0.0] * 5, [0.0] * 5, batch_id="monday")
    shards[2].update([0.0] * 5, [0.0] * 5, batch_id="monday")
    with pytest.raises(InvalidInput, match=r"must have watched different rows; .* counted batch 'monday'"):
        shards[0].merge(*shards[1:])
    assert shards[0].merge(shards[1]).n_rows == 15
    merged = shards[0].merge(shards[1])
    with pytest.raises(InvalidInput, match="have counted batch 'batch 1'"):
        merged.merge(shards[1])
    # Shards may have seen the same number of rows, and the same rows by chance.
    twins = [pacband.Monitor(cert) for _ in range(2)]
    for twin in twins:
        twin.update([0.0] * 5, [0.0] * 5)
    assert twins[0].merge(twins[1]).n_rows == 10


def test_a_monitor_is_not_merged_with_its_own_saved_state(rng, tmp_path):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    monitor.save(tmp_path / "empty.json")
    shard = pacband.Monitor.load(tmp_path / "empty.json", cert)
    monitor.update([0.0] * 5, [0.0] * 5)
    shard.update([0.0] * 3, [0.0] * 3)
    # A state without rows may be the start of many shards.
    assert monitor.merge(shard).n_rows == 8
    monitor.save(tmp_path / "state.json")
    copy = pacband.Monitor.load(tmp_path / "state.json", cert)
    again = pacband.Monitor.load(tmp_path / "state.json", cert)
    for one, other in ((monitor, copy), (copy, again), (monitor.merge(shard), copy)):
        with pytest.raises(InvalidInput, match="a state that one of them saved and another read"):
            one.merge(other)
    copy.update([0.0], [0.0])
    monitor.update([0.0], [0.0])
    monitor.save(tmp_path / "state.json")
    with pytest.raises(InvalidInput, match="a state that one of them saved"):
        monitor.merge(copy)


def test_streams_read_equally_far_by_two_monitors_are_not_merged(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(2)]
    for shard in shards:
        shard.update([0.0] * 5, [0.0] * 5)
        shard.ledger.note_stream(StreamPosition(100, 5, "a" * 64), None)
    with pytest.raises(InvalidInput, match="a stream of 5 rows"):
        shards[0].merge(shards[1])


def test_evidence_that_no_shard_has_alone(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(6)]
    for shard in shards:
        shard.update(np.where(np.arange(100) % 10 == 9, 9.0, 0.0), np.zeros(100))
    assert {shard.state for shard in shards} == {"ok"}
    assert shards[0].merge(*shards[1:]).state == "revoked"
