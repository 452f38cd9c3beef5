"""How commands end: exit code 70 for what nobody foresaw, nothing left behind after a signal, no control characters."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from sklearn.linear_model import LinearRegression

import pacband as library
from pacband.cli import main
from pacband.cli.console import visible

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


class Panic(BaseException):
    """What a library in another language raises where it gives up."""


UNFORESEEN = [
    AssertionError("a\nb"), MemoryError(), RecursionError("too deep"), OverflowError("too large"), ZeroDivisionError(), ValueError("x"),
    KeyError("gone"), SystemError("null"), ModuleNotFoundError("no", name="pacband.nowhere"), Panic("core"),
]  # fmt: skip


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["pacband", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def break_plan(monkeypatch, error):
    def broken(*args, **options):
        raise error

    monkeypatch.setattr("pacband.planning.plan", broken)


@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
def test_an_error_that_nobody_foresaw_is_no_verdict(error, monkeypatch, capfd):
    break_plan(monkeypatch, error)
    monkeypatch.delenv("PACBAND_DEBUG", raising=False)
    assert run(monkeypatch, "plan") == 70
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert re.match(rf"pacband: an error that nobody foresaw, {type(error).__name__}\b", err)
    assert "PACBAND_DEBUG=1 shows where it comes from" in err


def test_raw_errors_of_the_engines_are_unforeseen(monkeypatch, capfd):
    import duckdb
    import pyarrow

    for error in (duckdb.InternalException("inner"), pyarrow.ArrowInvalid("bad"), pyarrow.ArrowMemoryError("no more")):
        break_plan(monkeypatch, error)
        assert run(monkeypatch, "plan") == 70
        assert type(error).__name__ in capfd.readouterr().err


def test_the_traceback_is_there_for_whoever_asks(monkeypatch, capfd):
    break_plan(monkeypatch, AssertionError("so it was"))
    monkeypatch.setenv("PACBAND_DEBUG", "1")
    assert run(monkeypatch, "plan") == 70
    err = capfd.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert err.endswith("AssertionError: so it was\n")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (library.InvalidInput("a rule"), 2, "pacband: a rule\n"),
        (library.CertificateError("a file"), 2, "pacband: a file\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "pacband: x.csv: No such file\n"),
        (ModuleNotFoundError("no", name="polars"), 2, "pacband: this needs the package 'polars': pip install 'pacband[polars]'\n"),
        (ModuleNotFoundError("no", name="pyspark.sql"), 2, "pacband: this needs the package 'pyspark': pip install 'pacband[spark]'\n"),
        (ModuleNotFoundError("no", name="py4j"), 2, "pacband: this needs the package 'py4j': pip install 'pacband[spark]'\n"),
        (ModuleNotFoundError("no", name="rich"), 2, "pacband: this needs the package 'rich': pip install 'pacband[cli]'\n"),
        (KeyboardInterrupt(), 130, "pacband: interrupted; nothing was written.\n"),
    ],
)  # fmt: skip
def test_known_errors_keep_their_codes(error, code, said, monkeypatch, capfd):
    break_plan(monkeypatch, error)
    assert run(monkeypatch, "plan") == code
    assert capfd.readouterr().err.lstrip("\n") == said


def test_the_exit_code_of_the_process_is_70():
    code = "import pacband.planning as p; p.plan = lambda *a, **o: 1 / 0; import sys; sys.argv = ['pacband', 'plan']; from pacband.__main__ import main; main()"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (70, "")
    assert "ZeroDivisionError: division by zero" in done.stderr


def test_without_click_the_command_says_what_it_needs():
    code = "import sys; sys.modules['click'] = None; from pacband.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pacband: the command line needs the package 'click': pip install 'pacband[cli]'\n"


def test_the_help_lists_the_exit_codes(pacband):
    for code in ("0 ", "1 ", "2 ", "70 ", "129, 130, 143"):
        assert f"\n    {code}" in pacband("--help").stdout


def test_every_warning_is_one_line(monkeypatch, capfd):
    def warn(*args, **options):
        warnings.warn("first\x1b[2J", UserWarning, stacklevel=2)
        raise library.InvalidInput("end")

    monkeypatch.setattr("pacband.planning.plan", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run(monkeypatch, "plan") == 2
    assert capfd.readouterr().err == "Warning: first\\u001b[2J\npacband: end\n"


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

    def start(name, **options):
        process = subprocess.Popen(
            [sys.executable, "-m", "pacband", *(part.format(made=made) for part in READING[name])],
            cwd=tmp_path / "work",
            env={**os.environ, "TMPDIR": str(tmp_path / "spool")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
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

    yield start
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
        assert left == {"out", "out.lock"}
        assert "holds all rows up to the last line printed" in said
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


def test_a_process_that_calls_main_gets_its_handlers_back(monkeypatch, capfd):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    monkeypatch.setattr(sys, "argv", ["pacband", "plan", "--json"])
    main()
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before
    capfd.readouterr()


# Control characters

NASTY = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r\x08b\u202ec"
SHOWN = "a\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u007f\\u000d\\u0008b\\u202ec"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_written_out():
    assert visible(NASTY) == SHOWN
    assert visible("tab\tand line\nγ̄ ≤ 1, \N{HEBREW LETTER ALEF}") == "tab\tand line\nγ̄ ≤ 1, \N{HEBREW LETTER ALEF}"
    every = "".join(map(chr, range(0x110000 - 1)))
    assert {c for c in every if visible(c) != c} == {c for c in every if CONTROL.match(c)}


def on_a_terminal(folder, *arguments):
    """Run a command on a terminal of its own; return what it printed there."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pacband", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "xterm", "PYTHONUTF8": "1"},
    )
    os.close(its)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            part = b""
        if not part:
            break
        said += part
    os.close(ours)
    process.wait()
    return said.decode("utf-8", "replace")


@pytest.fixture
def hostile(tmp_path):
    """Columns, labels and candidates with control characters in their names."""
    name = NASTY.replace("\r", "")
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, 400)
    rows = pd.DataFrame({"y": x + 0.1 * rng.standard_normal(400), name: x, "rough": 0.9 * x, "site": [name, "b"] * 200})
    rows.to_parquet(tmp_path / "data.parquet")
    rows.drop(columns="site").to_parquet(tmp_path / "plain.parquet")
    return name


HOSTILE = [
    ["certify", "data.parquet", "--target", "y", "--prediction", "{name}", "--group", "site", *PROMISE, "-o", "groups.json"],
    ["certify", "data.parquet", "--target", "y", "--candidate", "{name}={name}", "--candidate", "b=rough", *PROMISE],
    ["certify", "data.parquet", "--target", "{name}?", "--prediction", "{name}"],
    ["certify", "{name}.csv", "--target", "y", "--prediction", "p"],
    ["certify", "data.parquet", "--{name}"],
    ["{name}"],
    ["fit", "data.parquet", "--target", "y", "--time-budget", "0.1", "--jobs", "1", *PROMISE, "-o", "model.pacband"],
]  # fmt: skip
# What rich and click draw on a terminal themselves: colours, the cursor and its line.
OWN = re.compile(r"\x1b\[[0-9;]*[mKA]|\x1b\[\?25[lh]|\r")


@pytest.mark.parametrize("case", range(len(HOSTILE)))
def test_control_characters_of_files_never_reach_the_terminal(case, hostile, tmp_path, pacband):
    line = [part.format(name=hostile) for part in HOSTILE[case]]
    done = pacband(*line)
    assert not CONTROL.search(done.stdout + done.stderr), (done.stdout, done.stderr)
    said = on_a_terminal(tmp_path, *line)
    assert not CONTROL.search(OWN.sub("", said)), said
    assert "\x1b[2J" not in said
    assert "\\u001b" in said or "\\x1b" in said


def test_groups_and_candidates_are_shown_in_full(hostile, tmp_path):
    line = [part.format(name=hostile) for part in HOSTILE[0]]
    said = on_a_terminal(tmp_path, *line)
    assert "pacband group certificate" in said
    assert "a\\u001b]0;title" in said
    # A frame is as wide as its other lines: names are written out before they are laid out.
    widths = {cell_len(line) for line in OWN.sub("", said).splitlines() if line.startswith(("│", "╭", "╰"))}
    assert len(widths) == 1


def test_json_stays_json(hostile, pacband):
    line = [part.format(name=hostile) for part in HOSTILE[0]]
    done = pacband(*line, "--json")
    assert not CONTROL.search(done.stdout)
    labels = [group["label"] for group in json.loads(done.stdout)["groups"]]
    assert hostile in labels


def test_rows_on_standard_output_are_data(hostile, tmp_path, pacband):
    rows = pd.read_parquet(tmp_path / "data.parquet")
    library.certify_frame(rows, target="y", prediction=hostile, eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    assert hostile in pacband("apply", "cert.json", "data.parquet").stdout


def test_a_command_to_copy_is_quoted(monkeypatch, capfd, tmp_path):
    from pacband.models.trust import UntrustedTypes

    def refuse(path, **options):
        raise UntrustedTypes(path, ["lightgbm.x; touch owned", "good.Type"])

    monkeypatch.setattr("pacband.models.open_model", refuse)
    (tmp_path / "data.csv").write_text("x\n1\n")
    assert run(monkeypatch, "predict", "model.pacband", str(tmp_path / "data.csv")) == 2
    assert "add --trust 'lightgbm.x; touch owned' --trust good.Type\n" in capfd.readouterr().err
