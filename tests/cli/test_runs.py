"""Runs, and groups that overlap, from the shell."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pacband as library

PROMISE = ["--target", "y", "--prediction", "p", "--eps", 0.2, "--delta", 0.1]
N, H = 150, 6


@pytest.fixture
def frame(tmp_path, rng):
    """Runs of a table in random order of rows; saved as steps.csv and steps.parquet."""
    rows = pd.DataFrame(
        {
            "trip": np.repeat([f"{k:03d}" for k in range(N)], H),
            "hour": np.tile(np.arange(1, H + 1), N),
            "y": rng.standard_normal((N, H)).cumsum(axis=1).ravel(),
            "e": rng.standard_normal(N * H),
            "p": 0.0,
            "s": np.tile(np.sqrt(np.arange(1, H + 1)), N),
            "site": np.repeat(rng.choice(["a", "b"], N), H),
            "shift": np.repeat(rng.choice([1, 2], N), H),
        }
    )
    rows = pd.concat([rows.iloc[::H], rows.drop(rows.index[::H]).sample(frac=1.0, random_state=0)])
    rows.to_csv(tmp_path / "steps.csv", index=False)
    rows.to_parquet(tmp_path / "steps.parquet", index=False)
    return rows


@pytest.mark.parametrize("name", ["steps.csv", "steps.parquet"])
def test_runs_are_certified_checked_and_applied(name, frame, run):
    options = ["--scale", "s", "--run", "trip", "--step", "hour"]
    made = run("certify", name, *PROMISE, *options, "-o", "cert.json")
    assert made.returncode == 0, made.stderr
    found = library.load("cert.json")
    wanted = library.certify_frame(frame, target="y", prediction="p", scale="s", run="trip", step="hour", eps=0.2, delta=0.1)  # fmt: skip
    assert (found.gamma, found.data_digest, found.promise) == (wanted.gamma, wanted.data_digest, wanted.promise)
    assert "future runs satisfy" in made.stdout
    assert "in every step t" in made.stdout
    same = json.loads(run("check", "cert.json", name, "--json").stdout)
    assert (same["counts"][0]["n_samples"], same["reused"]) == (N, True)
    assert run("apply", "cert.json", name, "-o", "tube.csv").returncode == 0
    tube = pd.read_csv("tube.csv")
    np.testing.assert_allclose(tube["upper"], found.gamma * frame["s"], rtol=1e-12)
    assert list(tube["trip"].astype(int)) == list(frame["trip"].astype(int))
    frame.assign(y=3 * frame["y"]).rename(columns={"hour": "t"}).to_csv("wide.csv", index=False)
    worse = run("check", "cert.json", "wide.csv", "--step", "t")
    assert worse.returncode == 1
    assert f"of {N} runs" in worse.stdout


@pytest.mark.parametrize("name", ["steps.csv", "steps.parquet"])
def test_groups_that_overlap_are_certified_checked_and_applied(name, frame, run):
    rows = ["--target", "e", *PROMISE[2:]]
    made = run("certify", name, *rows, "--group", "site", "--group", "shift", "-o", "cert.json")
    assert made.returncode == 0, made.stderr
    found = library.load("cert.json")
    wanted = library.certify_frame(frame, target="e", prediction="p", group=["site", "shift"], eps=0.2, delta=0.1)
    assert [(label, part.gamma) for label, part in found.groups.items()] == [
        (label, part.gamma) for label, part in wanted.groups.items()
    ]
    assert list(found.groups) == ["site=a", "site=b", "shift=1", "shift=2"]
    same = json.loads(run("check", "cert.json", name, "--json").stdout)
    assert same["reused"]
    assert [count["label"] for count in same["counts"]] == list(found.groups)
    assert run("apply", "cert.json", name, "-o", "bands.csv").returncode == 0
    bands, gammas = pd.read_csv("bands.csv"), {label: part.gamma for label, part in found.groups.items()}
    wide = [max(gammas[f"site={a}"], gammas[f"shift={b}"]) for a, b in zip(frame["site"], frame["shift"], strict=True)]
    np.testing.assert_allclose(bands["upper"], wide, rtol=1e-12)
    assert run("report", "cert.json", "-o", "page.md").returncode == 0
    assert "shift=2" in Path("page.md").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--run", "trip"], "--run and --step need each other"),
        (["--step", "hour"], "--run and --step need each other"),
        (["--run", "trip", "--step", "site"], "site"),
        (["--run", "nobody", "--step", "hour"], "nobody"),
        (["--run", "trip", "--step", "hour", "--report", "r.html"], "--report shows every row once"),
        (["--group", "site", "--group", "shift", "--report", "r.html"], "--report shows every row once"),
        (["--group", "site", "--group", "site"], "group must name every column once"),
        (["--run", "site", "--step", "hour"], "more than once"),
    ],
)
def test_what_is_named_wrongly_ends_with_two_and_writes_nothing(options, message, frame, run, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    said = run("certify", "steps.csv", *PROMISE, *options, "-o", "cert.json")
    assert said.returncode == 2
    assert message in said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_what_is_not_about_single_rows_is_refused_by_commands_that_count_rows(frame, run):
    run("certify", "steps.csv", *PROMISE, "--run", "trip", "--step", "hour", "-o", "runs.json")
    run("certify", "steps.csv", *PROMISE, "--group", "site", "--group", "shift", "-o", "groups.json")
    for name in ("runs", "groups"):
        watched = run("monitor", f"{name}.json", "--state", f"{name}.state", "steps.csv")
        assert watched.returncode == 2, watched
        assert ("about runs" if name == "runs" else "overlap") in watched.stderr
        page = run("report", f"{name}.json", "steps.csv", "-o", "page.html")
        assert page.returncode == 2
        assert "shows every row once" in page.stderr
        checked = run("check", f"{name}.json", "steps.csv", "--report", "page.html")
        assert checked.returncode == 2
        assert "shows every row once" in checked.stderr
    frame[frame["hour"] < 6].to_csv("short.csv", index=False)
    short = run("check", "runs.json", "short.csv")
    assert short.returncode == 2
    assert "lacks step 6" in short.stderr
    frame.assign(hour=frame["hour"] + 1).to_csv("later.csv", index=False)
    later = run("apply", "runs.json", "later.csv", "-o", "bands.csv")
    assert later.returncode == 2
    assert "only the 6 certified steps" in later.stderr
