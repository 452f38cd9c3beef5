"""The gate of docs/how_to/production.md, run as a pipeline runs it: every exit code has its answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GATE = Path(__file__).parents[2] / "docs" / "how_to" / "release.sh"
PACBAND = f'exec "{sys.executable}" -m pacband "$@"'

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the gate is for a shell")


@pytest.fixture
def release(tmp_path):
    """Run the gate in a folder of its own; `program` is what `pacband` does there."""

    def call(*arguments, program=PACBAND):
        (tmp_path / "pacband").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "pacband").chmod(0o755)
        env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        line = ["bash", GATE, *arguments]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)

    return call


@pytest.mark.parametrize(
    ("noise", "reused", "code", "words"),
    [
        (1.0, False, 0, "Released: current.json"),
        (2.0, False, 1, "contradicts the promise"),
        (1.0, True, 2, "cannot test"),
    ],
    ids=["released", "contradicted", "reused"],
)
def test_the_gate_answers_every_exit_code(noise, reused, code, words, tmp_path, release):
    import numpy as np
    import pandas as pd

    import pacband

    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"y": rng.standard_normal(1000), "p": np.zeros(1000)})
    fresh = rows if reused else rows.assign(y=noise * rng.standard_normal(1000))
    pacband.certify_frame(rows, target="y", prediction="p", delta=1e-3).save(tmp_path / "new.json")
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    done = release("new.json", "current.json", "fresh.csv")
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True), done.stderr
    assert (tmp_path / "current.json").exists() == (code == 0)
    assert (tmp_path / "new.json").exists() == (code != 0)


def test_the_gate_needs_three_arguments(release):
    done = release("new.json")
    assert (done.returncode, done.stderr[:6]) == (2, "usage:")


def test_a_model_that_is_missing_is_no_verdict_about_rows(tmp_path, release):
    (tmp_path / "fresh.csv").write_text("y,p\n1,2\n")
    (tmp_path / "current.json").write_text("current")
    done = release("new.json", "current.json", "fresh.csv")
    assert done.returncode == 2
    assert "Not released: bad input, or rows that cannot test the promise; see above." in done.stderr
    assert "new.json" in done.stderr.partition("Not released")[0]
    assert (tmp_path / "current.json").read_text() == "current"


def test_any_other_code_is_passed_on(tmp_path, release):
    (tmp_path / "new.json").write_text("new")
    done = release("new.json", "current.json", "fresh.csv", program="exit 70")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr == "Not released: pacband check ended with 70.\n"
    assert not (tmp_path / "current.json").exists()


def test_nothing_is_released_into_a_folder_that_does_not_exist(tmp_path, release):
    (tmp_path / "new.json").write_text("new")
    done = release("new.json", "missing/current.json", "fresh.csv", program="exit 0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "missing/current.json" in done.stderr
    assert (tmp_path / "new.json").read_text() == "new"
