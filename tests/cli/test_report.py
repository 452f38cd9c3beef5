"""``pacband report``: from files to a page, Markdown and JSON, with the exit codes of a promise."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import pacband
from support.pages import Outline


@pytest.fixture
def folder(tmp_path, rng):
    n = 400
    frame = pd.DataFrame({"age": rng.random(n), "site": np.where(rng.random(n) < 0.5, "<i>a</i>", "b")})
    frame["p"], frame["s"] = 3 * frame["age"], 0.5 + frame["age"]
    frame["y"] = frame["p"] + frame["s"] * rng.standard_normal(n)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.assign(y=frame["p"] + 2 * (frame["y"] - frame["p"])).to_csv(tmp_path / "fresh.csv", index=False)
    table = pd.read_csv(tmp_path / "data.csv")
    cert = pacband.certify(table["y"], table["p"], table["s"], eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    return tmp_path


COLUMNS = ("--target", "y", "--prediction", "p", "--scale", "s")


def test_a_page_with_the_calibration_rows(run, folder):
    done = run("report", "cert.json", "data.csv", *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert "The bound agrees with the calibration rows" in done.stdout
    page = (folder / "report.html").read_text("utf-8")
    assert "pacband report cert.json data.csv --target y" in "".join(Outline(page).text)
    assert "<i>a</i>" not in page
    assert "&lt;i&gt;a&lt;/i&gt;" in page


def test_fresh_rows_that_contradict_end_with_one(run, folder):
    done = run("report", "cert.json", "fresh.csv", *COLUMNS, "--format", "json", "-o", "-")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"]["state"] == "contradicted"
    assert {slicing["feature"] for slicing in found["slices"]} == {"age", "site", "prediction T(x)"}


def test_the_certificate_alone_as_markdown(run, folder):
    done = run("report", "cert.json", "-o", "report.md")
    assert done.returncode == 0, done.stderr
    assert (folder / "report.md").read_text("utf-8").startswith("# How wrong can the model be?")


@pytest.mark.parametrize("kind", ["html", "markdown", "json"])
def test_standard_output_gets_the_bytes_of_the_file(run, folder, monkeypatch, kind):
    """A page is written in UTF-8, whatever a terminal can show."""
    monkeypatch.setenv("PACBAND_ASCII", "1")
    run("report", "cert.json", "-o", "page", "--format", kind)
    written = (folder / "page").read_text("utf-8")
    printed = run("report", "cert.json", "-o", "-", "--format", kind).stdout
    assert "σ̂" in (json.loads(written)["promise"] if kind == "json" else written)
    # Both show the command.
    printed = re.sub("(-o(?:</span> <span>| ))-", r"\1page", printed)
    assert printed == written


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cert.json", "data.csv"), "name the columns with --prediction (and --target)"),
        (("cert.json", "data.csv", *COLUMNS, "--target", "yy"), "must have the same number of columns, got 2 and 1"),
        (("cert.json", "data.csv", *COLUMNS[2:], "--target", "yy"), "there is no column 'yy'"),
        (("cert.json", "data.csv", "--target", "y", "--prediction", "p"), "calibrated with a scale"),
        (("cert.json", "none.csv", *COLUMNS), "no such file"),
        (("none.json",), "none.json"),
    ],
)
def test_bad_input_ends_with_two_and_writes_nothing(run, folder, arguments, said):
    done = run("report", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "report.html").exists()
