"""`pacband monitor`: exactly-once streams through kills, followed logs, warnings and revocation."""

import json
import os
import queue
import random
import signal
import subprocess
import threading
import time

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.monitoring import StateFile
from support.monitor_command import command, csv_rows, save_certificate, write_csv
from support.shell import PROGRAM, start

COLUMNS = ["--target", "y", "--prediction", "p"]


@pytest.fixture
def cert(rng, tmp_path):
    return save_certificate(rng, tmp_path)


@pytest.fixture
def monitor(run):
    """Run `pacband monitor` on the certificate and the state in a folder."""
    return lambda directory, *arguments, stdin=None, **columns: run(
        *command(directory, *arguments, **columns)[len(PROGRAM) :], stdin=stdin
    )


def counts(directory):
    watch = json.loads((directory / "state.json").read_text())["content"]["watches"][0]
    return watch["n_rows"], watch["n_violations"], watch["n_unlabelled"]


def kill_and_repeat(monitor, directory, file, kills, seed, *arguments):
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
    assert monitor(directory, *arguments, file).returncode == 0
    return hit


def test_killed_at_random_the_state_ends_the_same(monitor, cert, tmp_path, rng):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        cert.save(tmp_path / name / "cert.json")
    y = rng.standard_normal(12000)
    y[::50] = np.nan
    file = write_csv(tmp_path / "rows.csv", y, np.zeros(12000))
    assert monitor(tmp_path / "whole", "--batch-size", 100, file).returncode == 0
    assert kill_and_repeat(monitor, tmp_path / "killed", file, 3, 0, "--batch-size", 100) >= 2
    assert (tmp_path / "killed" / "state.json").read_bytes() == (tmp_path / "whole" / "state.json").read_bytes()
    assert counts(tmp_path / "whole")[0::2] == (11760, 240)
    direct = pacband.Monitor(cert)
    direct.update([float(f"{value:.6g}") for value in y], np.zeros(12000))
    assert counts(tmp_path / "whole") == (direct.n_rows, direct.n_violations, direct.n_unlabelled)


@pytest.mark.verify
def test_killed_during_a_million_rows(monitor, cert, tmp_path, rng):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        cert.save(tmp_path / name / "cert.json")
    file = write_csv(tmp_path / "rows.csv", rng.standard_normal(10**6), np.zeros(10**6))
    assert monitor(tmp_path / "whole", file).returncode == 0
    assert kill_and_repeat(monitor, tmp_path / "killed", file, 25, 1) >= 15
    assert (tmp_path / "killed" / "state.json").read_bytes() == (tmp_path / "whole" / "state.json").read_bytes()


def test_a_file_is_known_by_its_content(monitor, cert, tmp_path, rng):
    y = rng.standard_normal(300)
    file = write_csv(tmp_path / "a.csv", y[:200], np.zeros(200))
    assert monitor(tmp_path, file).returncode == 0
    done = monitor(tmp_path, file.rename(tmp_path / "b.csv"))
    assert "200 rows were already processed" in done.stderr
    assert counts(tmp_path)[0] == 200
    monitor(tmp_path, write_csv(tmp_path / "c.csv", y, np.zeros(300)))
    assert counts(tmp_path)[0] == 300
    monitor(tmp_path, write_csv(tmp_path / "d.csv", y[::-1], np.zeros(300)))
    assert counts(tmp_path)[0] == 600
    monitor(tmp_path, tmp_path / "c.csv")
    assert counts(tmp_path)[0] == 600


def test_a_file_whose_rows_were_corrected_is_not_counted_twice(monitor, cert, tmp_path, rng):
    y = rng.standard_normal(2400)
    file = write_csv(tmp_path / "a.csv", y[:900], np.zeros(900))
    assert monitor(tmp_path, file).returncode == 0
    state = (tmp_path / "state.json").read_bytes()
    corrected = y[:1000].copy()
    corrected[10] += 0.5
    for rows in corrected[:900], corrected, y[100:1000], y[:900][::-1]:
        write_csv(file, rows, np.zeros(len(rows)))
        done = monitor(tmp_path, file)
        assert (done.returncode, done.stdout, (tmp_path / "state.json").read_bytes()) == (2, "", state)
        assert f"{file} was read before, and has changed: about " in done.stderr
        assert "rows would be counted twice" in done.stderr
    # Under another name all its rows are counted, and so are new rows under the old name.
    assert monitor(tmp_path, file.rename(tmp_path / "b.csv")).returncode == 0
    assert counts(tmp_path)[0] == 1800
    done = monitor(tmp_path, write_csv(file, y[1500:], np.zeros(900)))
    assert (done.returncode, done.stderr, counts(tmp_path)[0]) == (0, "", 2700)
    # None of the earlier files of this name is forgotten.
    assert monitor(tmp_path, write_csv(file, corrected, np.zeros(1000))).returncode == 2


def test_new_rows_with_few_values_may_take_the_name_of_a_file(monitor, cert, tmp_path, rng):
    days = (rng.integers(0, 5, (2, 900)) / 10).tolist()
    file = tmp_path / "a.csv"
    done = [monitor(tmp_path, write_csv(file, day, [0.0, 0.5, 1.0] * 300)) for day in days]
    assert [each.returncode for each in done] == [0, 0]
    assert counts(tmp_path)[0] == 1800
    assert "rows that it had before are counted twice" in done[1].stderr


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_corrected_rows_are_recognised_in_every_form(monitor, cert, tmp_path, rng, name):
    frame = pd.DataFrame({"y": rng.standard_normal(300), "p": 0.0})

    def write(rows):
        rows.to_parquet(tmp_path / name) if name == "a.parquet" else rows.to_json(
            tmp_path / name, orient="records", lines=True
        )
        return tmp_path / name

    assert monitor(tmp_path, write(frame)).returncode == 0
    done = monitor(tmp_path, write(frame.assign(y=[0.5, *frame["y"][1:]])))
    assert (done.returncode, counts(tmp_path)[0]) == (2, 300)


def test_standard_input_is_new_unless_it_is_said_to_be_replayed(monitor, cert, tmp_path):
    rows = b"".join(b'{"y": %d, "p": 0}\n' % (i % 2) for i in range(50))
    for _ in range(2):
        done = monitor(tmp_path, "--json", stdin=rows)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == counts(tmp_path)[0] == 100
    monitor(tmp_path, "--replay", stdin=rows + b'{"y": null, "p": 0}\n{"p": 0}\n{"y": 1.5, "p": 0}')
    assert counts(tmp_path)[::2] == (101, 2)
    done = monitor(tmp_path, "--replay", stdin=b"{" + rows[1:].replace(b"0", b"2"))
    assert done.returncode == 2
    assert "needs standard input to start with the rows that were already processed" in done.stderr


def test_revocation_ends_with_exit_code_one_and_stays(monitor, cert, tmp_path):
    file = write_csv(tmp_path / "rows.csv", [9.0] * 4000, [0.0] * 4000)
    done = monitor(tmp_path, "--metrics", tmp_path / "out.prom", file)
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.endswith(" of 100: revoked")
    assert "1000 violations: 100.00 % (" in last
    assert "e+" not in last, "evidence is printed without a computer's exponent"
    assert "The promise does not hold" in done.stderr
    assert counts(tmp_path)[0] == 1000
    assert 'pacband_state{state="revoked"} 1' in (tmp_path / "out.prom").read_text()
    (tmp_path / "out.prom").unlink()
    again = monitor(tmp_path, "--json", "--metrics", tmp_path / "out.prom", stdin=b"y,p\n0,0\n")
    assert 'pacband_state{state="revoked"} 1' in (tmp_path / "out.prom").read_text()
    assert again.returncode == 1
    assert json.loads(again.stdout)["state"] == "revoked"
    assert "these rows are not counted" in again.stderr
    assert "pacband recalibrate" in again.stderr
    assert monitor(tmp_path, "--acknowledge").returncode == 1
    assert counts(tmp_path)[0] == 1000


def test_a_state_that_does_not_exist_cannot_be_acknowledged(monitor, cert, tmp_path):
    done = monitor(tmp_path, "--acknowledge")
    assert done.returncode == 2
    assert "there is no warning to acknowledge" in done.stderr
    assert not list(tmp_path.glob("*state*"))


def test_a_bad_alpha_leaves_no_file(monitor, cert, tmp_path):
    done = monitor(tmp_path, "--alpha", "2")
    assert done.returncode == 2
    assert not list(tmp_path.glob("*.lock"))


def test_warning_and_acknowledgement(monitor, cert, tmp_path):
    calm = [0.0] * 3000
    risen = [9.0 if i % 9 == 0 else 0.0 for i in range(700)]
    done = monitor(tmp_path, write_csv(tmp_path / "rows.csv", calm + risen, [0.0] * 3700))
    assert done.returncode == 0
    assert "Violations have lately been more frequent" in done.stderr
    missing = monitor(tmp_path, "--acknowledge", *COLUMNS, tmp_path / "missing.csv")
    assert (missing.returncode, json.loads((tmp_path / "state.json").read_text())["content"]["state"]) == (2, "warning")
    done = monitor(tmp_path, "--acknowledge", "--metrics", tmp_path / "out.prom")
    assert done.stdout.startswith("ok: There is no evidence")
    assert 'pacband_state{state="ok"} 1' in (tmp_path / "out.prom").read_text()


def test_a_warning_is_acknowledged_with_the_rows_that_follow(monitor, cert, tmp_path):
    rows = [0.0] * 3000 + [9.0 if i % 9 == 0 else 0.0 for i in range(700)]
    monitor(tmp_path, write_csv(tmp_path / "rows.csv", rows, [0.0] * 3700))
    done = monitor(tmp_path, "--acknowledge", *COLUMNS, write_csv(tmp_path / "more.csv", [0.0], [0.0]))
    assert (done.returncode, json.loads((tmp_path / "state.json").read_text())["content"]["state"]) == (0, "ok")


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_a_line_that_is_still_written_is_counted_when_it_ends(monitor, cert, tmp_path, name):
    """A job reads a log while another program writes to it: 0.6,0.5 becomes 0.6,9.53."""
    log = tmp_path / name
    begin, more = ("y,p\n0,0\n0.6,0.5", "3\n0,0\n") if name == "log.csv" else (
        '{"y": 0, "p": 0}\n{"y": 0.6, "p": 0.5', '3}\n{"y": 0, "p": 0}\n')  # fmt: skip
    log.write_text(begin)
    first = monitor(tmp_path, log)
    assert (first.returncode, counts(tmp_path)[0]) == (0, 1)
    assert "the last line has no line break" in first.stderr
    log.write_text(begin + more)
    second = monitor(tmp_path, log)
    assert (second.returncode, counts(tmp_path)[0], "line break" in second.stderr) == (0, 3, False)


def test_a_last_line_without_a_line_break_is_counted_if_the_rows_are_complete(monitor, cert, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n0,0\n0.6,0.5")
    assert monitor(tmp_path, "--finish", tmp_path / "rows.csv").returncode == 0
    assert counts(tmp_path)[0] == 2
    assert monitor(tmp_path, stdin=b"y,p\n0,0\n0.6,0.5").returncode == 0
    assert counts(tmp_path)[0] == 4, "standard input is complete when it ends"


def test_standard_input_ends_although_it_is_followed(monitor, cert, tmp_path):
    assert monitor(tmp_path, "--follow", stdin=b"y,p\n0,0\n").returncode == 0
    assert counts(tmp_path)[0] == 1


def test_a_line_without_an_end_does_not_fill_the_memory(monitor, cert, tmp_path):
    done = monitor(tmp_path, stdin=b"y,p\n0,0\n" + b"1" * 2_000_001)
    assert done.returncode == 2
    assert "a line of the stream has more than 2,000,000 bytes" in done.stderr


def test_a_state_keeps_the_settings_it_was_begun_with(monitor, cert, tmp_path):
    rows = b"y,p\n0,0\n"
    assert monitor(tmp_path, "--alpha", 0.05, "--false-alarm-interval", 50, stdin=rows).returncode == 0
    assert monitor(tmp_path, "--alpha", 0.05, "--false-alarm-interval", 50, stdin=rows).returncode == 0
    assert monitor(tmp_path, stdin=rows).returncode == 0
    done = monitor(tmp_path, "--alpha", 0.02, stdin=rows)
    assert done.returncode == 2
    assert "was started with alpha=0.05: it cannot continue with 0.02" in done.stderr


def test_columns_are_those_the_certificate_was_made_from(monitor, tmp_path, rng):
    frame = pd.DataFrame({"actual": rng.standard_normal(900), "model": 0.0, "spread": 1.0})
    cert = pacband.certify_frame(frame, target="actual", prediction="model", scale="spread", eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    done = monitor(tmp_path, tmp_path / "rows.csv", columns=())
    assert done.returncode == 0, done.stderr
    assert counts(tmp_path) == (900, cert.rank - 1, 0)
    pacband.certify(frame["actual"], frame["model"], eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    (tmp_path / "state.json").unlink()
    done = monitor(tmp_path, tmp_path / "rows.csv", columns=())
    assert done.returncode == 2
    assert "names no column of predictions" in done.stderr


@pytest.mark.parametrize("text", ["y,p\n", "# made by a pump\ny,p\n\n"])
def test_a_file_without_rows_is_reported_and_leaves_a_state(monitor, cert, tmp_path, text):
    (tmp_path / "rows.csv").write_text(text)
    done = monitor(tmp_path, "--metrics", tmp_path / "m.prom", tmp_path / "rows.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"pacband: {tmp_path / 'rows.csv'} has no rows.\n"
    assert counts(tmp_path) == (0, 0, 0)
    assert "pacband_rows_total 0" in (tmp_path / "m.prom").read_text()
    # The age of the files shows since when no rows have come.
    before = [(tmp_path / name).stat().st_mtime_ns for name in ("state.json", "m.prom")]
    assert monitor(tmp_path, "--metrics", tmp_path / "m.prom", tmp_path / "rows.csv").returncode == 0
    assert [(tmp_path / name).stat().st_mtime_ns for name in ("state.json", "m.prom")] == before
    with open(tmp_path / "rows.csv", "a") as file:
        file.write("0,0\n")
    assert (monitor(tmp_path, tmp_path / "rows.csv").stderr, counts(tmp_path)[0]) == ("", 1)


def test_an_empty_file_ends_with_exit_code_two(monitor, cert, tmp_path):
    (tmp_path / "rows.csv").touch()
    done = monitor(tmp_path, tmp_path / "rows.csv")
    assert (done.returncode, done.stderr) == (2, f"pacband: {tmp_path / 'rows.csv'} is empty.\n")
    assert not (tmp_path / "state.json").exists()


def test_standard_input_and_directories_may_have_no_rows(monitor, cert, tmp_path):
    done = monitor(tmp_path, stdin=b"")
    assert (done.returncode, done.stderr) == (0, "pacband: standard input has no rows.\n")
    assert counts(tmp_path)[0] == 0
    (tmp_path / "days").mkdir()
    (tmp_path / "days" / "a.csv").touch()
    write_csv(tmp_path / "days" / "b.csv", [0.0], [0.0])
    done = monitor(tmp_path, tmp_path / "days")
    assert (done.returncode, counts(tmp_path)[0]) == (0, 1)
    assert done.stderr == f"pacband: {tmp_path / 'days' / 'a.csv'} has no rows.\n"


def test_follow_waits_for_rows(cert, tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("y,p\n0,0\n0,0\n0,")
    process = start(command(tmp_path, "--follow", file), stderr=None)
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
        self.process = start(command_)
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


def json_rows(n_rows, y=0):
    return f'{{"y": {y}, "p": 0}}\n' * n_rows


@pytest.mark.parametrize("form", [csv_rows, json_rows])
def test_follow_goes_on_after_a_log_was_renamed_and_replaced(monitor, cert, tmp_path, form):
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
        assert "was replaced: the old file is finished" in follower.process.stderr.read()
    assert counts(tmp_path) == (60, 1, 0)
    # All of them are known again.
    for name in ("log", "log.1", "log.2", "log.3"):
        assert monitor(tmp_path, tmp_path / name).returncode == 0
    assert counts(tmp_path) == (60, 1, 0)


@pytest.mark.parametrize("regrown", [0, 3, 60])
def test_follow_ends_where_a_log_was_copied_and_cut_and_the_copy_makes_it_whole(monitor, cert, tmp_path, regrown):
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
        assert monitor(tmp_path, tmp_path / name).returncode == 0
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


def test_groups_and_pairs_of_scales_on_the_command_line(monitor, tmp_path, rng):
    site, y, scale = rng.choice([1, 2], 2000), rng.standard_normal(2000), rng.uniform(1, 2, 2000)
    cert = pacband.certify_groups(y, np.zeros(2000), site, (scale, 2 * scale), eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    file = write_csv(tmp_path / "rows.csv", y, np.zeros(2000), s=scale, t=2 * scale, g=site.tolist())
    done = monitor(
        tmp_path, "--scale", "s", "--scale", "t", "--group", "g", "--json", "--metrics", tmp_path / "m", file
    )
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert abs(last["violations"] - sum(part.rank - 1 for part in cert.groups.values())) <= 4
    assert 'pacband_rows_total{group="1"}' in (tmp_path / "m").read_text()
    done = monitor(
        tmp_path, "--scale", "s", "--group", "g", write_csv(tmp_path / "new.csv", [0.0], [0.0], s=[1.0], g=[1])
    )
    assert done.returncode == 2
    assert "a scale pair" in done.stderr


def test_a_label_that_was_renamed_upstream_ends_with_exit_code_two(monitor, cert, tmp_path):
    rows = b'{"actual": 100, "p": 0}\n' * 500
    done = monitor(tmp_path, "--json", stdin=rows)
    assert (done.returncode, done.stdout) == (2, "")
    assert "have no 'y', but 'actual', 'p'" in done.stderr
    assert not (tmp_path / "state.json").exists()
    done = monitor(tmp_path, "--batch-size", 10, stdin=b'{"y": 1, "p": 0}\n' * 10 + rows)
    assert done.returncode == 2
    assert "rows 11 to 110 have no 'y'" in done.stderr
    assert counts(tmp_path)[0] == 10


@pytest.mark.parametrize("key", ["p", "s", "g"])
def test_a_prediction_scale_or_group_that_was_renamed_is_refused_in_any_row(monitor, tmp_path, rng, key):
    site = rng.choice([1, 2], 2000)
    options = {"eps": 0.1, "delta": 0.01, "min_scale": 0.5, "nonfinite": "violate"}
    pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), site, np.ones(2000), **options).save(
        tmp_path / "cert.json"
    )
    whole = b'{"y": 0, "p": 0, "s": 1, "g": 1}\n'
    named = ["--scale", "s", "--group", "g"]
    assert monitor(tmp_path, *named, stdin=whole).returncode == 0
    done = monitor(tmp_path, *named, stdin=whole + whole.replace(f'"{key}"'.encode(), b'"other"'))
    assert done.returncode == 2
    assert f"row 2 of the stream has no '{key}'; it has" in done.stderr
    assert counts(tmp_path)[0] == 1


def test_rows_without_a_label_are_shown(monitor, cert, tmp_path):
    done = monitor(tmp_path, stdin=b"y,p\n0,0\n,0\n,0\n")
    assert "1 rows, 0 violations" in done.stdout
    assert ", 2 unlabelled, " in done.stdout
    done = monitor(tmp_path, "--json", stdin=b'{"y": 0, "p": 0}\n{"p": 0}\n')
    assert json.loads(done.stdout)["unlabelled"] == 3


def test_labels_that_look_alike_stay_apart(monitor, tmp_path, rng):
    groups = [1, "1"] * 1000
    cert = pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), groups, eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    done = monitor(tmp_path, "--group", "g", stdin=b'{"y": 0, "p": 0, "g": 1}\n{"y": 0, "p": 0, "g": "1"}\n' * 2)
    assert done.returncode == 0, done.stderr
    monitor = pacband.Monitor.load(tmp_path / "state.json", cert)
    assert [(label, watch.n_rows) for label, watch in monitor.groups.items()] == [(1, 2), ("1", 2)]


@pytest.mark.skipif(os.name != "posix", reason="durability of names is a matter of POSIX")
def test_nothing_is_left_behind(monitor, cert, tmp_path):
    monitor(tmp_path, stdin=b"y,p\n0,0\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert.json", "state.json"]


def test_a_first_line_that_is_no_header_ends_with_exit_code_two(monitor, cert, tmp_path):
    for text in (b"y,p\r1,2\r", b"PAR1\x15\x00\r\x15\n"):
        done = monitor(tmp_path, stdin=text)
        assert done.returncode == 2, done.stderr
        assert "first line that is no header" in done.stderr


def test_a_truncated_state_is_refused_and_left_alone(monitor, cert, tmp_path):
    path = tmp_path / "state.json"
    assert monitor(tmp_path, write_csv(tmp_path / "rows.csv", [0.0], [0.0])).returncode == 0
    cut = path.read_bytes()[:99]
    path.write_bytes(cut)
    done = monitor(tmp_path, tmp_path / "rows.csv")
    assert (done.returncode, path.read_bytes()) == (2, cut)
    assert "is truncated" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_state_that_another_process_uses_is_refused(monitor, cert, tmp_path):
    with StateFile(tmp_path / "state.json"):
        done = monitor(tmp_path, stdin=b"y,p\n0,0\n")
    assert done.returncode == 2
    assert "is in use" in done.stderr


def test_help_has_examples(run):
    assert "pacband monitor cert.json --state state.json" in run("monitor", "--help").stdout
