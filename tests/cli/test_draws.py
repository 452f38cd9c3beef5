"""Draws that are not rows, from the shell."""

import json

import numpy as np
import pandas as pd
import pytest

import pacband as library
from pacband.draws import Spaced, Units, Weighted

PROMISE = ["--target", "y", "--prediction", "p", "--eps", 0.1, "--delta", 0.01]


@pytest.fixture
def frame(tmp_path, rng):
    machine = np.repeat(np.arange(300), 10)
    rows = pd.DataFrame(
        {
            "machine": [f"m{k:03d}" for k in machine],
            "y": rng.standard_normal(300)[machine] + 0.3 * rng.standard_normal(3000),
            "p": 0.0,
            "w": rng.uniform(0, 2, 3000),
        }
    )
    rows["v"] = np.minimum(1.1 * rows["w"], 2.0)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    return rows


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize(
    ("options", "draws"),
    [
        (["--unit", "machine"], lambda f: Units(f["machine"], name="machine")),
        (["--unit", "machine", "--within", 0.9], lambda f: Units(f["machine"], 0.9, name="machine")),
        (["--unit", "machine", "--within", "one", "--seed", 3], lambda f: Units(f["machine"], "one", name="machine", random_state=3)),
        (["--unit", "machine", "--within", "average"], lambda f: Units(f["machine"], "average", name="machine")),
        (["--gap", 5], lambda f: Spaced(5)),
        (["--importance", "w", "--at-most", 2], lambda f: Weighted(f["w"], at_most=2.0)),
        (["--importance", "w", "--importance", "v", "--at-most", 2, "--interval-delta", 0.001], lambda f: Weighted((f["w"], f["v"]), at_most=2.0, interval_delta=0.001)),
    ],
    ids=["all", "share", "one", "average", "spaced", "weighted", "interval"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_certify_gives_the_certificate_of_arrays(name, options, draws, frame, run):
    made = run("certify", name, *PROMISE, *options, "-o", "cert.json")
    assert made.returncode == 0, made.stderr
    found, wanted = library.load("cert.json"), library.certify(frame["y"], frame["p"], eps=0.1, delta=0.01, draws=draws(frame))  # fmt: skip
    assert (found.gamma, found.n_samples, found.rank, found.data_digest) == (wanted.gamma, wanted.n_samples, wanted.rank, wanted.data_digest)  # fmt: skip
    assert found.basis.draws == wanted.basis.draws
    assert found.promise == wanted.promise


def test_units_are_checked_as_units(frame, run, tmp_path):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    same = json.loads(run("check", "cert.json", "rows.csv", "--json").stdout)
    assert (same["counts"][0]["n_samples"], same["reused"]) == (300, True)
    frame.assign(y=3 * frame["y"]).rename(columns={"machine": "site"}).to_csv(tmp_path / "wide.csv", index=False)
    worse = run("check", "cert.json", "wide.csv", "--unit", "site")
    assert worse.returncode == 1
    assert "of 300 machines " in worse.stdout


def test_units_on_average_are_printed_and_checked_as_such(frame, run):
    made = run("certify", "rows.parquet", *PROMISE, "--unit", "machine", "--within", "average", "-o", "cert.json")
    assert "on average over machines, satisfy" in made.stdout
    same = run("check", "cert.json", "rows.csv")
    assert same.returncode == 0
    assert "on average over 300 machines, " in same.stdout
    assert "made from" in same.stdout
    groups = run("certify", "rows.csv", *PROMISE, "--unit", "machine", "--within", "average", "--group", "p")
    assert groups.returncode == 0, groups.stderr
    assert "errors, on average over machines, in each of the 1 groups" in groups.stdout


def test_units_of_other_engines(frame, pacband):
    certify = ("certify", "rows.parquet", *map(str, PROMISE), "--unit", "machine", "--engine", "dask")
    made = pacband(*certify, "--json")
    expected = library.certify(frame["y"], frame["p"], eps=0.1, delta=0.01, draws=Units(frame["machine"]))
    assert json.loads(made.stdout)["data_digest"] == expected.data_digest
    refused = pacband(*certify, "--within", "0.9")
    assert refused.returncode == 2
    assert "use DuckDB or polars" in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--unit", "machine", "--gap", 5], "name one of --unit, --gap and --importance"),
        (["--within", 0.9], "--within needs --unit"),
        (["--mixing", 0.9], "--mixing needs --gap"),
        (["--importance", "w"], "--importance and --at-most need each other"),
        (["--at-most", 2], "--importance and --at-most need each other"),
        (["--importance", "w", "--importance", "v", "--importance", "y", "--at-most", 2], "or two for (low, high)"),
        (["--importance", "w", "--at-most", 2, "--interval-delta", 0.001], "--interval-delta needs two --importance"),
        (["--importance", "v", "--importance", "w", "--at-most", 2], "the lower importance must not exceed the upper"),
        (
            ["--unit", "machine", "--within", "average", "--rank", 3],
            "rank and rule cannot be combined with within='average'",
        ),
        (["--unit", "nobody"], "nobody"),
        (["--unit", "machine", "--within", "most"], "within must be one of 'all', 'one', 'average', got 'most'"),
        (["--unit", "machine", "--report", "r.html"], "--report shows rows as draws"),
        (["--importance", "w", "--at-most", 1], "importance must be in"),
    ],
)
def test_what_is_declared_wrongly_ends_with_two_and_writes_nothing(options, message, frame, run, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    said = run("certify", "rows.csv", *PROMISE, *options, "-o", "cert.json")
    assert said.returncode == 2
    assert message in said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before
