"""Draws that are not rows, from the shell."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

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


def test_another_column_of_units_is_a_warning_in_every_command(frame, run, tmp_path):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    X = frame[["w", "machine"]]
    model = library.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, draws=Units("machine"), random_state=0)
    model.fit(X, frame["y"]).save("model.pacband")
    frame.assign(y=0.5 * frame["y"], site="s" + frame["machine"]).to_csv(tmp_path / "new.csv", index=False)
    commands = {
        "check": [],
        "report": ["-o", "page.html"],
        "monitor": ["--state", "state.json"],
        "recalibrate": ["-o", "next.json"],
    }
    warning = "these are not the columns that were certified: unit 'site' in place of 'machine'"
    for file, options in (("cert.json", []), ("model.pacband", ["--target", "y"])):
        for name, line in commands.items():
            _, _, err = run(
                name, file, "new.csv", *options, *(f"{file}-{word}" if "." in word else word for word in line)
            )
            assert warning not in err, (name, file)
            line = [f"other-{file}-{word}" if "." in word else word for word in line]
            _, _, err = run(name, file, "new.csv", *options, *line, "--unit", "site")
            assert warning in err, (name, file)


def test_a_monitor_of_mixed_units_asks_for_a_sorted_file(frame, run, tmp_path):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "mixed.csv", index=False)
    done = run("monitor", "cert.json", "mixed.csv", "--state", "state.json")
    assert done.returncode == 2
    assert "and more rows of it came: sort the file by machine.\n" in done.stderr


def test_units_on_average_are_printed_and_checked_as_such(frame, run):
    made = run("certify", "rows.parquet", *PROMISE, "--unit", "machine", "--within", "average", "-o", "cert.json")
    assert "on average over machines, satisfy" in made.stdout
    same = run("check", "cert.json", "rows.csv")
    assert same.returncode == 2
    assert "on average over 300 machines, " in same.stdout
    assert "made from" in same.stdout
    groups = run("certify", "rows.csv", *PROMISE, "--unit", "machine", "--within", "average", "--group", "p")
    assert groups.returncode == 0, groups.stderr
    assert (
        "in each of the 1 groups at least 90 % of the rows of future machines, on average over machines,"
        in groups.stdout
    )


def test_units_of_other_engines(frame, pacband):
    certify = ("certify", "rows.parquet", *map(str, PROMISE), "--unit", "machine", "--engine", "dask")
    made = pacband(*certify, "--json")
    expected = library.certify(frame["y"], frame["p"], eps=0.1, delta=0.01, draws=Units(frame["machine"]))
    assert json.loads(made.stdout)["content"]["data_digest"] == expected.data_digest
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
        (["--seed", 7], "--seed needs --within one or --importance: no other draws are random"),
        (["--unit", "machine", "--seed", 7], "--seed needs --within one or --importance"),
        (["--gap", 5, "--seed", 0], "--seed needs --within one or --importance"),
        (["--unit", "nobody"], "nobody"),
        (
            ["--unit", "machine", "--within", "most"],
            "--within must be all, average, one or a share in (0, 1) such as 0.99, got 'most'",
        ),
        (["--importance", "w", "--at-most", 1], "importance must be in"),
    ],
)
def test_what_is_declared_wrongly_ends_with_two_and_writes_nothing(options, message, frame, run, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    said = run("certify", "rows.csv", *PROMISE, *options, "-o", "cert.json")
    assert said.returncode == 2
    assert message in said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


OPTIONS = {
    "units": ["--unit", "machine"],
    "share": ["--unit", "machine", "--within", 0.9],
    "spaced": ["--gap", 5],
    "weighted": ["--importance", "w", "--at-most", 2],
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_reports_show_the_draws(options, frame, run, tmp_path):
    made = run("certify", "rows.csv", *PROMISE, *options, "-o", "cert.json", "--report", "made.html")
    assert made.returncode == 0, made.stderr
    assert "The bound agrees with the calibration rows" in (tmp_path / "made.html").read_text("utf-8")
    weights = ["--importance", "w"] if "--importance" in options else []
    again = run("report", "cert.json", "rows.parquet", *weights, "-o", "again.json")
    assert again.returncode == 0, again.stderr
    found = json.loads((tmp_path / "again.json").read_text("utf-8"))
    assert found["verdict"]["state"] == "recomputed"
    assert found["rows"]["n_rows"] == library.load("cert.json").n_samples
    checked = run("check", "cert.json", "rows.csv", *weights, "--report", "checked.html", "--json")
    assert json.loads(checked.stdout)["reused"]
    assert "The bound agrees with the calibration rows" in (tmp_path / "checked.html").read_text("utf-8")


def test_bands_are_those_of_rows_whatever_a_draw_is(frame, run, tmp_path):
    for options in (OPTIONS["units"], OPTIONS["spaced"]):
        run("certify", "rows.csv", *PROMISE, *options, "-o", "cert.json")
        assert run("apply", "cert.json", "rows.csv", "-o", "bands.csv").returncode == 0
        bands, gamma = pd.read_csv(tmp_path / "bands.csv"), library.load("cert.json").gamma
        np.testing.assert_allclose(bands["upper"], gamma)


@pytest.mark.parametrize("size", [7, 1000])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_monitor_counts_units_of_a_stream_in_pieces(form, size, frame, run, tmp_path):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    fresh = frame.assign(y=1.1 * frame["y"])[:1005]
    parts = [fresh[:333], fresh[333:]]
    for k, part in enumerate(parts):
        if form == "csv":
            part.to_csv(tmp_path / f"{k}.csv", index=False)
        else:
            part.to_json(tmp_path / f"{k}.jsonl", orient="records", lines=True)
    state = ["--state", "state.json", "--batch-size", size, "--json"]
    first = run("monitor", "cert.json", *state, f"0.{form}")
    assert first.returncode == 0, first.stderr
    last = json.loads(first.stdout.splitlines()[-1])
    assert (last["rows"], last["open_units"]) == (33, ["m033"])
    # The second stream goes on with the unit that the state holds.
    second = run("monitor", "cert.json", *state, f"1.{form}", "--finish", "--metrics", "out.prom")
    last = json.loads(second.stdout.splitlines()[-1])
    whole = fresh.groupby("machine")["y"].apply(lambda y: y.abs().max() > library.load("cert.json").gamma)
    assert (last["rows"], last["violations"]) == (101, int(whole.sum()))
    assert "open_units" not in last
    assert "pacband_rows_total 101" in (tmp_path / "out.prom").read_text(), "the last unit is in the metrics"
    again = run("monitor", "cert.json", *state, f"0.{form}")
    assert "333 rows were already processed" in again.stderr


def test_a_held_unit_is_counted_without_more_rows(frame, run):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    run("monitor", "cert.json", "--state", "state.json", "rows.csv")
    done = run("monitor", "cert.json", "--state", "state.json", "--acknowledge", "--finish")
    assert done.returncode == 0, done.stderr
    assert library.Monitor.load("state.json", library.load("cert.json")).n_rows == 300


def test_a_monitor_names_units_and_takes_another_column(frame, run, tmp_path):
    run("certify", "rows.csv", *PROMISE, "--unit", "machine", "-o", "cert.json")
    frame.rename(columns={"machine": "site"}).to_csv(tmp_path / "sites.csv", index=False)
    watched = run("monitor", "cert.json", "--state", "state.json", "--unit", "site", "sites.csv")
    assert "299 machines, " in watched.stdout
    missing = run("monitor", "cert.json", "--state", "other.json", "sites.csv")
    assert (missing.returncode, "no column 'machine'" in missing.stderr) == (2, True)
    shuffled = frame.sample(frac=1.0, random_state=0)
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    mixed = run("monitor", "cert.json", "--state", "other.json", "shuffled.csv")
    assert mixed.returncode == 2
    assert "was already counted, and more rows of it came" in mixed.stderr
    frame.assign(machine=["", *frame["machine"][1:]]).to_csv(tmp_path / "gaps.csv", index=False)
    gaps = run("monitor", "cert.json", "--state", "gaps.json", "gaps.csv")
    assert (gaps.returncode, "every row must have a unit in 'machine'" in gaps.stderr) == (2, True)


def test_a_monitor_counts_every_gap_th_row(frame, run):
    run("certify", "rows.csv", *PROMISE, "--gap", 7, "-o", "cert.json")
    watched = run("monitor", "cert.json", "--state", "state.json", "rows.csv", "--batch-size", 100, "--json")
    cert = library.load("cert.json")
    last = json.loads(watched.stdout.splitlines()[-1])
    assert (last["rows"], last["violations"]) == (cert.n_samples, cert.rank - 1)
    refused = run("monitor", "cert.json", "--state", "state.json", "rows.csv", "--unit", "machine")
    assert (refused.returncode, "no promise about units" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "options",
    [["--unit", "machine", "--within", "average"], ["--importance", "w", "--importance", "v", "--at-most", 2]],
)
def test_a_report_shows_one_row_a_draw_or_none(options, frame, run, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    for command in (["certify", "rows.csv", *PROMISE], ["fit", "rows.csv", "--target", "y"]):
        refused = run(*command, *options, "-o", "made.out", "--report", "r.html")
        assert (refused.returncode, "--report shows one row for every draw" in refused.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    # A certificate that was made so is tested without a report, and refused with one before a row is read.
    assert run("certify", "rows.csv", *PROMISE, *options, "-o", "cert.json").returncode == 0
    refused = run("check", "cert.json", "missing.csv", "--report", "r.html")
    assert (refused.returncode, "--report shows one row for every draw" in refused.stderr) == (2, True)
    assert refused.stdout == ""
    assert run("check", "cert.json", "rows.csv").stdout.startswith(("These are the rows", "The data do not"))


def test_diagnose_refuses_a_seed_that_nothing_uses(frame, run):
    refused = run("diagnose", "rows.csv", "--target", "y", "--prediction", "p", "--unit", "machine", "--seed", 3)
    assert (refused.returncode, "--seed needs --within one or --importance" in refused.stderr) == (2, True)
