"""The monitor's state: exactly-once streams through kills, damaged files, locks; the command line and its metrics."""

import io
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.cli import main
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


def write_csv(path, y, y_pred, **more):
    names = ["y", "p", *more]
    columns = [
        [f"{value:.6g}" if isinstance(value, float) else value for value in column]
        for column in (y, y_pred, *more.values())
    ]
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def command(directory, *arguments, columns=("--target", "y", "--prediction", "p")):
    return [
        sys.executable, "-m", "pacband", "monitor", str(directory / "cert.json"), "--state", str(directory / "state.json"),
        *([] if "--acknowledge" in arguments else columns), *map(str, arguments),
    ]  # fmt: skip


def run(directory, *arguments, stdin=b"", **options):
    """Run the command line within this process, which spares its start."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command(directory, *arguments, **options)[2:])
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code or 0
    for stream in streams[1:]:
        stream.flush()
    return SimpleNamespace(returncode=code, stdout=streams[1].buffer.getvalue(), stderr=streams[2].buffer.getvalue())


def counts(directory):
    watch = json.loads((directory / "state.json").read_text())["content"]["watches"][0]
    return watch["n_rows"], watch["n_violations"], watch["n_unlabelled"]


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
    done = run(tmp_path, write_csv(tmp_path / "rows.csv", [0.0], [0.0]))
    assert done.returncode == 0, done.stderr
    path.write_bytes(whole[:99])
    done = run(tmp_path, tmp_path / "rows.csv")
    assert (done.returncode, path.read_bytes()) == (2, whole[:99])
    assert b"is truncated" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_two_processes_cannot_share_a_state(cert, tmp_path):
    monitor = pacband.Monitor(cert)
    with StateFile(tmp_path / "state.json") as stored:
        stored.write(monitor)
        with pytest.raises(CertificateError, match=r"state\.json is in use: another process holds its lock"):
            monitor.save(tmp_path / "state.json")
        done = run(tmp_path, stdin=b"y,p\n0,0\n")
        assert done.returncode == 2
        assert b"is in use" in done.stderr
    first, second = (pacband.Monitor.load(tmp_path / "state.json", cert) for _ in range(2))
    first.update([0.0], [0.0])
    first.save(tmp_path / "state.json")
    first.save(tmp_path / "state.json")
    second.update([0.0], [0.0])
    with pytest.raises(CertificateError, match="holds another state than this monitor last read or wrote"):
        second.save(tmp_path / "state.json")
    second.save(tmp_path / "copy.json")


def kill_and_repeat(directory, file, kills, seed, *arguments):
    """Kill -9 the command at random moments, start it again, and let it end; return how often it was hit."""
    dice, hit = random.Random(seed), 0
    for _ in range(kills):
        process = subprocess.Popen(
            command(directory, *arguments, file), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        before = (directory / "state.json").stat().st_mtime_ns if (directory / "state.json").exists() else 0
        while process.poll() is None and time.monotonic() < deadline:
            changed = (directory / "state.json").exists() and (directory / "state.json").stat().st_mtime_ns != before
            if changed:
                time.sleep(dice.uniform(0.0, 0.05))
                break
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            hit += 1
        process.wait()
    assert run(directory, *arguments, file).returncode == 0
    return hit


def test_killed_at_random_the_state_ends_the_same(cert, tmp_path, rng):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        cert.save(tmp_path / name / "cert.json")
    y = rng.standard_normal(12000)
    y[::50] = np.nan
    file = write_csv(tmp_path / "rows.csv", y, np.zeros(12000))
    assert run(tmp_path / "whole", "--batch-size", 100, file).returncode == 0
    assert kill_and_repeat(tmp_path / "killed", file, 3, 0, "--batch-size", 100) >= 2
    assert (tmp_path / "killed" / "state.json").read_bytes() == (tmp_path / "whole" / "state.json").read_bytes()
    assert counts(tmp_path / "whole")[0::2] == (11760, 240)
    direct = pacband.Monitor(cert)
    direct.update([float(f"{value:.6g}") for value in y], np.zeros(12000))
    assert counts(tmp_path / "whole") == (direct.n_rows, direct.n_violations, direct.n_unlabelled)


@pytest.mark.verify
def test_killed_during_a_million_rows(cert, tmp_path, rng):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        cert.save(tmp_path / name / "cert.json")
    file = write_csv(tmp_path / "rows.csv", rng.standard_normal(10**6), np.zeros(10**6))
    assert run(tmp_path / "whole", file).returncode == 0
    assert kill_and_repeat(tmp_path / "killed", file, 25, 1) >= 15
    assert (tmp_path / "killed" / "state.json").read_bytes() == (tmp_path / "whole" / "state.json").read_bytes()


def test_a_file_is_known_by_its_content(cert, tmp_path, rng):
    y = rng.standard_normal(300)
    file = write_csv(tmp_path / "a.csv", y[:200], np.zeros(200))
    assert run(tmp_path, file).returncode == 0
    done = run(tmp_path, file.rename(tmp_path / "b.csv"))
    assert b"200 rows were read before" in done.stderr
    assert counts(tmp_path)[0] == 200
    run(tmp_path, write_csv(tmp_path / "c.csv", y, np.zeros(300)))
    assert counts(tmp_path)[0] == 300
    run(tmp_path, write_csv(tmp_path / "d.csv", y[::-1], np.zeros(300)))
    assert counts(tmp_path)[0] == 600
    run(tmp_path, tmp_path / "c.csv")
    assert counts(tmp_path)[0] == 600


def test_standard_input_is_new_unless_it_is_said_to_be_replayed(cert, tmp_path):
    rows = b"".join(b'{"y": %d, "p": 0}\n' % (i % 2) for i in range(50))
    for _ in range(2):
        done = run(tmp_path, "--json", stdin=rows)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == counts(tmp_path)[0] == 100
    run(tmp_path, "--replay", stdin=rows + b'{"y": null, "p": 0}\n{"p": 0}\n{"y": 1.5, "p": 0}')
    assert counts(tmp_path)[::2] == (101, 2)
    done = run(tmp_path, "--replay", stdin=b"{" + rows[1:].replace(b"0", b"2"))
    assert done.returncode == 2
    assert b"does not begin with the rows that were read before" in done.stderr


def test_revocation_ends_with_exit_code_one_and_stays(cert, tmp_path):
    file = write_csv(tmp_path / "rows.csv", [9.0] * 4000, [0.0] * 4000)
    done = run(tmp_path, "--metrics", tmp_path / "out.prom", file)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[-1].endswith(": revoked")
    assert b"The promise does not hold" in done.stderr
    assert counts(tmp_path)[0] == 1000
    assert 'pacband_state{state="revoked"} 1' in (tmp_path / "out.prom").read_text()
    assert run(tmp_path, stdin=b"y,p\n0,0\n").returncode == 1
    assert run(tmp_path, "--acknowledge").returncode == 1
    assert counts(tmp_path)[0] == 1000


def test_warning_and_acknowledgement(cert, tmp_path):
    calm = [0.0] * 3000
    risen = [9.0 if i % 9 == 0 else 0.0 for i in range(700)]
    done = run(tmp_path, write_csv(tmp_path / "rows.csv", calm + risen, [0.0] * 3700))
    assert done.returncode == 0
    assert b"Violations have lately been more frequent" in done.stderr
    assert run(tmp_path, "--acknowledge").stdout.startswith(b"ok: There is no evidence")


def test_a_state_keeps_the_settings_it_was_begun_with(cert, tmp_path):
    rows = b"y,p\n0,0\n"
    assert run(tmp_path, "--alpha", 0.05, "--false-alarm-interval", 50, stdin=rows).returncode == 0
    assert run(tmp_path, "--alpha", 0.05, "--false-alarm-interval", 50, stdin=rows).returncode == 0
    assert run(tmp_path, stdin=rows).returncode == 0
    done = run(tmp_path, "--alpha", 0.02, stdin=rows)
    assert done.returncode == 2
    assert b"was begun with alpha=0.05: it cannot go on with 0.02" in done.stderr


def test_columns_are_those_the_certificate_was_made_from(tmp_path, rng):
    frame = pd.DataFrame({"actual": rng.standard_normal(900), "model": 0.0, "spread": 1.0})
    cert = pacband.certify_frame(frame, target="actual", prediction="model", scale="spread", eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    done = run(tmp_path, tmp_path / "rows.csv", columns=())
    assert done.returncode == 0, done.stderr
    assert counts(tmp_path) == (900, cert.rank - 1, 0)
    pacband.certify(frame["actual"], frame["model"], eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    (tmp_path / "state.json").unlink()
    done = run(tmp_path, tmp_path / "rows.csv", columns=())
    assert done.returncode == 2
    assert b"name the prediction column" in done.stderr


def test_follow_waits_for_rows(cert, tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("y,p\n0,0\n0,0\n0,")
    process = subprocess.Popen(command(tmp_path, "--follow", file), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("2 rows")
        with open(file, "a") as log:
            log.write("0\n9,0\n")
        assert process.stdout.readline().startswith("4 rows, 1 violations")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        process.stdout.close()
    assert counts(tmp_path) == (4, 1, 0)


class Follower:
    """`pacband monitor --follow` as a process, whose lines are waited for no longer than a minute."""

    def __init__(self, directory, file, *arguments):
        command_ = command(directory, "--follow", *arguments, file)
        self.process = subprocess.Popen(command_, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def until(self, n_rows):
        """Wait until so many rows are counted."""
        deadline = time.monotonic() + 60
        while not (line := self.lines.get(timeout=deadline - time.monotonic())).startswith(f"{n_rows} rows"):
            pass
        return line

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()


def csv_rows(n_rows, y=0):
    return "y,p\n" + f"{y},0\n" * n_rows


def json_rows(n_rows, y=0):
    return f'{{"y": {y}, "p": 0}}\n' * n_rows


@pytest.mark.parametrize("form", [csv_rows, json_rows])
def test_follow_goes_on_after_a_log_was_renamed_and_replaced(cert, tmp_path, form):
    log = tmp_path / "log"
    log.write_text(form(20))
    with open(log, "a") as old, Follower(tmp_path, log) as follower:
        follower.until(20)
        log.rename(tmp_path / "log.1")
        # Whoever writes may go on with the old file for a while.
        old.write(form(5).removeprefix("y,p\n"))
        old.flush()
        follower.until(25)
        log.touch()
        old.write(form(5).removeprefix("y,p\n").rstrip("\n"))
        old.flush()
        log.write_text(form(9) + form(1, 9).removeprefix("y,p\n"))
        assert "1 violations" in follower.until(40)
        for k in (2, 3):
            log.rename(tmp_path / f"log.{k}")
            log.write_text(form(10, k / 10))
            follower.until(30 + 10 * k)
        follower.process.send_signal(signal.SIGINT)
        assert follower.process.wait(30) == 130
        assert "was replaced by a new file" in follower.process.stderr.read()
    assert counts(tmp_path) == (60, 1, 0)
    # All of them are known again.
    for name in ("log", "log.1", "log.2", "log.3"):
        assert run(tmp_path, tmp_path / name).returncode == 0
    assert counts(tmp_path) == (60, 1, 0)


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


@pytest.mark.parametrize("regrown", [0, 3, 60])
def test_follow_ends_where_a_log_was_copied_and_cut_and_the_copy_makes_it_whole(cert, tmp_path, regrown):
    log = tmp_path / "log.csv"
    log.write_text(csv_rows(20))
    with Follower(tmp_path, log) as follower:
        follower.until(20)
        # Rows that come just before the cut are in the copy only; a cut file may have grown beyond its old size since.
        with open(log, "r+") as file:
            (tmp_path / "log.csv.1").write_text(csv_rows(20) + "1,0\n" * 4)
            file.truncate(0)
            file.write(csv_rows(regrown, 0.5))
        assert follower.process.wait(60) == 2
        said = follower.process.stderr.read()
    assert "log.csv was cut or rewritten after" in said
    assert said.count("\n") == 1
    assert counts(tmp_path)[0] == 20
    for name in ("log.csv.1", "log.csv"):
        assert run(tmp_path, tmp_path / name).returncode == 0
    assert counts(tmp_path)[0] == 24 + regrown


def test_follow_goes_on_after_a_log_was_rewritten_with_the_same_rows_and_more(cert, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(csv_rows(20))
    with Follower(tmp_path, log) as follower:
        follower.until(20)
        (tmp_path / "new").write_text(csv_rows(20) + "9,0\n" * 3)
        (tmp_path / "new").rename(log)
        assert "3 violations" in follower.until(23)


def test_a_new_log_without_the_columns_ends_with_exit_code_two(cert, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(csv_rows(20))
    with Follower(tmp_path, log) as follower:
        follower.until(20)
        log.rename(tmp_path / "log.1")
        log.write_text("0,0\n" * 5)
        assert follower.process.wait(60) == 2
        assert "the stream has" in follower.process.stderr.read()
    assert counts(tmp_path)[0] == 20


def test_groups_and_pairs_of_scales_on_the_command_line(tmp_path, rng):
    site, y, scale = rng.choice([1, 2], 2000), rng.standard_normal(2000), rng.uniform(1, 2, 2000)
    cert = pacband.certify_groups(y, np.zeros(2000), site, (scale, 2 * scale), eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    file = write_csv(tmp_path / "rows.csv", y, np.zeros(2000), s=scale, t=2 * scale, g=site.tolist())
    done = run(tmp_path, "--scale", "s", "--scale", "t", "--group", "g", "--json", "--metrics", tmp_path / "m", file)
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert abs(last["violations"] - sum(part.rank - 1 for part in cert.groups.values())) <= 4
    assert 'pacband_rows_total{group="1"}' in (tmp_path / "m").read_text()
    done = run(tmp_path, "--scale", "s", "--group", "g", write_csv(tmp_path / "new.csv", [0.0], [0.0], s=[1.0], g=[1]))
    assert done.returncode == 2
    assert b"a scale pair" in done.stderr


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
        (b'{"p": 2}\n{"actual": 1, "p": 2}\n', "rows 1 to 2 have no 'y', but 'actual', 'p'. .* write null for"),
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


def test_a_label_that_was_renamed_upstream_ends_with_exit_code_two(cert, tmp_path):
    rows = b'{"actual": 100, "p": 0}\n' * 500
    done = run(tmp_path, "--json", stdin=rows)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"have no 'y', but 'actual', 'p'" in done.stderr
    assert not (tmp_path / "state.json").exists()
    done = run(tmp_path, "--batch-size", 10, stdin=b'{"y": 1, "p": 0}\n' * 10 + rows)
    assert done.returncode == 2
    assert b"rows 11 to 110 have no 'y'" in done.stderr
    assert counts(tmp_path)[0] == 10


@pytest.mark.parametrize("key", ["p", "s", "g"])
def test_a_prediction_scale_or_group_that_was_renamed_is_refused_in_any_row(tmp_path, rng, key):
    site = rng.choice([1, 2], 2000)
    options = {"eps": 0.1, "delta": 0.01, "min_scale": 0.5, "nonfinite": "violate"}
    pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), site, np.ones(2000), **options).save(
        tmp_path / "cert.json"
    )
    whole = b'{"y": 0, "p": 0, "s": 1, "g": 1}\n'
    named = ["--scale", "s", "--group", "g"]
    assert run(tmp_path, *named, stdin=whole).returncode == 0
    done = run(tmp_path, *named, stdin=whole + whole.replace(f'"{key}"'.encode(), b'"other"'))
    assert done.returncode == 2
    assert f"row 2 of the stream has no '{key}'; it has".encode() in done.stderr
    assert counts(tmp_path)[0] == 1


def test_rows_without_a_label_are_shown(cert, tmp_path):
    done = run(tmp_path, stdin=b"y,p\n0,0\n,0\n,0\n")
    assert b"1 rows, 0 violations" in done.stdout
    assert b", 2 unlabelled, " in done.stdout
    done = run(tmp_path, "--json", stdin=b'{"y": 0, "p": 0}\n{"p": 0}\n')
    assert json.loads(done.stdout)["unlabelled"] == 3


def test_labels_that_look_alike_stay_apart(tmp_path, rng):
    groups = [1, "1"] * 1000
    cert = pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), groups, eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    done = run(tmp_path, "--group", "g", stdin=b'{"y": 0, "p": 0, "g": 1}\n{"y": 0, "p": 0, "g": "1"}\n' * 2)
    assert done.returncode == 0, done.stderr
    monitor = pacband.Monitor.load(tmp_path / "state.json", cert)
    assert [(label, watch.n_rows) for label, watch in monitor.groups.items()] == [(1, 2), ("1", 2)]


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


def test_help_has_examples(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pacband", "monitor", "--help"], capture_output=True, text=True, check=True
    )
    assert "pacband monitor cert.json --state state.json" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="durability of names is a matter of POSIX")
def test_nothing_is_left_behind(cert, tmp_path):
    run(tmp_path, stdin=b"y,p\n0,0\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert.json", "state.json", "state.json.lock"]


def test_a_first_line_that_is_no_header_ends_with_exit_code_two(cert, tmp_path):
    for text in (b"y,p\r1,2\r", b"PAR1\x15\x00\r\x15\n"):
        done = run(tmp_path, stdin=text)
        assert done.returncode == 2, done.stderr
        assert b"first line that is no header" in done.stderr
