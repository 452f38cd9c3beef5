"""``pacband report``: from files to a page, Markdown and JSON, with the exit codes of a promise."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import pacband


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


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", "from pacband.cli import main; main()", "report", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


COLUMNS = ("--target", "y", "--prediction", "p", "--scale", "s")


def test_a_page_with_the_calibration_rows(folder):
    done = run(folder, "cert.json", "data.csv", *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert "Recomputed and confirmed" in done.stdout
    page = (folder / "report.html").read_text("utf-8")
    assert "pacband report cert.json data.csv --target y" in page
    assert "<i>a</i>" not in page
    assert "&lt;i&gt;a&lt;/i&gt;" in page


def test_fresh_rows_that_contradict_end_with_one(folder):
    done = run(folder, "cert.json", "fresh.csv", *COLUMNS, "--format", "json", "-o", "-")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"]["state"] == "contradicted"
    assert {slicing["feature"] for slicing in found["slices"]} == {"age", "site", "prediction T(x)"}


def test_the_certificate_alone_as_markdown(folder):
    done = run(folder, "cert.json", "-o", "report.md")
    assert done.returncode == 0, done.stderr
    assert (folder / "report.md").read_text("utf-8").startswith("# How wrong can the model be?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cert.json", "data.csv"), "give --target and --prediction"),
        (("cert.json", "data.csv", "--target", "yy", "--prediction", "p"), "there is no column 'yy'"),
        (("cert.json", "data.csv", "--target", "y", "--prediction", "p"), "calibrated with a scale"),
        (("cert.json", "none.csv", *COLUMNS), "no such file"),
        (("none.json",), "none.json"),
    ],
)
def test_bad_input_ends_with_two_and_writes_nothing(folder, arguments, said):
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "report.html").exists()
