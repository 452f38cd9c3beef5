"""What reaches a terminal or a pipe: no control characters of files, no colour, and ASCII where that is all."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

import pacband as library
from pacband.cli.console import legible, visible
from support.shell import on_a_terminal

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")
NASTY = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r\x08b\u202ec"
SHOWN = "a\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u007f\\u000d\\u0008b\\u202ec"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_written_out():
    assert visible(NASTY) == SHOWN
    assert visible("tab\tand line\nγ̄ ≤ 1, \N{HEBREW LETTER ALEF}") == "tab\tand line\nγ̄ ≤ 1, \N{HEBREW LETTER ALEF}"
    every = "".join(map(chr, range(0x110000 - 1)))
    assert {c for c in every if visible(c) != c} == {c for c in every if CONTROL.match(c)}


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
    ["certify", "data.parquet", "--target", "y", "--prediction", "{name}", "--group", "site", *PROMISE, "-o", "groups.json", "--overwrite"],
    ["certify", "data.parquet", "--target", "y", "--candidate", "{name}={name}", "--candidate", "b=rough", *PROMISE],
    ["certify", "data.parquet", "--target", "{name}?", "--prediction", "{name}"],
    ["certify", "{name}.csv", "--target", "y", "--prediction", "p"],
    ["certify", "data.parquet", "--{name}"],
    ["{name}"],
    ["fit", "data.parquet", "--target", "y", "--time-budget", "0.1", "--jobs", "1", *PROMISE, "-o", "model.pacband", "--overwrite"],
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
    labels = [group["label"] for group in json.loads(done.stdout)["content"]["groups"]]
    assert hostile in labels


def test_rows_on_standard_output_are_data(hostile, tmp_path, pacband):
    rows = pd.read_parquet(tmp_path / "data.parquet")
    library.certify_frame(rows, target="y", prediction=hostile, eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    assert hostile in pacband("apply", "cert.json", "data.parquet").stdout


def test_terminals_that_know_ascii_only(pacband, rows):
    said = pacband("certify", "data.csv", *COLUMNS, *PROMISE, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert said.returncode == 0, said.stderr
    assert "|y - T(x)| <=" in said.stdout
    assert "*sigma(x)" in said.stdout


def test_no_colour_in_a_pipe(pacband, rows):
    for env in ({}, {"NO_COLOR": "1"}):
        assert "\x1b" not in pacband("certify", "data.csv", *COLUMNS, *PROMISE, env=env).stdout


def test_no_progress_bar_of_the_engine_reaches_standard_output():
    from pacband.tables.connection import connect

    # DuckDB prints one to standard output in queries of over two seconds, also into a pipe.
    with connect() as connection:
        assert connection.execute("select current_setting('enable_progress_bar')").fetchall() == [(False,)]


@pytest.fixture
def judged(tmp_path):
    """A certificate, and rows that it keeps and that it does not keep."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(1200)
    library.certify(y[:600], np.zeros(600), eps=0.1, delta=0.01).save(tmp_path / "cert.json")
    for name, rows in (("good", y[600:]), ("bad", 9 * y[600:])):
        pd.DataFrame({"y": rows, "p": 0.0}).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


GREEN, RED = "\x1b[1;32m", "\x1b[1;31m"


@pytest.mark.parametrize(
    ("command", "file", "colour"),
    [
        (["check", "cert.json"], "good.csv", GREEN),
        (["check", "cert.json"], "bad.csv", RED),
        (["monitor", "cert.json", "--state", "state.json"], "bad.csv", RED),
        (["diagnose"], "good.csv", GREEN),
    ],
)
def test_verdicts_have_a_colour_on_a_terminal_and_none_in_a_pipe(command, file, colour, judged, pacband):
    line = [*command, file, "--target", "y", "--prediction", "p"]
    assert colour in on_a_terminal(judged, *line)
    assert colour not in on_a_terminal(judged, *line, env={"NO_COLOR": "1"})
    done = pacband(*line)
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("env", [{"TERM": "linux"}, {"PACBAND_ASCII": "1"}])
def test_a_terminal_without_combining_marks_gets_words(env, tmp_path):
    rng = np.random.default_rng(0)
    y, s = rng.standard_normal(600), rng.uniform(1, 2, 600)
    pd.DataFrame({"y": y, "yhat": 0.0, "s": s}).to_csv(tmp_path / "data.csv", index=False)
    line = ["certify", "data.csv", *COLUMNS, *PROMISE]
    assert "σ̂(x)" in on_a_terminal(tmp_path, *line)
    said = on_a_terminal(tmp_path, *line, env=env)
    assert "sigma(x)" in said
    assert not re.search("[\u0300-\u036f]", said)
    if "PACBAND_ASCII" in env:
        assert said[said.index("With confidence") :].isascii()


def test_no_symbol_of_a_promise_is_lost_in_ascii(monkeypatch):
    """Without its steps and outputs, or without β, another statement would be printed."""
    monkeypatch.setenv("PACBAND_ASCII", "1")
    text = "|yₜₖ − Tₜₖ(x)| ≤ 2·σ̂ₜₖ(x), β(12) ≤ 1, y in [0, ∞)"
    assert legible(text, io.StringIO()) == "|y_t_k - T_t_k(x)| <= 2*sigma_t_k(x), beta(12) <= 1, y in [0, inf)"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_exponent_is_no_part_of_the_number_before_it(encoding):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert legible("2 × 10¹⁶ or 10⁻⁷", stream) == "2 × 10^16 or 10^-7"
    assert legible("2 × 10¹⁶", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == "2 × 10¹⁶"
