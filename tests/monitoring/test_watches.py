"""The watches of groups: each group by its own bound, at its share of alpha."""

import numpy as np
import pytest

import pacband
from pacband.exceptions import InvalidInput
from pacband.monitoring.watch import Watch


def test_groups_are_watched_each_by_its_own_bound(rng):
    site = np.repeat(["north", "south"], 1000)
    y = np.where(site == "north", 1.0, 3.0) * rng.standard_normal(2000)
    cert = pacband.certify_groups(y, np.zeros(2000), site, eps=0.1, delta=0.01)
    monitor = pacband.Monitor(cert, alpha=0.02)
    shuffled = rng.permutation(2000)
    monitor.update(y[shuffled], np.zeros(2000), groups=site[shuffled])
    assert {label: watch.n_violations for label, watch in monitor.groups.items()} == {
        label: part.rank - 1 for label, part in cert.groups.items()
    }
    assert {watch.alpha for watch in monitor.groups.values()} == {0.01}
    assert monitor.state == "ok"
    assert "any of 2 groups" in monitor.reason
    monitor.update(np.r_[np.full(300, 9.0), np.nan], np.zeros(301), groups=["north"] * 301)
    assert monitor.groups["north"].state == monitor.state == "revoked"
    assert monitor.groups["south"].state == "ok"
    assert monitor.groups["north"].n_unlabelled == monitor.n_unlabelled == 1
    assert monitor.reason.startswith("Group 'north': The promise does not hold")
    with pytest.raises(InvalidInput, match="labels without a certificate: 'east'"):
        monitor.update(1.0, 0.0, groups="east")
    with pytest.raises(InvalidInput, match="promises within groups: pass the group of every row"):
        monitor.update(1.0, 0.0)


def test_a_group_is_watched_as_if_it_were_alone(rng):
    groups = rng.choice(["a", "b", "c"], 3000)
    y = rng.standard_normal(3000)
    cert = pacband.certify_groups(y, np.zeros(3000), groups, eps=0.1, delta=0.01)
    fresh, labels = 1.4 * rng.standard_normal(2000), rng.choice(["a", "b", "c"], 2000)
    fresh[rng.random(2000) < 0.2] = np.nan
    together = pacband.Monitor(cert, alpha=0.03)
    together.update(fresh[:900], np.zeros(900), groups=labels[:900])
    together.update(fresh[900:], np.zeros(1100), groups=labels[900:])
    for label, part in cert.groups.items():
        alone = pacband.Monitor(part, alpha=0.01)
        rows = fresh[labels == label]
        alone.update(rows, np.zeros(len(rows)))
        assert alone.watches[None].to_dict() == together.groups[label].to_dict()
        assert alone.state != "ok"


def test_only_the_groups_that_have_rows_are_touched(rng, tmp_path, monkeypatch):
    # What a row costs must not grow with the number of groups: counted, not timed.
    labels = np.repeat(np.arange(300), 20)
    cert = pacband.certify_groups(rng.standard_normal(6000), np.zeros(6000), labels, eps=0.5, delta=0.9)
    monitor = pacband.Monitor(cert)
    touched, computed = [], []
    update, attained = Watch.update, type(cert.groups[0]).attained_delta.fget
    monkeypatch.setattr(Watch, "update", lambda watch, *rows: (touched.append(watch), update(watch, *rows)))
    monkeypatch.setattr(
        type(cert.groups[0]), "attained_delta", property(lambda one: (computed.append(one), attained(one))[1])
    )
    batch = monitor.update([0.0, 9.0, np.nan, 0.0], np.zeros(4), groups=[7, 299, 5, 7])
    assert (batch.rows, batch.violations, batch.unlabelled) == (3, 1, 1)
    assert touched == [monitor.groups[label] for label in (5, 7, 299)]
    counts = {
        label: (w.n_rows, w.n_violations, w.n_unlabelled) for label, w in monitor.groups.items() if label in (5, 7)
    }
    assert counts == {5: (0, 0, 1), 7: (2, 0, 0)}
    for _ in range(3):
        monitor.save(tmp_path / "state.json")
    assert not computed


def test_a_late_group_can_warn_and_be_acknowledged_by_the_state_of_all(rng):
    cert = pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), np.arange(2000) % 2, eps=0.1, delta=0.01)
    monitor = pacband.Monitor(cert)
    monitor.update(np.zeros(3000), np.zeros(3000), groups=np.zeros(3000, int))
    risen = np.where(np.arange(700) % 4 == 0, 9.0, 0.0)
    assert monitor.update(np.r_[np.zeros(3000), risen], np.zeros(3700), groups=np.ones(3700, int)).state == "warning"
    assert monitor.update([0.0], [0.0], groups=0).state == "warning"
    monitor.acknowledge()
    assert monitor.state == monitor.update([0.0], [0.0], groups=0).state == "ok"
