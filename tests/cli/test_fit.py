"""`pacband fit`."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest

import pacband as library
from support.shell import PROGRAM, start
from support.shell import training_table as table

PROMISE = ["--eps", "0.1", "--delta", "0.05"]


def test_fit_says_what_it_made_of_every_column(fitted):
    folder, done = fitted
    said = json.loads(done.stdout)
    assert {column["name"]: column["kind"] for column in said["columns"]} == {
        "id": None, "day": None, "a": "number", "b": "number", "colour": "category", "unit": None,
    }  # fmt: skip
    for line in (
        "Numbers: a, b",
        "Categories: colour",
        "Not used: id: most rows have a different text, as in an id",
        "Not used: day: it holds dates or times",
        "Not used: unit: it is constant",
        "Saved model.pacband and report.html",
    ):
        assert line in done.stderr
    assert said["rows"] == 400
    assert any(tried["status"] == "chosen" for tried in said["tried"])
    model = library.load(folder / "model.pacband")
    assert model.certificate_.to_dict() == said["certificate"]
    assert "<html" in (folder / "report.html").read_text("utf-8")
    assert sorted(os.listdir(folder)) == ["data.csv", "model.pacband", "report.html"]


def test_the_report_shows_the_rows_that_calibrated(fitted):
    from pacband.cli.fit_results import make_report
    from pacband.tables.files import open_files
    from pacband.tables.training_rows import read_training_rows

    folder, _ = fitted
    with open_files([folder / "data.csv"]) as found:
        rows = read_training_rows(found, "y")
    model = library.load(folder / "model.pacband")
    # Another split than that of `fit` would not give the same bound.
    assert make_report(model, rows).summary.answer.state == "recomputed"


def test_what_fit_refuses(tmp_path, run):
    good = table(400).drop(columns=["id", "day", "unit"])
    path = tmp_path / "data.csv"

    def said(frame, *options, target="y"):
        frame.to_csv(path, index=False)
        output = [] if "-o" in options else ["-o", tmp_path / "model.pacband"]
        arguments = [path, "--target", target, *PROMISE, "--time-budget", "1", "--jobs", "1", *output, *options]
        code, out, err = run("fit", *arguments)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    gaps = good.assign(y=good.y.where(good.index % 100 != 5))
    assert "missing in 4 rows, the first 5, 105, 205 (counting from 0); --drop-missing-target" in said(gaps)
    texts = good.assign(y=good.y.astype(object).where(good.index != 7, "much"))
    assert "column 'y' must be numeric, got 'much'" in said(texts)
    texts = good.assign(a=good.a.astype(object).where(good.index != 7, "much"))
    assert "column 'a' holds numbers but for 1 of 400 values, such as 'much'" in said(texts)
    assert "column 'a' must be finite or missing, got 1 infinite values" in said(
        good.assign(a=good.a.where(good.index != 3, np.inf))
    )
    assert "there is no column 'z'" in said(good, target="z")
    assert "there is no column 'aa'. Did you mean 'a'?" in said(good, "--features", "aa,b")
    assert "nothing to predict from" in said(good, "--exclude", "a,b,colour")
    assert "cannot be a feature as well" in said(good, "--features", "a,y")
    assert "cannot be excluded" in said(good, "--group", "colour", "--exclude", "colour")
    assert "the table has no rows" in said(good.head(0))
    assert "fit needs at least 2 rows" in said(
        good.head(30).iloc[1:2].assign(a=[1.0]).pipe(lambda f: pd.concat([f, f.assign(a=2.0, y=np.nan)])),
        "--drop-missing-target",
    )
    assert "were kept for calibration" in said(good.head(40))
    assert "must be a number of rows or a share" in said(good, "--calibration-size", "some")
    assert "choose different files" in said(good, "--report", tmp_path / "model.pacband")
    assert "is also an input" in said(good, "-o", path)
    assert os.listdir(tmp_path) == ["data.csv"]


def test_fit_leaves_copies_out_where_it_is_told_to(tmp_path, run):
    rows = table(400).drop(columns=["id", "day", "unit"])
    pd.concat([rows, rows[::10]]).to_csv(tmp_path / "data.csv", index=False)
    rows.to_csv(tmp_path / "once.csv", index=False)
    options = ["--target", "y", *PROMISE, "--time-budget", "1", "--jobs", "1", "--json"]
    model, page = tmp_path / "model.pacband", tmp_path / "report.html"
    code, out, err = run("fit", tmp_path / "data.csv", *options, "-o", model)
    assert (code, out, model.exists()) == (2, "", False)
    assert "fit needs every row once: 40 of 440 rows equal another row" in err
    assert "--drop-copies drops the copies." in err
    arguments = [*options, "--drop-copies", "--report", page, "-o", model]
    code, out, err = run("fit", tmp_path / "data.csv", *arguments)
    assert (code, page.exists()) == (0, True)
    assert "Dropped 40 of 440 rows, which are copies of other rows." in err
    assert json.loads(out)["rows"] == 400
    code, out, err = run("fit", tmp_path / "once.csv", *options, "--drop-copies", "-o", model, "--overwrite")
    assert (code, json.loads(out)["rows"]) == (0, 400)
    assert "Dropped" not in err


def test_rows_that_agree_by_chance_are_not_dropped(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.integers(0, 5, 400), "y": rng.integers(0, 5, 400)})
    rows.to_csv(tmp_path / "data.csv", index=False)
    options = ["--target", "y", *PROMISE, "--time-budget", "1", "--jobs", "1", "--json", "--drop-copies"]
    code, out, err = run("fit", tmp_path / "data.csv", *options, "-o", tmp_path / "model.pacband")
    assert (code, json.loads(out)["rows"]) == (0, 400)
    assert "Dropped" not in err


def test_an_interrupted_fit_leaves_the_old_model_or_saves_the_best_so_far(tmp_path):
    table(400).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "model.pacband").write_bytes(b"old")
    command = [*PROGRAM, "fit", "data.csv", "--target", "y", *PROMISE, "-o", "model.pacband", "--overwrite"]
    process = start([*command, "--jobs", "1"], cwd=tmp_path)
    for line in process.stderr:
        if line.startswith("Not used: unit"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "model.pacband"]
    if process.returncode == 0:
        # A model had been fitted when the signal came.
        assert "the search was interrupted" in err
        assert "The search was interrupted after" in out
        assert library.load(tmp_path / "model.pacband").best_name_ in out
        return
    # If the signal interrupts code that `exec` runs, as that of a named tuple, Python ends itself by the signal after the
    # command has ended: a shell shows 130 for both.
    assert process.returncode in (130, -signal.SIGINT), err
    assert out == ""
    assert "interrupted; no file is half written" in err
    assert (tmp_path / "model.pacband").read_bytes() == b"old"


def machines(seed, n_units=120, n_rows=5):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n_units), n_rows)
    x = rng.standard_normal(len(unit))
    y = 2 * x + rng.standard_normal(n_units)[unit] + 0.3 * rng.standard_normal(len(unit))
    rows = {"machine": unit + 1000 * seed, "x": x, "site": np.where(unit % 2, "north", "south")}
    return pd.DataFrame({**rows, "w": rng.uniform(0, 1, len(unit)), "y": y})


QUICK = ["--target", "y", "--eps", "0.2", "--delta", "0.1", "--time-budget", "0.5", "--jobs", "1"]


def test_a_positive_target_with_negative_lower_ends_is_told_of_the_range(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.uniform(size=400)})
    fit = ["fit", "data.csv", "--target", "y", *PROMISE, "--time-budget", "2", "--overwrite", "-o", "model.pacband"]
    said = "No value of 'y' is negative, but "
    rows.assign(y=rng.lognormal(size=400)).to_csv(tmp_path / "data.csv", index=False)
    done = run(*fit)
    assert done.returncode == 0
    assert f"{said}100 % of the lower ends are. If 'y' is never negative, --clip-min 0 ends the band" in done.stderr
    assert said not in run(*fit, "--clip-min", "0").stderr
    assert said not in run(*fit, "--side", "upper").stderr
    rows.assign(y=rng.normal(size=400)).to_csv(tmp_path / "data.csv", index=False)
    assert said not in run(*fit).stderr
    rows.assign(y=rng.normal(20.0, size=400)).to_csv(tmp_path / "data.csv", index=False)
    assert said not in run(*fit).stderr


def test_fit_divides_units_and_does_not_predict_from_their_column(tmp_path, run):
    machines(0).to_csv(tmp_path / "data.csv", index=False)
    machines(1).to_csv(tmp_path / "new.csv", index=False)
    model = tmp_path / "model.pacband"
    page = tmp_path / "page.html"
    options = ["--unit", "machine", "--within", "0.8", "--exclude", "w", "--report", page]
    done = run("fit", tmp_path / "data.csv", *QUICK, *options, "-o", model)
    assert done.returncode == 0, done.stderr
    assert "Not used: machine: it declares the draws" in done.stderr
    assert "The bound agrees with the calibration rows" in page.read_text("utf-8")
    loaded = library.load(model)
    assert loaded.certificate_.basis.draws == library.draws.Units([0], 0.8, name="machine").kind
    assert loaded.certificate_.n_samples == 24
    assert loaded.feature_names_in_.tolist() == ["x", "site"]
    checked = json.loads(run("check", model, tmp_path / "new.csv", "--target", "y", "--json").stdout)
    assert (checked["counts"][0]["n_samples"], checked["training_rows"]) == (120, 0)
    assert checked["counts"][0]["counted"] == "machines"
    renamed = machines(1).rename(columns={"machine": "device"})
    renamed.to_csv(tmp_path / "renamed.csv", index=False)
    again = run("check", model, tmp_path / "renamed.csv", "--target", "y", "--unit", "device", "--json")
    assert json.loads(again.stdout) == checked
    reused = run("check", model, tmp_path / "data.csv", "--target", "y")
    assert "The model was fitted on 96 of these 120 machines: only new machines can test it." in reused.stdout
    predicted = run("predict", model, tmp_path / "renamed.csv", "-o", tmp_path / "bands.csv")
    assert predicted.returncode == 0, predicted.stderr


def test_fit_calibrates_on_the_latest_rows_of_a_series(tmp_path, run):
    machines(0).to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.pacband"
    options = ["--gap", "5", "--mixing", "0.01", "--exclude", "machine,w", "--report", tmp_path / "page.html"]
    done = run("fit", tmp_path / "data.csv", *QUICK, *options, "-o", model)
    assert done.returncode == 0, done.stderr
    cert = library.load(model).certificate_
    assert (cert.n_samples, cert.basis.draws.gap) == (24, 5)
    # The training rows end a gap before the 120 rows that calibrate.
    assert len(library.load(model).training_rows_) == 600 - 120 - 4
    assert "The bound agrees with the calibration rows" in (tmp_path / "page.html").read_text("utf-8")


def test_what_is_declared_wrongly_about_draws_is_refused_and_nothing_is_written(tmp_path, run):
    rows = machines(0)
    rows.loc[3, "machine"] = np.nan
    rows.to_csv(tmp_path / "gaps.csv", index=False)
    machines(0).to_csv(tmp_path / "data.csv", index=False)
    for name, options, message in (
        ("data.csv", ["--unit", "nobody"], "nobody"),
        ("data.csv", ["--unit", "y"], "'y' declares the draws: it cannot be the target"),
        ("data.csv", ["--unit", "site", "--group", "site"], "'site' declares the draws"),
        ("data.csv", ["--unit", "machine", "--features", "x,machine"], "'machine' declares the draws"),
        ("data.csv", ["--within", "0.9"], "--within needs --unit"),
        ("data.csv", ["--unit", "machine", "--gap", "3"], "name one of --unit, --gap and --importance"),
        ("data.csv", ["--unit", "site"], "need at least"),
        ("data.csv", ["--gap", "700"], "gap must not exceed the number of rows, 600"),
        ("gaps.csv", ["--unit", "machine"], "must have a label in every row"),
        ("data.csv", ["--importance", "w", "--at-most", "0.5"], "importance must be in"),
    ):
        done = run("fit", tmp_path / name, *QUICK, *options, "-o", tmp_path / "model.pacband")
        assert (done.returncode, message in done.stderr) == (2, True), (options, done.stderr)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "gaps.csv"]


def test_a_series_in_another_order_than_its_times_is_a_warning(tmp_path, run):
    import pandas as pd

    rows = machines(0)
    rows["day"] = pd.date_range("2024-01-01", periods=len(rows)).strftime("%Y-%m-%d")[::-1]
    rows.iloc[[0, 50], rows.columns.get_loc("day")] = rows["day"].iloc[[50, 0]].to_numpy()
    rows.to_csv(tmp_path / "data.csv", index=False)
    options = ["--gap", "5", "--exclude", "machine,w"]
    done = run("fit", tmp_path / "data.csv", *QUICK, *options, "-o", tmp_path / "model.pacband")
    assert "the rows are not in the order of day" in done.stderr
    rows["day"] = pd.date_range("2024-01-01", periods=len(rows)).strftime("%Y-%m-%d")[::-1]
    rows.to_csv(tmp_path / "data.csv", index=False)
    done = run("fit", tmp_path / "data.csv", *QUICK, *options, "--strict", "-o", tmp_path / "back.pacband")
    assert done.returncode == 1
    assert "PB005 the rows run backwards in time: the first row has the latest day" in done.stderr


def test_dates_of_any_country_are_features_if_they_are_named(run, tmp_path):
    """A model of days reads the same days from texts of the country, from ISO texts, and from typed columns."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2025-01-01", periods=300, freq="7h")
    frame = pd.DataFrame({"sold": days.strftime("%d.%m.%Y %H:%M"), "x": rng.normal(size=300)})
    frame["y"] = np.arange(300) / 50 + frame.x + 0.1 * rng.normal(size=300)
    frame.to_csv(tmp_path / "de.csv", index=False)
    frame.assign(sold=days.strftime("%Y-%m-%dT%H:%M:%S")).to_csv(tmp_path / "iso.csv", index=False)
    frame.assign(sold=days).to_parquet(tmp_path / "typed.parquet")
    promise = ("--target", "y", "--eps", "0.1", "--delta", "0.05", "--time-budget", "0.5", "--jobs", "1")
    made = run("fit", "de.csv", *promise, "--dates", "sold", "-o", "model.pacband")
    assert made.returncode == 0, made.stderr
    assert "Dates, as days since 1970-01-01: sold\n" in made.stderr
    bands = []
    for name in ("de.csv", "iso.csv", "typed.parquet"):
        done = run("predict", "model.pacband", name)
        assert done.returncode == 0, done.stderr
        bands.append([line.split(",")[-3:] for line in done.stdout.splitlines()])
    assert bands[0] == bands[1] == bands[2]
    frame.assign(sold=days.strftime("%m/%d/%Y")).to_csv(tmp_path / "us.csv", index=False)
    refused = run("predict", "model.pacband", "us.csv")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "column 'sold' must hold dates, day first as in the fit or in ISO format, got" in refused.stderr


@pytest.mark.parametrize(
    ("cells", "dates", "message"),
    [
        ("0{}/0{}/2025", "", "Not used: sold: its dates have two meanings, such as '01/01/2025': --dates sold:dmy or"),
        ("0{}/0{}/2025", "sold", "the dates of column 'sold' have two meanings, such as '01/01/2025'"),
        ("0{}.0{}.2025", "", "Not used: sold: it holds dates or times; --dates sold uses them"),
        ("0{}.0{}.2025", "sold:mdy", "column 'sold' must hold dates, month first, in every row"),
        ("a{}b{}", "sold", "column 'sold' must hold dates in every row"),
        ("0{}.0{}.2025", "missing", "no column 'missing'"),
        ("0{}.0{}.2025", "y", "the target 'y' cannot be a feature as well"),
    ],
)
def test_dates_that_are_not_clear_are_refused(run, tmp_path, cells, dates, message):
    cells = [cells.format(1 + k % 9, 1 + k % 7) for k in range(40)]
    pd.DataFrame({"sold": cells, "x": np.arange(40.0), "y": np.arange(40.0) % 7}).to_csv(
        tmp_path / "a.csv", index=False
    )
    done = run("fit", "a.csv", "--target", "y", "--dates", dates, "-o", "model.pacband")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "model.pacband").exists()


def test_a_saved_plan_repeats_a_fit_to_the_bit(tmp_path, run):
    table(400).drop(columns=["id", "day", "unit"]).to_csv(tmp_path / "data.csv", index=False)
    plan, first, second = (tmp_path / name for name in ("plan.json", "first.pacband", "second.pacband"))
    line = ["fit", tmp_path / "data.csv", "--target", "y", *PROMISE, "--jobs", "1"]
    done = run(*line, "--time-budget", "0.5", "--save-search-plan", plan, "-o", first)
    assert done.returncode == 0, done.stderr
    assert "The time budget left out" in done.stderr
    assert f"Saved {first} and {plan}" in done.stderr
    again = run(*line, "--search-plan", plan, "-o", second)
    assert again.returncode == 0, again.stderr
    assert "The time budget left out" not in again.stderr
    models = [library.load(path) for path in (first, second)]
    assert library.SearchPlan.load(plan) == models[0].search_plan_ == models[1].search_plan_ == models[1].search_plan
    digests = [[each.data_digest for each in model.certificates_.values()] for model in models]
    assert digests[0] == digests[1]
    rows = pd.read_csv(tmp_path / "data.csv").drop(columns="y")
    np.testing.assert_array_equal(*(model.predict_interval(rows) for model in models))


def test_a_plan_that_cannot_be_used_is_refused_and_nothing_is_written(tmp_path, run):
    data, plan, edited = (tmp_path / name for name in ("data.csv", "plan.json", "edited.json"))
    table(400).drop(columns=["id", "day", "unit"]).to_csv(data, index=False)
    library.SearchPlan(("oracle",), (), all_rows=True, rows=1, columns=1).save(plan)
    edited.write_text(plan.read_text().replace("oracle", "linear"))
    line = ["fit", data, "--target", "y", *PROMISE, "--jobs", "1", "-o", tmp_path / "model.pacband"]
    for options, message in (
        (["--search-plan", plan], "the plan names the predictors 'oracle'"),
        (["--search-plan", edited], "edited or damaged"),
        (["--search-plan", data], "is not a plan of a search of pacband"),
        (["--search-plan", tmp_path / "missing.json"], "missing.json"),
        (["--search-plan", plan, "--time-budget", "5"], "--search-plan and --time-budget cannot be combined"),
        (["--search-plan", plan, "--save-search-plan", plan], "is also an input"),
        (["--save-search-plan", tmp_path / "model.pacband"], "choose different files"),
    ):
        done = run(*line, *options)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "edited.json", "plan.json"]


def test_a_column_that_counts_the_rows_is_named(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"row id": np.arange(5, 405), "age": rng.integers(0, 80, 400), "a": rng.standard_normal(400)})
    rows.assign(y=rows.a + rng.standard_normal(400)).to_csv(tmp_path / "data.csv", index=False)
    _, _, err = run("fit", tmp_path / "data.csv", *QUICK, "-o", tmp_path / "model.pacband")
    assert "Numbers: row id, age, a\n" in err
    cure = "row id counts the rows. If it says nothing about future rows, leave it out: --exclude='row id'\n"
    assert err.count("counts the rows") == err.count(cure) == 1
