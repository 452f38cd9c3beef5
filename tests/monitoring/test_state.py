"""Streams of rows that are read exactly once, the files of states and their locks, and metrics."""

import io
import re

import numpy as np
import pytest

import pacband
from pacband.exceptions import CertificateError, InvalidInput
from pacband.monitoring import StateFile
from pacband.monitoring.following import FollowedFile
from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.metrics import prometheus_text
from pacband.monitoring.streams import RowStream


@pytest.fixture
def cert(rng, tmp_path):
    certificate = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    certificate.save(tmp_path / "cert.json")
    return certificate


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
    with pytest.warns(UserWarning, match="'a' was taken in before"):
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
        "is not a pacband/monitor file": (tmp_path / "cert.json").read_bytes(),
        "is damaged": b"\xff" + whole,
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
    first, second = (pacband.Monitor.load(tmp_path / "state.json", cert) for _ in range(2))
    first.update([0.0], [0.0])
    first.save(tmp_path / "state.json")
    first.save(tmp_path / "state.json")
    second.update([0.0], [0.0])
    with pytest.raises(CertificateError, match="holds another state than this monitor last read or wrote"):
        second.save(tmp_path / "state.json")
    second.save(tmp_path / "copy.json")


def csv_rows(n_rows, y=0):
    return "y,p\n" + f"{y},0\n" * n_rows


def test_files_that_take_the_name_while_the_first_is_read_wait_for_their_turn(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(csv_rows(20))
    found = []
    with FollowedFile(str(log)) as file:
        source = file.source
        while len(found) < 41:
            for rows in RowStream(source, ["y", "p"], []).batches(5, follow=True, file=file):
                found += rows.columns["y"]
                if len(found) in (5, 10, 15):
                    # The log is rotated three times while its first file is read; only the last two are kept.
                    log.rename(tmp_path / "old")
                    log.write_text(csv_rows(7, len(found)))
                if len(found) == 41:
                    break
            else:
                source = file.advance()
    assert found == [0.0] * 20 + [5.0] * 7 + [10.0] * 7 + [15.0] * 7
    assert source.closed


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"y,q\n1,2\n", "the stream has no column 'p'; it has 'y', 'q'"),
        (b"y,p\n1,2\n1\n", "row 2 of the stream has 1 fields, its header has 2"),
        (b"y,p\n1,2\n1,two\n", "'p' must be a number, got 'two' in row 2"),
        (b'{"y": 1, "p": 2}\n{"y": 1,\n', "row 2 of the stream is not JSON"),
        (b'{"y": 1, "p": 2}\n[1]\n', r"row 2 of the stream must be a JSON object, got '\[1\]'"),
        (b'y,p\n"1,2\n', "not CSV with one row a line near row 1"),
        (b"y,p\n\xff,2\n", "must be UTF-8: it is not near row 1"),
        (b'{"y": 1, "p": [2]}\n', r"'p' must be a number, got \[2\] in row 1"),
        (b"y,p,y\n1,2,3\n", r"the stream has 1 column name\(s\) more than once: 'y'"),
        (
            b'{"y": 1, "p": 2}\n\n{"y": 1, "y": 3, "p": 2}\n',
            "row 2 of the stream cannot be read: it has a key more .* 'y'",
        ),
        (b'{"y": 1, "p": 2, "x": {"a": 1, "a": 2}}\n', "row 1 of the stream cannot be read: it has a key more .* 'a'"),
        (b'{"y": 1, "p": 2}\n{"y": 1, "q": 2}\n', "row 2 of the stream has no 'p'; it has 'y', 'q'"),
        (b'{"p": 2}\n{"actual": 1, "p": 2}\n', "rows 1 to 2 have no 'y', but 'actual', 'p'. .* write null where"),
        (b'{"p": 2}\n', "row 1 has no 'y', but 'p'"),
        (b'{"y": 1, "p": 2}\n' + b'{"z": 1, "p": 2}\n' * 100, "rows 2 to 101 have no 'y', but 'z', 'p'"),
        (b'{"y": 1, "p": %d}\n' % (2**53 + 1), "'p' has integers beyond 2"),
        (b'{"y": 1, "p": -%d}\n' % 10**400, "'p' has integers beyond 2"),
        (b"y,p\n1,2\n1,%d\n" % (2**53 + 1), "'p' has integers beyond 2"),
        (b'{"y": 1, "p": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "row 1 of the stream cannot be read"),
        (b'{"y": 1, "p": ' + b"9" * 5000 + b"}\n", "row 1 of the stream cannot be read"),
    ],
)
def test_bad_streams_are_refused(tmp_path, data, message):
    (tmp_path / "rows").write_bytes(data)
    with open(tmp_path / "rows", "rb") as source, pytest.raises(InvalidInput, match=message):
        list(RowStream(source, ["y", "p"], [], late=["y"]).batches(10))


@pytest.mark.parametrize("data", [b"y,p\n1,2\n\n,4\r\n5,6", b'{"y": 1, "p": 2}\n\n{"p": 4}\n{"y": 5, "p": 6}'])
def test_streams_are_cut_into_batches_and_gone_on_with_anywhere(tmp_path, data):
    (tmp_path / "rows").write_bytes(data)
    for size in range(1, 7):
        with open(tmp_path / "rows", "rb") as source:
            batches = list(RowStream(source, ["y", "p"], [], late=["y"]).batches(size))
        assert [value for rows in batches for value in rows.columns["p"]] == [2.0, 4.0, 6.0]
        assert sum(np.isnan(value) for rows in batches for value in rows.columns["y"]) == 1
        assert (batches[-1].position.offset, batches[-1].position.rows) == (len(data), 3)
        for i, rows in enumerate(batches):
            with open(tmp_path / "rows", "rb") as source:
                stream = RowStream(source, ["y", "p"], [], late=["y"])
                strange = StreamPosition(3, 1, "0" * 64), StreamPosition(len(data) + 9, 9, "0" * 64)
                assert stream.skip([*strange, rows.position, batches[0].position]) == rows.position
                rest = [value for rows in stream.batches(size) for value in rows.columns["p"]]
            assert rest == [value for rows in batches[i + 1 :] for value in rows.columns["p"]]


def test_rows_that_may_lack_their_label_are_given_out_once_a_label_has_been_there():
    data = b'{"p": 0}\n' * 99 + b'{"y": 1, "p": 0}\n' + b'{"p": 0}\n' * 99
    for size in (1, 7, 99, 100, 1000):
        batches = list(RowStream(io.BytesIO(data), ["y", "p"], [], late=["y"]).batches(size))
        y = [value for rows in batches for value in rows.columns["y"]]
        assert (len(y), np.flatnonzero(~np.isnan(y)).tolist()) == (199, [99])
        # Nothing of a stream without labels is given out, however it is cut.
        renamed = RowStream(io.BytesIO(data.replace(b'"y"', b'"z"')), ["y", "p"], [], late=["y"]).batches(size)
        with pytest.raises(InvalidInput, match="rows 1 to 100 have no 'y', but 'z', 'p'"):
            next(renamed)


def test_numbers_that_are_large_but_no_integers_are_read():
    stream = RowStream(io.BytesIO(b'{"y": 1e300, "p": 9007199254740992}\n{"y": "1e18", "p": null}\n'), ["y", "p"], [])
    (rows,) = stream.batches(10)
    assert rows.columns["y"] == [1e300, 1e18]
    assert rows.columns["p"][0] == 2.0**53


def test_a_stream_that_is_not_known_is_read_from_its_start(tmp_path):
    for data in (b"y,p\n1,2\n3,4\n", b'{"y": 1, "p": 2}\n{"y": 3, "p": 4}\n', b""):
        (tmp_path / "rows").write_bytes(data)
        for offset in (1, 9, 14, 99):
            with open(tmp_path / "rows", "rb") as source:
                stream = RowStream(source, ["y", "p"], [], late=["y"])
                assert stream.skip([StreamPosition(offset, 1, "0" * 64)]) is None
                values = [value for rows in stream.batches(10) for value in rows.columns["p"]]
            assert values == ([2.0, 4.0] if data else [])


def test_metrics_are_in_the_text_format(rng):
    labels = ['a"b', "c\\d", "e\nf"]
    cert = pacband.certify_groups(rng.standard_normal(900), np.zeros(900), labels * 300, eps=0.1, delta=0.1)
    monitor = pacband.Monitor(cert)
    monitor.update([0.0, 9.0], [0.0, 0.0], groups=['a"b'] * 2)
    text = prometheus_text(monitor)
    value = r"(NaN|[+-]Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)"
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\\n]|\\.)*"(,\w+="[^"]*")*\})? ' + value + ")")
    assert all(line.fullmatch(each) for each in text.splitlines())
    assert r'pacband_violations_total{group="a\"b"} 1' in text
    assert r'pacband_violation_rate{group="e\nf"} NaN' in text
    assert r'pacband_state{group="c\\d",state="ok"} 1' in text
