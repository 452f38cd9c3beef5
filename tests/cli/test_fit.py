"""`pacband fit` and `pacband predict`: as programs for the main ways, and in this process for what goes wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedRegressor
from pacband.cli import main
from pacband.tables.files import open_files

# Before its third release pandas read floats to the last bit only where it was asked to.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
PROMISE = ["--eps", "0.1", "--delta", "0.05"]


def program(*arguments, cwd, **options):
    command = [sys.executable, "-m", "pacband", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, text=True, cwd=cwd, env=environment, timeout=120, check=False, **streams)


def here(capfd, monkeypatch, *arguments):
    """Run a command in this process; return its exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "argv", ["pacband", *map(str, arguments)])
    capfd.readouterr()
    code = 0
    try:
        main()
    except SystemExit as exit_:
        code = exit_.code
    return code, *capfd.readouterr()


def table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"row {k}" for k in range(n_rows)],
            "day": pd.date_range("2020-01-01", periods=n_rows).strftime("%Y-%m-%d"),
            "a": rng.normal(size=n_rows),
            "b": rng.uniform(size=n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "unit": "m",
        }
    )
    frame["y"] = 2 * frame.a + (frame.colour == "red") + (0.1 + frame.b) * rng.normal(size=n_rows)
    frame.loc[::11, "b"] = np.nan
    frame.loc[::13, "colour"] = None
    return frame


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model, fitted by the program on a file of its own."""
    folder = tmp_path_factory.mktemp("fitted")
    table(400).to_csv(folder / "data.csv", index=False, na_rep="NA")
    options = ["--time-budget", "1", "--jobs", "1", "--report", "report.html", "--json"]
    done = program("fit", "data.csv", "--target", "y", *PROMISE, "-o", "model.pacband", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_fit_says_what_it_made_of_every_column(fitted):
    folder, done = fitted
    said = json.loads(done.stdout)
    assert {column["name"]: column["kind"] for column in said["columns"]} == {
        "id": None, "day": None, "a": "number", "b": "number", "colour": "category", "unit": None,
    }  # fmt: skip
    for line in (
        "Numbers: a, b",
        "Categories: colour",
        "Left out: id: it has a text of its own in most rows, as an id has",
        "Left out: day: it holds dates or times",
        "Left out: unit: it is constant",
        "Saved model.pacband and report.html",
    ):
        assert line in done.stderr
    assert said["rows"] == 400
    assert any(tried["status"] == "chosen" for tried in said["tried"])
    model = pacband.load(folder / "model.pacband")
    assert model.certificate_.to_dict() == said["certificate"]
    assert "<html" in (folder / "report.html").read_text("utf-8")
    assert sorted(os.listdir(folder)) == ["data.csv", "model.pacband", "report.html"]


def test_the_report_shows_the_rows_that_calibrated(fitted):
    from pacband.cli.fit import _page, _read
    from pacband.tables.files import open_files

    folder, _ = fitted
    options = {"target": "y", "group": None, "features": "", "categories": "", "drop_missing_target": False}
    with open_files([folder / "data.csv"]) as found:
        _, X, y = _read(found.relation(), [], options)
    model = pacband.load(folder / "model.pacband")
    # Another split than that of `fit` would not give the same bound.
    assert _page(model, X, y).summary.verdict.state == "recomputed"


def test_predict_adds_the_band_and_changes_nothing_else(fitted, tmp_path):
    folder, _ = fitted
    new = table(300, seed=1).drop(columns=["y", "unit"])[["colour", "b", "id", "a"]].assign(note='said "so", twice')
    new.loc[3, "colour"] = "violet"
    new.to_csv(tmp_path / "new.csv", index=False)
    with open(tmp_path / "out.csv", "w+") as appended, open(tmp_path / "new.csv") as piped:
        # As after `>>`: what is there stays.
        appended.write("# bands\n")
        appended.flush()
        done = program("predict", folder / "model.pacband", "-", cwd=tmp_path, stdin=piped, stdout=appended)
    assert (done.returncode, done.stderr) == (0, "")
    out = pd.read_csv(tmp_path / "out.csv", comment="#", **EXACT)
    assert (tmp_path / "out.csv").read_text().startswith("# bands\n")
    assert list(out) == [*new, "prediction", "lower", "upper"]
    pd.testing.assert_frame_equal(out[list(new)], pd.read_csv(tmp_path / "new.csv", **EXACT))
    model = pacband.load(folder / "model.pacband")
    band = model.predict_interval(new[["a", "b", "colour"]], output="frame")
    np.testing.assert_array_equal(out[["prediction", "lower", "upper"]].to_numpy(), band.to_numpy())


def test_many_rows_of_parquet_stay_in_order_and_of_their_types(tmp_path, capfd, monkeypatch):
    n_rows = 60_000
    duckdb.sql(
        f"copy (select i::int as id, sin(i)::decimal(9, 4) as a, date '2020-01-01' + i::int as day, "
        f"nullif(i % 5, 0)::utinyint as gaps from range({n_rows}) t(i)) to '{tmp_path}/new.parquet' (row_group_size 9000)"
    )
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(X, 3 * X.a)
    model.save(tmp_path / "model.pacband")
    names = ["--prediction", "p", "--lower", "low", "--upper", "high"]
    code, out, err = here(
        capfd, monkeypatch, "predict", tmp_path / "model.pacband", tmp_path / "new.parquet", *names, "--json",
        "-o", tmp_path / "out.parquet",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert json.loads(out)["rows"] == n_rows
    old, new = (duckdb.read_parquet(f"{tmp_path}/{name}.parquet") for name in ("new", "out"))
    assert new.columns == [*old.columns, "p", "low", "high"]
    assert list(map(str, new.types)) == [*map(str, old.types), "DOUBLE", "DOUBLE", "DOUBLE"]
    columns = new.fetchnumpy()
    np.testing.assert_array_equal(columns["id"], np.arange(n_rows))
    expected = model.predict(pd.DataFrame({"a": columns["a"].astype(float)}))
    np.testing.assert_allclose(columns["p"], expected, rtol=1e-12, atol=1e-12)


def test_what_predict_refuses(fitted, tmp_path, capfd, monkeypatch):
    folder, _ = fitted
    model = folder / "model.pacband"
    good = table(20, seed=2)[["a", "b", "colour"]]

    def said(frame, *options, columns=None):
        path = tmp_path / "new.csv"
        frame.to_csv(path, index=False)
        code, out, err = here(capfd, monkeypatch, "predict", model, path, *options)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    assert "there is no column 'colour'. Did you mean 'color'?" in said(good.rename(columns={"colour": "color"}))
    assert "column 'b' must be numeric, got 'much'" in said(
        good.assign(b=good.b.astype(object).where(good.b > 0.1, "much"))
    )
    assert "infinite values" in said(good.assign(a=np.inf))
    assert "the table has no rows" in said(good.head(0))
    assert "has a column 'lower' already" in said(good.assign(lower=1.0))
    assert "candidate must be" in said(good, "--candidate", "nobody")
    assert "need names of their own" in said(good, "--upper", "lower")
    assert "--json needs an output file" in said(good, "--json")
    assert "is also an input" in said(good, "-o", tmp_path / "new.csv")
    assert "there is no directory" in said(good, "-o", tmp_path / "nowhere" / "out.csv")
    assert pd.read_csv(tmp_path / "new.csv", **EXACT).shape == good.shape
    cert = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    code, _, err = here(capfd, monkeypatch, "predict", cert, tmp_path / "new.csv")
    assert code == 2
    assert "is a certificate, not a model" in err
    (tmp_path / "cut.pacband").write_bytes(model.read_bytes()[:-9])
    code, _, err = here(capfd, monkeypatch, "predict", tmp_path / "cut.pacband", tmp_path / "new.csv")
    assert code == 2
    assert "cut.pacband is truncated or damaged" in err
    assert sorted(os.listdir(tmp_path)) == ["cert.json", "cut.pacband", "new.csv"]


def test_commands_that_take_a_certificate_say_what_is_wrong_with_a_model_file(tmp_path, capfd, monkeypatch):
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(X, 3 * X.a)
    path = model.save(tmp_path / "model.pacband")
    X.assign(y=3 * X.a, p=model.predict(X)).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "cut.pacband").write_bytes(path.read_bytes()[:-9])
    with zipfile.ZipFile(tmp_path / "any.pacband", "w") as archive:
        archive.writestr("anything.txt", "any archive")
    commands = {
        "apply": [],
        "check": ["--target", "y"],
        "monitor": ["--target", "y", "--state", tmp_path / "state.json"],
        "report": ["--target", "y", "-o", tmp_path / "report.html"],
    }
    for command, options in commands.items():
        for name, message in (
            ("cut", "cut.pacband is truncated or damaged"),
            ("any", "any.pacband is not a pacband/model file"),
        ):
            arguments = [tmp_path / f"{name}.pacband", tmp_path / "rows.csv", "--prediction", "p", *options]
            code, out, err = here(capfd, monkeypatch, command, *arguments)
            assert (code, out) == (2, "")
            assert message in err
        assert not {"state.json", "report.html"} & set(os.listdir(tmp_path))
    code, out, err = here(capfd, monkeypatch, "apply", path, tmp_path / "rows.csv", "--prediction", "p")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "a,y,p,lower,upper"
    code, out, err = here(capfd, monkeypatch, "apply", path, tmp_path / "rows.csv")
    assert (code, out) == (2, "")
    assert "a model predicts by itself: `pacband predict` adds its prediction and its band" in err


def test_types_of_other_packages_have_to_be_trusted(tmp_path, capfd, monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1), eps=0.1, delta=0.05)
    path = model.fit(X, X.a**2).save(tmp_path / "model.pacband", trusted=["lightgbm.LGBMRegressor"])
    X.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = here(capfd, monkeypatch, "predict", path, tmp_path / "new.csv")
    assert (code, out) == (2, "")
    trust = err.strip().split("add ", 1)[1].split()
    assert trust == ["--trust", "lightgbm.LGBMRegressor"]
    code, out, _ = here(capfd, monkeypatch, "predict", path, tmp_path / "new.csv", *trust)
    assert code == 0
    assert out.splitlines()[0] == "a,prediction,lower,upper"
    assert len(out.splitlines()) == 301


def test_what_fit_refuses(tmp_path, capfd, monkeypatch):
    good = table(400).drop(columns=["id", "day", "unit"])
    path = tmp_path / "data.csv"

    def said(frame, *options, target="y"):
        frame.to_csv(path, index=False)
        output = [] if "-o" in options else ["-o", tmp_path / "model.pacband"]
        arguments = [path, "--target", target, *PROMISE, "--time-budget", "1", "--jobs", "1", *output, *options]
        code, out, err = here(capfd, monkeypatch, "fit", *arguments)
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


def test_fit_leaves_copies_out_where_it_is_told_to(tmp_path, capfd, monkeypatch):
    rows = table(400).drop(columns=["id", "day", "unit"])
    pd.concat([rows, rows[::10]]).to_csv(tmp_path / "data.csv", index=False)
    rows.to_csv(tmp_path / "once.csv", index=False)
    options = ["--target", "y", *PROMISE, "--time-budget", "1", "--jobs", "1", "--json"]
    model, page = tmp_path / "model.pacband", tmp_path / "report.html"
    code, out, err = here(capfd, monkeypatch, "fit", tmp_path / "data.csv", *options, "-o", model)
    assert (code, out, model.exists()) == (2, "", False)
    assert "fit needs every row once: 40 of 440 rows are copies of other rows" in err
    assert err.endswith("--drop-copies leaves the copies out.\n")
    arguments = [*options, "--drop-copies", "--report", page, "-o", model]
    code, out, err = here(capfd, monkeypatch, "fit", tmp_path / "data.csv", *arguments)
    assert (code, page.exists()) == (0, True)
    assert "Left out 40 of 440 rows, which are copies of other rows." in err
    assert json.loads(out)["rows"] == 400
    code, out, err = here(capfd, monkeypatch, "fit", tmp_path / "once.csv", *options, "--drop-copies", "-o", model)
    assert (code, json.loads(out)["rows"]) == (0, 400)
    assert "Left out" not in err


def test_rows_that_agree_by_chance_are_not_dropped(tmp_path, capfd, monkeypatch):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.integers(0, 5, 400), "y": rng.integers(0, 5, 400)})
    rows.to_csv(tmp_path / "data.csv", index=False)
    options = ["--target", "y", *PROMISE, "--time-budget", "1", "--jobs", "1", "--json", "--drop-copies"]
    code, out, err = here(capfd, monkeypatch, "fit", tmp_path / "data.csv", *options, "-o", tmp_path / "model.pacband")
    assert (code, json.loads(out)["rows"]) == (0, 400)
    assert "Left out" not in err


def test_interrupted_fit_leaves_the_old_model(tmp_path):
    table(400).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "model.pacband").write_bytes(b"old")
    command = [sys.executable, "-m", "pacband", "fit", "data.csv", "--target", "y", *PROMISE, "-o", "model.pacband"]
    process = subprocess.Popen(
        [*command, "--jobs", "1"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if line.startswith("Left out: unit"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "interrupted; nothing was written" in err
    assert (tmp_path / "model.pacband").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "model.pacband"]


def test_a_model_is_checked_on_labelled_rows(fitted, tmp_path):
    folder, _ = fitted
    table(500, seed=5).to_csv(tmp_path / "fresh.csv", index=False, na_rep="NA")
    stands = program("check", folder / "model.pacband", "fresh.csv", "--target", "y", "--json", cwd=tmp_path)
    assert stands.returncode == 0, stands.stderr
    counted = json.loads(stands.stdout)["counts"][0]
    model, fresh = (
        pacband.load(folder / "model.pacband"),
        pd.read_csv(tmp_path / "fresh.csv", na_values="NA", **EXACT),
    )
    ends = model.predict_interval(fresh[list(model.feature_names_in_)])
    outside = (fresh.y < ends[:, 0]) | (fresh.y > ends[:, 1])
    assert (counted["n_samples"], counted["violations"]) == (500, int(outside.sum()))
    fresh.assign(y=fresh.y + 10).to_csv(tmp_path / "drifted.csv", index=False, na_rep="NA")
    assert program("check", folder / "model.pacband", "drifted.csv", "--target", "y", cwd=tmp_path).returncode == 1
    asked = program("check", folder / "model.pacband", "fresh.csv", cwd=tmp_path)
    assert asked.returncode == 2
    assert "name the --target column" in asked.stderr


def linear(n_rows, seed, outputs=1):
    """A table of numbers and texts, and one or two targets."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.uniform(size=n_rows).round(6)})
    for k in range(outputs):
        frame[f"y{k}"] = (k + 1) * frame.a + rng.normal(size=n_rows)
    frame["site"] = np.where(rng.random(n_rows) < 0.5, "north", "south")
    return frame


def fitted_on(frame, *targets, **options):
    y = frame[targets[0]] if len(targets) == 1 else frame[list(targets)]
    estimator = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0, **options)
    return estimator.fit(frame[["a", "b"]], y)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("scale", [None, "symmetric"])
@pytest.mark.parametrize("group", [None, "site"])
def test_a_model_is_judged_as_its_certificate_is_on_what_it_predicts(tmp_path, capfd, monkeypatch, kind, scale, group):
    scale = None if scale is None else pacband.scale.NeighborScale()
    model = fitted_on(linear(600, 0), "y0", scale=scale)
    model.save(tmp_path / "model.pacband")
    # Enough rows for three pieces, with errors that grow in the south.
    fresh = linear(45_000, 1)
    fresh.loc[fresh.site == "south", "y0"] += 0.4
    getattr(fresh, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    named = [] if group is None else ["--group", group]
    code, out, err = here(
        capfd, monkeypatch, "check", tmp_path / "model.pacband", tmp_path / f"rows.{kind}", "--target", "y0", *named,
        "--json",
    )  # fmt: skip
    prediction, width = model._chosen(None)[0].predict_with_scale(fresh[["a", "b"]])
    groups = None if group is None else fresh.site
    expected = pacband.check(model.certificate_, fresh.y0, prediction, width, groups=groups)
    assert (code, err) == (0 if expected.holds else 1, "")
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))


def test_the_level_of_a_model_check_is_a_probability(tmp_path, capfd, monkeypatch):
    fitted_on(linear(400, 0), "y0").save(tmp_path / "model.pacband")
    linear(100, 1).to_csv(tmp_path / "rows.csv", index=False)
    asked = ["check", tmp_path / "model.pacband", tmp_path / "rows.csv", "--target", "y0", "--level", "5"]
    code, out, err = here(capfd, monkeypatch, *asked)
    assert (code, out) == (2, "")
    assert "level must be in (0, 1), got 5" in err


def test_a_model_of_two_outputs_is_checked_on_two_targets(tmp_path, capfd, monkeypatch):
    model = fitted_on(linear(600, 0, 2), "y0", "y1")
    model.save(tmp_path / "model.pacband")
    fresh = linear(500, 1, 2)
    fresh.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["check", tmp_path / "model.pacband", tmp_path / "rows.csv", "--json", "--target", "y0"]
    code, out, err = here(capfd, monkeypatch, *asked, "--target", "y1")
    assert (code, err) == (0, "")
    expected = pacband.check(model.certificate_, fresh[["y0", "y1"]], model.predict(fresh[["a", "b"]]))
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    code, out, err = here(capfd, monkeypatch, *asked)
    assert (code, out) == (2, "")
    assert "the model predicts 2 output(s): name as many target columns, got 1" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_rows_a_model_was_fitted_on_are_known_again(tmp_path, capfd, monkeypatch, kind):
    rows = linear(600, 0)
    fitted_on(rows, "y0").save(tmp_path / "model.pacband")
    asked = ["check", tmp_path / "model.pacband", tmp_path / f"rows.{kind}", "--target", "y0"]
    getattr(rows, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    _, out, _ = here(capfd, monkeypatch, *asked)
    n_training = 600 - pacband.load(tmp_path / "model.pacband").certificate_.n_samples
    assert f"The model was fitted on {n_training} of these 600 rows: only fresh rows can test it." in out
    _, out, _ = here(capfd, monkeypatch, *asked, "--json")
    assert (json.loads(out)["reused"], json.loads(out)["training_rows"]) == (True, n_training)
    mixed = pd.concat([linear(400, 1), rows.iloc[:60]])
    getattr(mixed, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    _, out, _ = here(capfd, monkeypatch, *asked, "--json")
    assert json.loads(out)["reused"]
    assert 0 < json.loads(out)["training_rows"] <= 60
    getattr(linear(400, 1), f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    _, out, _ = here(capfd, monkeypatch, *asked, "--json")
    assert (json.loads(out)["reused"], json.loads(out)["training_rows"]) == (False, 0)


def test_the_rows_that_the_shell_fitted_on_are_known_again(fitted, tmp_path):
    folder, done = fitted
    said = program("check", folder / "model.pacband", folder / "data.csv", "--target", "y", "--json", cwd=tmp_path)
    verdict = json.loads(said.stdout)
    n_samples = json.loads(done.stdout)["certificate"]["candidates"][0]["certificate"]["n_samples"]
    assert (verdict["reused"], verdict["training_rows"]) == (True, 400 - n_samples)


class Gaps(LinearRegression):
    """A model that has no answer where `a` is large."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 2, np.nan, super().predict(X))


def test_a_prediction_that_is_not_a_number_counts_with_a_model_as_with_its_certificate(tmp_path):
    from pacband.tables.model_checking import check_model

    rows = linear(600, 0)
    model = CertifiedRegressor(Gaps(), eps=0.1, delta=0.05, random_state=0, nonfinite="violate")
    model.fit(rows[["a", "b"]], rows.y0)
    fresh = linear(5000, 1)
    prediction = model.predict(fresh[["a", "b"]])
    assert np.isnan(prediction).sum() > 50
    fresh.to_parquet(tmp_path / "rows.parquet")
    with open_files([tmp_path / "rows.parquet"]) as files:
        found = check_model(model, {"a": "number", "b": "number"}, files.relation(["y0"]), target=["y0"])
    assert found == pacband.check(model.certificate_, fresh.y0, prediction)
    assert found.counts[""].violations >= np.isnan(prediction).sum()


def test_a_model_with_groups_is_judged_in_each_of_them(tmp_path):
    from pacband.tables.model_checking import check_model

    rows = linear(900, 0).assign(kind=np.arange(900) % 2)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0, groups="kind")
    model.fit(rows[["a", "kind"]], rows.y0)
    fresh = linear(1000, 1).assign(kind=np.arange(1000) % 2)
    fresh.loc[fresh.kind == 1, "y0"] *= 5
    fresh.to_parquet(tmp_path / "rows.parquet")
    kinds = {"a": "number", "kind": "number"}
    with open_files([tmp_path / "rows.parquet"]) as files:
        found = check_model(model, kinds, files.relation(["y0"]), target=["y0"])
        with pytest.raises(pacband.exceptions.InvalidInput, match="promises within the groups of 'kind'"):
            check_model(model, kinds, files.relation(["y0"]), target=["y0"], group="site")
    assert found == pacband.check(model.certificate_, fresh.y0, model.predict(fresh[["a", "kind"]]), groups=fresh.kind)
    assert found.contradicted == (1,)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("null", r"in the rows from \d+ on: y must be finite"),
        ("9007199254740993", "column 'y0' has integers beyond 2"),
    ],
)
def test_targets_that_cannot_be_scored_are_refused_in_any_piece(tmp_path, capfd, monkeypatch, cells, message):
    fitted_on(linear(400, 0), "y0").save(tmp_path / "model.pacband")
    duckdb.sql(
        f"copy (select i / 7 as a, i / 9 as b, case when i = 29999 then {cells} else i end::decimal(20, 0) as y0 "
        f"from range(30000) t(i)) to '{tmp_path}/rows.parquet'"
    )
    code, out, err = here(
        capfd, monkeypatch, "check", tmp_path / "model.pacband", tmp_path / "rows.parquet", "--target", "y0"
    )
    assert (code, out) == (2, "")
    assert re.search(message, err)
