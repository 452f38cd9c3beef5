"""Which rows a command reads, and what it may touch."""

import os
import subprocess
import sys
import tempfile
import threading

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat")


@pytest.fixture
def folder(rows, tmp_path):
    library.certify_frame(rows, target="y", prediction="yhat", eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    return tmp_path


@pytest.fixture
def model(rows, tmp_path):
    fitted = library.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0)
    fitted.fit(rows[["rough", "s"]], rows["y"].to_numpy())
    fitted.save(tmp_path / "model.pacband")
    return tmp_path / "model.pacband"


COMMANDS = {
    "certify": ("certify", "log.csv", *COLUMNS, *PROMISE, "-o", "new.json"),
    "certify with a report": ("certify", "log.csv", *COLUMNS, *PROMISE, "-o", "new.json", "--report", "new.html"),
    "apply": ("apply", "cert.json", "log.csv", "-o", "new.csv"),
    "apply to standard output": ("apply", "cert.json", "log.csv"),
    "check": ("check", "cert.json", "log.csv"),
    "diagnose": ("diagnose", "log.csv", *COLUMNS),
    "report": ("report", "cert.json", "log.csv", "-o", "new.html"),
    "predict": ("predict", "model.pacband", "log.csv", "-o", "new.csv"),
    "check a model": ("check", "model.pacband", "log.csv", "--target", "y"),
    "report a model": ("report", "model.pacband", "log.csv", "--target", "y", "-o", "new.html"),
    "recalibrate": ("recalibrate", "cert.json", "log.csv", "-o", "new.json"),
    "recalibrate a model": ("recalibrate", "model.pacband", "log.csv", "--target", "y", "-o", "new.pacband"),
    "fit": ("fit", "log.csv", "--target", "y", "-o", "new.pacband", "--time-budget", "1"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_that_grows_is_refused(command, run, rows, folder, model):
    rows.to_csv(folder / "log.csv", index=False)
    row = rows[:1].to_csv(index=False, header=False)
    ended = threading.Event()

    def grow():
        with open(folder / "log.csv", "a") as log:
            while not ended.wait(0.002):
                log.write(row)
                log.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        code, printed, said = run(*COMMANDS[command])
    finally:
        ended.set()
        writer.join()
    assert (code, printed) == (2, "")
    assert "pacband: log.csv changed while it was read: it had " in said
    assert not [path.name for path in folder.iterdir() if path.name.startswith(("new", "."))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["O'Brien [a]{b,c}*?", "'; copy (select 42) to 'stolen.csv"])
def test_temporary_files_may_be_in_any_folder(name, run, rows, folder, model, monkeypatch):
    (folder / name).mkdir()
    rows[:50].to_csv(folder / "few.csv", index=False)
    before = sorted(path.name for path in folder.iterdir())
    commands = (
        ("apply", "cert.json", "few.csv"),
        ("certify", "data.csv", *COLUMNS, *PROMISE, "--engine", "dask"),
        ("predict", "model.pacband", "few.csv"),
        ("check", "model.pacband", "few.csv", "--target", "y"),
    )
    here = [run(*command) for command in commands]
    # The model was fitted on some of these rows: they cannot test its promise.
    assert [done.returncode for done in here] == [0, 0, 0, 2], here
    assert all(done.stdout for done in here)
    monkeypatch.setattr(tempfile, "tempdir", str(folder / name))
    assert [run(*command) for command in commands] == here
    assert sorted(path.name for path in folder.iterdir()) == before
    assert os.listdir(folder / name) == []


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs /dev/stdin")
@pytest.mark.parametrize("line", ["cat data.csv | {} certify /dev/stdin", "{} certify <(cat data.csv)", "{} certify <(cat data.parquet)"])  # fmt: skip
def test_a_pipe_is_a_file(line, rows, folder):
    command = line.format(f"{sys.executable} -m pacband") + f" {' '.join((*COLUMNS, *PROMISE))} -o new.json"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    made, known = library.load(folder / "new.json"), library.load(folder / "cert.json")
    assert (made.gamma, made.data_digest) == (known.gamma, known.data_digest)


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs /dev/stdin")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{} certify - data.csv < data.csv", "data.csv is the same file as standard input"),
        ("{} certify data.csv - < data.csv", "standard input is the same file as data.csv"),
        ("{} certify data.csv /dev/stdin < data.csv", "/dev/stdin is the same file as data.csv"),
        ("{} certify - - < data.csv", "standard input is given twice"),
        ("cat data.csv | {} certify - -", "standard input is given twice"),
        ("cat data.csv | {} certify - /dev/stdin", "/dev/stdin is the same file as standard input"),
    ],
)
def test_the_rows_of_standard_input_count_once(line, message, rows, folder):
    command = line.format(f"{sys.executable} -m pacband") + f" {' '.join((*COLUMNS, *PROMISE))} -o new.json"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pacband: {message}: its rows would count twice.\n"
    assert not (folder / "new.json").exists()


@pytest.mark.parametrize("command", [("certify", "pipe", *COLUMNS), ("check", "cert.json", "pipe"), ("check", "cert.json", "-")])  # fmt: skip
def test_what_is_read_once_has_no_report(command, run, folder):
    os.mkfifo(folder / "pipe")
    done = run(*command, "--report", "new.html")
    assert done.returncode == 2
    assert "--report reads the rows again" in done.stderr


def test_the_file_with_brackets_is_the_one_that_is_applied_to(run, rows, folder):
    rows[:10].to_parquet(folder / "t[1].parquet")
    rows.to_parquet(folder / "t1.parquet")
    assert run("apply", "cert.json", "t[1].parquet", "-o", "bands[1].csv") == (0, "", "Saved bands[1].csv\n")
    assert len(pd.read_csv(folder / "bands[1].csv")) == 10


def test_nothing_is_said_when_the_program_ends(pacband, rows, folder):
    done = pacband("apply", "cert.json", "data.csv")
    assert (done.returncode, done.stderr) == (0, "")
    # These are the calibration rows: one line says that they cannot test the promise.
    done = pacband("check", "cert.json", "data.parquet")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    done = pacband("certify", "cert.json", *COLUMNS)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_integers_beyond_float64_are_refused_by_every_command(run, rows, folder, model):
    large = rows.astype({"y": object, "yhat": object})
    large.loc[7, ["y", "yhat"]] = [2**60 + 1, 2**60 + 1]
    large.to_csv(folder / "large.csv", index=False)
    for arguments, column in (
        (("certify", "large.csv", *COLUMNS, *PROMISE), "y"),
        (("apply", "cert.json", "large.csv"), "yhat"),
        (("check", "cert.json", "large.csv"), "y"),
        (("report", "cert.json", "large.csv", "-o", "new.html"), "y"),
        (("diagnose", "large.csv", *COLUMNS), "y"),
        (("check", "model.pacband", "large.csv", "--target", "y"), "y"),
        (("fit", "large.csv", "--target", "y", "-o", "new.pacband"), "y"),
    ):
        code, printed, said = run(*arguments)
        assert (code, printed) == (2, "")
        assert f"column {column!r} has integers beyond 2**53" in said
    assert not [path.name for path in folder.iterdir() if path.name.startswith("new")]


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["quoted", "all"])
def test_spark_reads_by_the_same_rules(case, rows, tmp_path, monkeypatch):
    import shutil

    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pacband.tables.opening import open_table

    monkeypatch.chdir(tmp_path)
    rows = rows[["y", "yhat", "s"]][:400]
    other = rows.assign(yhat=np.zeros(400, int))
    rows.assign(t="line one\n3,4,5,line two").to_csv("q3.csv", index=False)
    rows.assign(t='pipe 5",7,8,9,end')[["t", "y", "yhat", "s"]].to_csv("q6.csv", index=False)
    for name in ("data[1].parquet", "{a,b}.parquet", "_under.parquet", "co:lon.parquet", "back\\slash.parquet"):
        rows.to_parquet(name)
    for name in ("data1.parquet", "a.parquet", "b.parquet"):
        other.to_parquet(name)
    for folder, part in (("types", other), ("run/s=3", rows), ("keys/part=1", rows), ("keys/part=2", rows)):
        os.makedirs(folder)
        part.to_parquet(f"{folder}/1.parquet")
    rows.to_parquet("types/2.parquet")
    cases = [["q3.csv"], ["q6.csv"], ["data[1].parquet", "_under.parquet"]]
    if case == "all":
        cases += [["{a,b}.parquet"], ["co:lon.parquet"], ["back\\slash.parquet"], ["types"], ["run/s=3"], ["keys"]]
    for paths in cases:
        group = "part" if paths == ["keys"] else None
        found = []
        for engine in ("duckdb", "spark"):
            with open_table(paths, ["y", "yhat", "s"], also=[group] if group else [], engine=engine) as table:
                found.append(
                    library.certify_frame(
                        table, target="y", prediction="yhat", scale="s", group=group, eps=0.1, delta=0.01
                    )
                )
        here, there = (certificate.to_dict() | {"created": None} for certificate in found)
        assert str(found[0]) == str(found[1]), paths
        assert without_times(here) == without_times(there), paths


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key != "created"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def test_a_report_reads_features_of_any_type(run, rows, folder):
    rows[["y", "yhat"]].to_parquet(folder / "rows.parquet")
    held = {"a blob": "yhat::varchar::blob", "a list": "[y, yhat]", "a record": "{'a': y}", "a map": "map([1], [y])"}
    made = ", ".join(f'{value} as "{name}"' for name, value in held.items())
    duckdb.sql(f"copy (select *, {made} from '{folder / 'rows.parquet'}') to '{folder / 'odd.parquet'}'")
    done = run("report", "cert.json", "odd.parquet", "-o", "new.html")
    assert done.returncode == 0, done.stderr
    assert (folder / "new.html").exists()
