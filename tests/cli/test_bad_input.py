"""Files and arguments that are wrong, full disks, and commands that are stopped: the old files stay."""

import os
import resource
import signal
import subprocess
import time

import duckdb
import pytest

import pacband as library
from support.shell import PROGRAM, start

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


def write(text):
    def make(rows, folder):
        (folder / "bad.csv").write_bytes(text if isinstance(text, bytes) else text.encode())

    return make


def change(**columns):
    def make(rows, folder):
        rows.assign(**{name: value(rows) for name, value in columns.items()}).to_csv(folder / "bad.csv", index=False)

    return make


FILES = {
    "empty file": (write(""), "bad.csv is empty"),
    "header only": (write("y,yhat,s\n"), "the table is empty: at least one row is needed"),
    "no header": (write("\n,,\n1,2,3\n"), "has no header"),
    "not text": (write(b"\xff\xfd\x00\x01" * 50), "neither Parquet nor text in UTF-8"),
    "broken UTF-8": (write("y,yhat,s\n1,2,\u00e4\n".encode() + b"1,\xff,3\n"), "neither Parquet nor text in UTF-8"),
    "broken UTF-16": (write(b"\xff\xfe\x00\xd8\x00"), "bad.csv is not text in utf-16"),
    "duplicate names": (write("y,yhat,s,y\n1,2,3,4\n"), "column name.s. more than once: 'y'"),
    "ragged rows": (write("y,yhat,s\n1,2,3\n4,5\n"), "bad.csv, line 3: a row must have 3 cells like the header, got 2"),
    "missing column": (write("y,y_hat,s\n1,2,3\n"), "there is no column 'yhat'. Did you mean 'y_hat'"),
    "text": (change(yhat=lambda r: r.yhat.astype(str).where(r.index != 1234, "n/a")), "column 'yhat' must be numeric, got 'n/a'. The first such row is 1234 .counting from 0.. It stands for a missing value: leave such rows out."),
    "null": (change(y=lambda r: r.y.where(r.index < 2990)), "(column 'y'|y).*10 rows, the first 2990, 2991, 2992"),
    "nan": (change(yhat=lambda r: r.yhat.astype(str).where(r.index != 7, "NaN")), "1 row, row 7"),
    "zero scale": (change(s=lambda r: r.s.where(r.index != 2222, 0.0)), "scale must be positive and finite.*row 2222"),
    "too few rows": (lambda rows, folder: rows[:20].to_csv(folder / "bad.csv", index=False), "22|needed|samples"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_certified(case, pacband, rows, tmp_path):
    make, message = FILES[case]
    make(rows, tmp_path)
    refused(pacband("certify", "bad.csv", *COLUMNS, *PROMISE, "-o", "cert.json"), message)
    assert not (tmp_path / "cert.json").exists()
    assert not list(tmp_path.glob(".*"))


EMPTY = {
    "certify": ("certify", "bad.csv", *COLUMNS, "--gap", "3"),
    "groups": ("certify", "bad.csv", *COLUMNS, "--group", "g"),
    "score": ("certify", "bad.csv", "--score", "s"),
    "check": ("check", "cert.json", "bad.csv"),
    "recalibrate": ("recalibrate", "cert.json", "bad.csv", "-o", "new.json"),
    "report": ("report", "cert.json", "bad.csv", "-o", "new.html"),
    "diagnose": ("diagnose", "bad.csv", *COLUMNS),
}


@pytest.mark.parametrize("command", EMPTY)
def test_a_table_without_rows_is_called_empty(command, pacband, rows, tmp_path):
    rows.to_csv(tmp_path / "data.csv", index=False)
    assert pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json").returncode == 0
    (tmp_path / "bad.csv").write_text("y,yhat,s,g\n")
    refused(pacband(*EMPTY[command]), "the table is empty: at least one row is needed")


def test_a_bad_row_far_down_is_named(pacband, tmp_path):
    # Beyond the rows that are brought here.
    table = duckdb.sql(
        "select random() as y, 0.5 as yhat, case when i = 173112 then -1 else 1 end as s from range(200000) t(i)"
    )
    table.write_parquet(str(tmp_path / "bad.parquet"))
    refused(pacband("certify", "bad.parquet", *COLUMNS), "row 173112 .counting from 0.. Declare --min-scale")


def refused(done, message):
    import re

    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) <= 4


ARGUMENTS = {
    "no such file": (("certify", "nowhere.csv", *COLUMNS), "nowhere.csv: there is no such file"),
    "no match": (("certify", "nowhere*.csv", *COLUMNS), "there is no such file"),
    "directory without Parquet": (("certify", "empty", *COLUMNS), "empty is a directory without Parquet or CSV files. Name others by a pattern"),
    "no target": (("certify", "data.csv", "--prediction", "yhat"), "name the --target column"),
    "both": (("certify", "data.csv", *COLUMNS, "--candidate", "a=yhat"), "either the --prediction column or"),
    "bad candidate": (("certify", "data.csv", "--target", "y", "--candidate", "yhat"), "a candidate is NAME=PREDICTION"),
    "eps": (("certify", "data.csv", *COLUMNS, "--eps", "5"), "eps must be in .0, 1., got 5.0. For 5 % write 0.05"),
    "output in no directory": (("certify", "data.csv", *COLUMNS, "-o", "no/where/cert.json"), "there is no directory"),
    "output is a directory": (("certify", "data.csv", *COLUMNS, "-o", "empty"), "empty is a directory"),
    "output is the input": (("apply", "cert.json", "data.csv", "-o", "data.csv"), "data.csv is also an input"),
    "output is the certificate": (("apply", "cert.json", "data.csv", "-o", "cert.json"), "the name must end in .csv"),
    "no certificate": (("apply", "nowhere.json", "data.csv"), "nowhere.json"),
    "not a certificate": (("apply", "data.csv", "data.csv"), "data.csv is not a certificate or model of pacband"),
    "edited by hand": (("apply", "edited.json", "data.csv"), "edited.json was edited or damaged"),
    "cut off": (("check", "cut.json", "data.csv"), "cut.json is truncated"),
    "wrong columns": (("apply", "cert.json", "other.csv"), "there is no column 'yhat'"),
    "scale forgotten": (("apply", "cert.json", "other.csv", "--prediction", "y"), "there is no column 's'"),
    "group asked of a plain one": (("apply", "groups.json", "data.csv", "--group", "nowhere"), "there is no column 'nowhere'"),
    "unknown label": (("apply", "groups.json", "moon.csv"), "labels without a certificate: 'moon'"),
    "spreadsheet": (("apply", "cert.json", "data.csv", "-o", "bands.xlsx"), "must end in .csv, .txt, .parquet, .pq, got .xlsx"),
    "JSON for a table": (("certify", "cert.json", *COLUMNS), "neither CSV nor Parquet: it looks like JSON"),
    "confidence for delta": (("certify", "data.csv", *COLUMNS, "--delta", "99"), "if 99 % must hold, write 0.01"),
    "command": (("certfy", "data.csv"), "no such command 'certfy'. Did you mean 'certify'"),
    "option": (("certify", "data.csv", "--tarqet", "y"), "No such option"),
    "no scheduler": (("certify", "data.csv", *COLUMNS, "--engine", "dask", "--address", "tcp://127.0.0.1:9"), "no Dask scheduler"),
}  # fmt: skip


@pytest.fixture
def folder(rows, tmp_path):
    """All that the arguments speak of."""
    (tmp_path / "empty").mkdir()
    library.certify_frame(rows, target="y", prediction="yhat", scale="s", eps=0.1, delta=0.01).save(
        tmp_path / "cert.json"
    )
    library.certify_frame(rows, target="y", prediction="yhat", group="site", eps=0.1, delta=0.01).save(
        tmp_path / "groups.json"
    )
    text = (tmp_path / "cert.json").read_text()
    (tmp_path / "edited.json").write_text(text.replace('"rank": ', '"rank": 1'))
    (tmp_path / "cut.json").write_text(text[:400])
    rows[["y"]].to_csv(tmp_path / "other.csv", index=False)
    rows.assign(site="moon").to_csv(tmp_path / "moon.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("case", ARGUMENTS)
def test_what_is_asked_wrongly(case, pacband, folder):
    arguments, message = ARGUMENTS[case]
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    refused(pacband(*arguments, env={"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}), message)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_an_unwritable_place(pacband, folder):
    # Below a regular file nothing can be written, not even by root.
    refused(
        pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "data.csv/cert.json"),
        "there is no directory .*data.csv",
    )
    if os.geteuid() != 0:
        (folder / "empty").chmod(0o500)
        refused(pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "empty/cert.json"), "cannot be written")


@pytest.mark.parametrize("name", ["bands.csv", "bands.parquet"])
def test_a_full_disk_leaves_the_old_file(name, pacband, folder):
    (folder / name).write_text("old")

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))

    # What measures the lines that are run writes files as well, when the program is over.
    unmeasured = dict.fromkeys((name for name in os.environ if name.startswith("COV")), "")
    done = pacband("apply", "cert.json", "data.csv", "-o", name, preexec_fn=small_disk, env=unmeasured)
    refused(done, f"^pacband: {name}: File too large.$")
    assert (folder / name).read_text() == "old"
    assert not list(folder.glob(".*"))


def test_a_full_disk_under_standard_output(pacband):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, "plan"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "pacband: standard output: No space left on device\n")


def test_ctrl_c_while_waiting_for_input(folder):
    process = start([*PROGRAM, "certify", "-", *COLUMNS, "-o", "new.json"], cwd=folder, stdin=subprocess.PIPE)
    # It has read all of this, and so is past its imports, when the pipe takes no more.
    process.stdin.write("y,yhat,s\n" + "1,2,3\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.strip() == "pacband: interrupted; no file is half written."
    assert not (folder / "new.json").exists()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_end_in_the_middle_of_a_write_leaves_the_old_file(folder, ending):
    duckdb.sql("select random() as yhat, 1.0 as s, i from range(8000000) t(i)").write_parquet(
        str(folder / "large.parquet")
    )
    (folder / "bands.csv").write_text("old")
    process = start([*PROGRAM, "apply", "cert.json", "large.parquet", "-o", "bands.csv"], cwd=folder)
    deadline = time.monotonic() + 60
    while not (drafts := list(folder.glob(".bands.csv.*.tmp"))) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert drafts, process.communicate()
    process.send_signal(ending)
    _, said = process.communicate()
    assert (folder / "bands.csv").read_text() == "old"
    if ending is not signal.SIGKILL:
        assert process.returncode == 128 + ending, said
        assert not list(folder.glob(".*"))
