"""How commands end: exit codes, one line on stderr, and no copy of the data left after a signal."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library
from support.shell import PROGRAM, start
from support.twins import put_in_place

COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


class Panic(BaseException):
    """What a library in another language raises where it gives up."""


UNEXPECTED = [
    AssertionError("a\nb"), MemoryError(), RecursionError("too deep"), OverflowError("too large"), ZeroDivisionError(), ValueError("x"),
    KeyError("gone"), SystemError("null"), ModuleNotFoundError("no", name="pacband.nowhere"), Panic("core"),
]  # fmt: skip


def break_plan(monkeypatch, error):
    def broken(*args, **options):
        raise error

    put_in_place(monkeypatch, library.plan, broken)


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
def test_an_unexpected_error_is_no_verdict(error, monkeypatch, run):
    break_plan(monkeypatch, error)
    monkeypatch.delenv("PACBAND_DEBUG", raising=False)
    code, out, err = run("plan")
    assert (code, out) == (70, "")
    assert len(err.splitlines()) == 1
    assert re.match(rf"pacband: unexpected error, {type(error).__name__}\b", err)
    assert "PACBAND_DEBUG=1 prints the traceback" in err


def test_raw_errors_of_the_engines_are_unexpected(monkeypatch, run):
    import duckdb
    import pyarrow

    for error in (duckdb.InternalException("inner"), pyarrow.ArrowInvalid("bad"), pyarrow.ArrowMemoryError("no more")):
        break_plan(monkeypatch, error)
        done = run("plan")
        assert done.returncode == 70
        assert type(error).__name__ in done.stderr


def test_the_traceback_is_there_for_whoever_asks(monkeypatch, run):
    break_plan(monkeypatch, AssertionError("so it was"))
    monkeypatch.setenv("PACBAND_DEBUG", "1")
    code, _, err = run("plan")
    assert code == 70
    assert err.startswith("Traceback (most recent call last):")
    assert err.endswith("AssertionError: so it was\n")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (library.InvalidInput("a rule"), 2, "pacband: a rule\n"),
        (library.MissingExtra("a package"), 2, "pacband: a package\n"),
        (library.CertificateError("a file"), 2, "pacband: a file\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "pacband: x.csv: No such file\n"),
        (ModuleNotFoundError("no", name="polars"), 2, "pacband: this needs the package 'polars': pip install 'pacband[polars]'\n"),
        (ModuleNotFoundError("no", name="pyspark.sql"), 2, "pacband: this needs the package 'pyspark': pip install 'pacband[spark]'\n"),
        (ModuleNotFoundError("no", name="py4j"), 2, "pacband: this needs the package 'py4j': pip install 'pacband[spark]'\n"),
        (ModuleNotFoundError("no", name="rich"), 2, "pacband: this needs the package 'rich': pip install 'pacband[cli]'\n"),
        (KeyboardInterrupt(), 130, "pacband: interrupted; no file is half written.\n"),
    ],
)  # fmt: skip
def test_known_errors_keep_their_codes(error, code, said, monkeypatch, run):
    break_plan(monkeypatch, error)
    done = run("plan")
    assert done.returncode == code
    assert done.stderr.lstrip("\n") == said


def test_the_exit_code_of_the_process_is_70():
    code = "import pacband.planning as p; p.plan = lambda *a, **o: 1 / 0; import sys; sys.argv = ['pacband', 'plan']; from pacband.__main__ import main; main()"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (70, "")
    assert "ZeroDivisionError: division by zero" in done.stderr


@pytest.mark.parametrize("name", ["click", "pacband.cli.console", "pacband.cli.ending", "pacband.cli.plan"])
def test_ctrl_c_while_the_program_is_imported_prints_no_traceback(name):
    code = f"""
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sys.argv = ["pacband", "plan", "--eps", "0.1"]
from pacband.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    # click begins a new line after ^C.
    assert done.stderr.lstrip("\n") == "pacband: interrupted; no file is half written.\n"


def test_without_click_the_command_says_what_it_needs():
    code = "import sys; sys.modules['click'] = None; from pacband.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pacband: the command line needs the package 'click': pip install 'pacband[cli]'\n"


def test_the_help_lists_the_exit_codes(pacband):
    for code in ("0 ", "1 ", "2 ", "70 ", "129, 130, 143"):
        assert f"\n    {code}" in pacband("--help").stdout


def test_every_warning_is_one_line(monkeypatch, run):
    def warn(*args, **options):
        warnings.warn("first\x1b[2J", UserWarning, stacklevel=2)
        raise library.InvalidInput("end")

    put_in_place(monkeypatch, library.plan, warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run("plan")
    assert done.returncode == 2
    assert done.stderr == "Warning: first\\u001b[2J\npacband: end\n"


# Signals


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(7)
    x = rng.uniform(-2, 2, 400)
    rows = pd.DataFrame({"y": x + rng.standard_normal(400), "yhat": x, "s": 1.0})
    library.certify_frame(rows, target="y", prediction="yhat", scale="s", eps=0.1, delta=0.01).save(
        folder / "cert.json"
    )
    model = library.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01)
    model.fit(rows[["s", "yhat"]], rows["y"]).save(folder / "model.pacband")
    return folder


READING = {
    "certify": ["certify", "-", *COLUMNS, "-o", "out"],
    "apply": ["apply", "{made}/cert.json", "-", "-o", "out.csv"],
    "check": ["check", "{made}/cert.json", "-"],
    "diagnose": ["diagnose", "-", "--target", "y", "--prediction", "yhat"],
    "report": ["report", "{made}/cert.json", "-", "-o", "out"],
    "predict": ["predict", "{made}/model.pacband", "-", "-o", "out.csv"],
    "fit": ["fit", "-", "--target", "y", "-o", "out"],
    "monitor": ["monitor", "{made}/cert.json", "--state", "out", "--batch-size", "5000"],
}


@pytest.fixture
def reading(made, tmp_path):
    """Start a command that reads standard input, and wait until it has taken some of it in."""
    (tmp_path / "work").mkdir()
    (tmp_path / "spool").mkdir()
    started = []

    def begin(name, **options):
        process = start(
            [*PROGRAM, *(part.format(made=made) for part in READING[name])],
            cwd=tmp_path / "work",
            env={"TMPDIR": str(tmp_path / "spool")},
            stdin=subprocess.PIPE,
            **options,
        )
        started.append(process)
        process.stdin.write("y,yhat,s\n" + "1,2,3\n" * 50_000)
        process.stdin.flush()
        deadline = time.monotonic() + 60
        taken = (lambda: list((tmp_path / "work").glob("out"))) if name == "monitor" else (
            lambda: [p for p in (tmp_path / "spool").rglob("*") if p.is_file() and p.stat().st_size])  # fmt: skip
        while not taken() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        assert taken(), process.communicate()
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


SIGNALS = [*((name, signal.SIGTERM) for name in READING), ("certify", signal.SIGHUP), ("monitor", signal.SIGHUP)]


@pytest.mark.parametrize(("name", "ending"), SIGNALS)
def test_a_signal_leaves_no_copy_of_the_data(name, ending, reading, made, tmp_path):
    process = reading(name)
    process.send_signal(ending)
    # `timeout` sends it twice.
    process.send_signal(ending)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + ending, said
    assert "Traceback" not in said
    assert os.listdir(tmp_path / "spool") == []
    left = set(os.listdir(tmp_path / "work"))
    if name == "monitor":
        assert left == {"out"}
        assert "includes all rows up to the last printed line" in said
        assert library.Monitor.load(tmp_path / "work" / "out", library.load(made / "cert.json")).n_rows % 5000 == 0
    else:
        assert left == set()
        # click ends the line of a terminal first.
        assert said.strip() == f"pacband: ended by {ending.name}; no file is half written."


def test_what_nohup_ignores_stays_ignored(reading, tmp_path):
    process = reading("apply", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert (tmp_path / "work" / "out.csv").exists()


def test_a_process_that_calls_main_gets_its_handlers_back(run):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    assert run("plan", "--json").returncode == 0
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before


@pytest.mark.parametrize("asked", [["plan"], ["--help"], ["--version"]], ids=" ".join)
def test_a_reader_that_leaves_early_is_no_failure(asked, tmp_path):
    """As `head` does. click would end with 1, the code of a promise that does not hold."""
    read, write = os.pipe()
    os.close(read)
    try:
        asked = [*PROGRAM, *asked]
        done = subprocess.run(asked, stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_of_bands_that_leaves_early_is_no_failure(tmp_path):
    library.certify(np.arange(400.0), np.zeros(400), eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    np.savetxt(tmp_path / "new.csv", np.arange(50_000.0), header="p", comments="")
    read, write = os.pipe()
    os.close(read)
    try:
        asked = [*PROGRAM, "apply", "cert.json", "new.csv", "--prediction", "p"]
        done = subprocess.run(asked, stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_reader_that_leaves_early_does_not_hide_the_verdict(tmp_path, form):
    """`set -o pipefail; pacband check … | head -1 && release` must not release a model whose promise is contradicted."""
    rng = np.random.default_rng(0)
    library.certify(rng.standard_normal(400), np.zeros(400), eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    for name, factor in ("worse.csv", 4.0), ("same.csv", 1.0):
        rows = factor * rng.standard_normal((300, 1)) * [1.0, 0.0]
        np.savetxt(tmp_path / name, rows, delimiter=",", header="y,p", comments="")
    read, write = os.pipe()
    os.close(read)
    try:
        for name, code in ("worse.csv", 1), ("same.csv", 0):
            asked = [*PROGRAM, "check", "cert.json", name, "--target", "y", "--prediction", "p", *form]
            done = subprocess.run(asked, stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
            assert (done.returncode, done.stderr) == (code, "")
    finally:
        os.close(write)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes the streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("arguments", "code"), [(["plan"], 0), (["check", "{made}/cert.json", "missing.csv"], 2)])
def test_closed_streams_change_no_exit_code(made, tmp_path, closed, arguments, code):
    line = " ".join(part.format(made=made) for part in [*PROGRAM, *arguments])
    assert subprocess.run(["sh", "-c", f"{line} {closed}"], cwd=tmp_path, check=False).returncode == code
