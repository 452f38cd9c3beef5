"""The state file of a monitor: atomic, locked, of one certificate, and refused if it is damaged."""

import errno
import os

import numpy as np
import pytest

import pacband
from pacband.core.documents import read_document
from pacband.exceptions import CertificateError
from pacband.monitoring import StateFile
from support.monitor_command import save_certificate
from support.rewriting import redigested


@pytest.fixture
def cert(rng, tmp_path):
    return save_certificate(rng, tmp_path)


def test_state_goes_to_a_file_and_back(cert, tmp_path, rng):
    monitor = pacband.Monitor(cert, alpha=0.02, false_alarm_interval=5e4)
    monitor.update(rng.standard_normal(3000), np.zeros(3000), batch_id="a")
    monitor.save(tmp_path / "state.json")
    again = pacband.Monitor.load(tmp_path / "state.json", cert)
    assert again.to_dict() == monitor.to_dict()
    fresh = rng.standard_normal(500)
    for each in (again, monitor):
        each.update(fresh, np.zeros(500))
    assert again.to_dict() == monitor.to_dict()
    with pytest.warns(UserWarning, match="'a' was already counted"):
        again.update([0.0], [0.0], batch_id="a")


def test_groups_go_to_a_file_and_back(tmp_path, rng):
    groups = rng.choice([1, 2], 2000)
    cert = pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), groups, eps=0.1, delta=0.01)
    monitor = pacband.Monitor(cert)
    monitor.update(rng.standard_normal(50), np.zeros(50), groups=rng.choice([1, 2], 50))
    monitor.save(tmp_path / "state.json")
    assert pacband.Monitor.load(tmp_path / "state.json", cert).to_dict() == monitor.to_dict()


def test_damaged_truncated_and_foreign_states_are_refused_and_left_alone(cert, tmp_path, rng):
    path = tmp_path / "state.json"
    monitor = pacband.Monitor(cert)
    monitor.update(rng.standard_normal(100), np.zeros(100))
    monitor.save(path)
    whole = path.read_bytes()
    other = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    damaged = {
        "is truncated": whole[: len(whole) // 2],
        "was edited or damaged": whole.replace(b'"n_rows": 100', b'"n_rows": 101'),
        "is not a state of a monitor of pacband": (tmp_path / "cert.json").read_bytes(),
        "is damaged": whole.replace(b"n_rows", b"n_\xffrows"),
    }
    for message, data in damaged.items():
        path.write_bytes(data)
        with pytest.raises(CertificateError, match=message):
            pacband.Monitor.load(path, cert)
        with pytest.raises(CertificateError, match="holds another state than this monitor"):
            monitor.save(path)
        assert path.read_bytes() == data
    path.write_bytes(whole)
    with pytest.raises(CertificateError, match="state of another certificate"):
        pacband.Monitor.load(path, other)


def test_two_processes_cannot_share_a_state(cert, tmp_path):
    monitor = pacband.Monitor(cert)
    with StateFile(tmp_path / "state.json") as stored:
        stored.write(monitor)
        with pytest.raises(CertificateError, match=r"state\.json is in use: another process holds its lock"):
            monitor.save(tmp_path / "state.json")
        assert pacband.Monitor.load(tmp_path / "state.json", cert).state == "ok", "reading needs no lock"
    first, second = (pacband.Monitor.load(tmp_path / "state.json", cert) for _ in range(2))
    first.update([0.0], [0.0])
    first.save(tmp_path / "state.json")
    first.save(tmp_path / "state.json")
    second.update([0.0], [0.0])
    with pytest.raises(CertificateError, match="holds another state than this monitor last read or wrote"):
        second.save(tmp_path / "state.json")
    second.save(tmp_path / "copy.json")


def test_a_disk_without_locks_is_named(cert, tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("pacband.monitoring.state._lock", refuse)
    with pytest.raises(CertificateError, match=r"cannot be locked: .*\. Use a state file on a local disk"):
        pacband.Monitor(cert).save(tmp_path / "state.json")


def test_a_state_that_is_replaced_while_it_is_read_is_read_again(cert, tmp_path, monkeypatch):
    """Otherwise the counts of one state would go with the fingerprint of the other, and overwrite it later."""
    path = tmp_path / "state.json"
    writer = pacband.Monitor(cert)
    writer.save(path)

    def read_and_replace(*arguments):
        content = read_document(*arguments)
        if not writer.n_rows:
            writer.update([0.0], [0.0])
            writer.save(path)
        return content

    monkeypatch.setattr("pacband.monitoring.state.read_document", read_and_replace)
    assert pacband.Monitor.load(path, cert).n_rows == 1


def test_two_links_to_one_state_have_one_lock(tmp_path):
    (tmp_path / "real").mkdir()
    for name in ("one.json", "other.json"):
        os.symlink("real/state.json", tmp_path / name)
    with (
        StateFile(tmp_path / "one.json"),
        pytest.raises(pacband.CertificateError, match=r"in use.*state\.json\.lock"),
        StateFile(tmp_path / "other.json"),
    ):
        pass
    assert sorted(os.listdir(tmp_path)) == ["one.json", "other.json", "real"]
    assert os.listdir(tmp_path / "real") == []


def test_a_lock_file_that_was_removed_meanwhile_locks_nothing(tmp_path, monkeypatch):
    """Another process opens the lock file, and gets the lock only after the first has removed the file."""
    path, opened = tmp_path / "state.json", os.open
    first, second = StateFile(path), StateFile(path)
    first.__enter__()

    def open_late(*args):
        descriptor = opened(*args)
        if first._lock is not None:
            first.__exit__(None, None, None)
        return descriptor

    monkeypatch.setattr("pacband.monitoring.state.os.open", open_late)
    with second:
        assert os.listdir(tmp_path) == ["state.json.lock"]
        assert os.path.samestat(os.fstat(second._lock), os.stat(f"{path}.lock"))
        with pytest.raises(pacband.CertificateError, match="in use"), StateFile(path):
            pass
    assert os.listdir(tmp_path) == []


def test_a_lock_file_with_content_is_kept(tmp_path):
    (tmp_path / "state.json.lock").write_text("mine")
    with StateFile(tmp_path / "state.json"):
        pass
    assert (tmp_path / "state.json.lock").read_text() == "mine"


def test_only_the_own_lock_file_is_removed(tmp_path):
    with StateFile(tmp_path / "state.json"):
        os.rename(tmp_path / "state.json.lock", tmp_path / "away")
        (tmp_path / "state.json.lock").touch()
    assert sorted(os.listdir(tmp_path)) == ["away", "state.json.lock"]


@pytest.fixture
def state(cert, rng, tmp_path):
    monitor = pacband.Monitor(cert)
    monitor.update(rng.standard_normal(3000), np.zeros(3000), batch_id="a")
    return monitor.save(tmp_path / "state.json")


WATCHES = [
    {"n_violations": 3001},
    {"n_rows": 10**30, "n_violations": 0},
    {"n_rows": 1e30},
    {"n_rows": 10**4000},
    {"n_rows": 3000.0},
    {"quiet": 10**30},
    {"quiet": 3001},
    {"n_unlabelled": 10**4000},
    {"n_warnings": 10**4000},
    {"warned_at": 3001},
    {"revoked_at": 10**30},
    {"revoked_at": 3001},
    {"detector": [10**400, 0, 0]},
    {"trace": "9" * 5000 + ":1"},
    {"trace": "1:2"},
    {"trace": "512:3 256:2"},
    {"trace": "512:3 1024:2"},
    {"trace": "4000:2"},
    {"trace": " ".join(["1:1"] * 10_000)},
    {"label": 10**400},
    # Evidence that would have revoked the certificate, and a state that does not mention it.
    {"n_violations": 2900, "trace": ""},
]


@pytest.mark.parametrize("changes", WATCHES, ids=[str(changes)[:30] for changes in WATCHES])
def test_a_state_with_absurd_counts_is_refused(cert, state, changes):
    redigested(state, lambda content: content["watches"][0].update(changes))
    with pytest.raises(CertificateError) as caught:
        pacband.Monitor.load(state, cert)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": 5e-324},
        {"false_alarm_interval": 10**400},
        {"state": "warning"},
        {"state": "revoked"},
        {"batches": ["x" * 100_000]},
        {"batches": [str(k) for k in range(1025)]},
        {"streams": [{"offset": 10**4000, "rows": 1, "sha256": "0" * 64}]},
    ],
)
def test_a_state_with_absurd_settings_is_refused(cert, state, changes):
    redigested(state, lambda content: content.update(changes))
    with pytest.raises(CertificateError) as caught:
        pacband.Monitor.load(state, cert)
    assert len(str(caught.value)) < 1000
