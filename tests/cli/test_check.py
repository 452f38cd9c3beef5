"""`pacband check`: of a certificate, and of a model."""

import json
import re

import duckdb
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library
from pacband import CertifiedRegressor
from support.estimators import linear
from support.shell import program
from support.shell import training_table as table

# Before its third release pandas read floats to the last bit only where it was asked to.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


def test_check_ends_with_the_verdict(pacband, rows, tmp_path, rng):
    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    reused = pacband("check", "cert.json", "data.csv")
    assert reused.returncode == 2
    assert reused.stdout.startswith(
        "These are the rows that the certificate was made from: only fresh rows can test it."
    )
    assert "do not contradict" not in reused.stdout
    assert json.loads(pacband("check", "cert.json", "data.csv", "--json").stdout)["holds"] is None
    rows.iloc[:-1].to_csv(tmp_path / "fewer.csv", index=False)
    stands = pacband("check", "cert.json", "fewer.csv")
    assert (stands.returncode, stands.stderr) == (0, "")
    assert "do not contradict" in stands.stdout
    rows.assign(y=rows.yhat + 3 * (rows.y - rows.yhat)).to_csv(tmp_path / "drifted.csv", index=False)
    falls = pacband("check", "cert.json", "drifted.csv", "--json")
    assert falls.returncode == 1
    verdict = json.loads(falls.stdout)
    assert not verdict["holds"]
    assert verdict["counts"][0]["p_value"] < 1e-100
    one = rows.assign(y=rows.y.where(rows.site == "north", rows.yhat + 5 * (rows.y - rows.yhat)))
    one.to_parquet(tmp_path / "one.parquet")
    grouped = pacband("check", "cert.json", "one.parquet", "--group", "site")
    assert grouped.returncode == 1
    assert "! south" in grouped.stdout
    assert "! north" not in grouped.stdout


def test_a_model_is_checked_on_labelled_rows(fitted, tmp_path):
    folder, _ = fitted
    table(500, seed=5).to_csv(tmp_path / "fresh.csv", index=False, na_rep="NA")
    stands = program("check", folder / "model.pacband", "fresh.csv", "--target", "y", "--json", cwd=tmp_path)
    assert stands.returncode == 0, stands.stderr
    counted = json.loads(stands.stdout)["counts"][0]
    model, fresh = (
        library.load(folder / "model.pacband"),
        pd.read_csv(tmp_path / "fresh.csv", na_values="NA", **EXACT),
    )
    ends = model.predict_interval(fresh[list(model.feature_names_in_)])
    outside = (fresh.y < ends[:, 0]) | (fresh.y > ends[:, 1])
    assert (counted["n_samples"], counted["violations"]) == (500, int(outside.sum()))
    fresh.assign(y=fresh.y + 10).to_csv(tmp_path / "drifted.csv", index=False, na_rep="NA")
    assert program("check", folder / "model.pacband", "drifted.csv", "--target", "y", cwd=tmp_path).returncode == 1
    # The certificate of `fit` states the target.
    asked = program("check", folder / "model.pacband", "fresh.csv", "--json", cwd=tmp_path)
    assert asked.stdout == stands.stdout


def test_the_rows_that_the_shell_fitted_on_are_known_again(fitted, tmp_path):
    folder, done = fitted
    said = program("check", folder / "model.pacband", folder / "data.csv", "--target", "y", "--json", cwd=tmp_path)
    verdict = json.loads(said.stdout)
    n_samples = json.loads(done.stdout)["certificate"]["candidates"][0]["certificate"]["n_samples"]
    assert (verdict["reused"], verdict["training_rows"]) == (True, 400 - n_samples)


def fitted_on(frame, *targets, **options):
    y = frame[targets[0]] if len(targets) == 1 else frame[list(targets)]
    estimator = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0, **options)
    return estimator.fit(frame[["a", "b"]], y)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("scale", [None, "symmetric"])
@pytest.mark.parametrize("group", [None, "site"])
def test_a_model_is_judged_as_its_certificate_is_on_what_it_predicts(tmp_path, run, kind, scale, group):
    scale = None if scale is None else library.scale.NeighborScale()
    model = fitted_on(linear(600, 0), "y0", scale=scale)
    model.save(tmp_path / "model.pacband")
    # Enough rows for three pieces, with errors that grow in the south.
    fresh = linear(45_000, 1)
    fresh.loc[fresh.site == "south", "y0"] += 0.4
    getattr(fresh, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    named = [] if group is None else ["--group", group]
    code, out, err = run("check", tmp_path / "model.pacband", tmp_path / f"rows.{kind}", "--target", "y0", *named,
        "--json",
    )  # fmt: skip
    prediction, width = model.predict_with_scale(fresh[["a", "b"]])
    groups = None if group is None else fresh.site
    expected = library.check(model.certificate_, fresh.y0, prediction, width, groups=groups)
    assert (code, err) == (0 if expected.holds else 1, "")
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))


def test_the_level_of_a_model_check_is_a_probability(tmp_path, run):
    fitted_on(linear(400, 0), "y0").save(tmp_path / "model.pacband")
    linear(100, 1).to_csv(tmp_path / "rows.csv", index=False)
    asked = ["check", tmp_path / "model.pacband", tmp_path / "rows.csv", "--target", "y0", "--level", "5"]
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert "level must be in (0, 1), got 5" in err


def test_a_model_of_two_outputs_is_checked_on_two_targets(tmp_path, run):
    model = fitted_on(linear(600, 0, 2), "y0", "y1")
    model.save(tmp_path / "model.pacband")
    fresh = linear(500, 1, 2)
    fresh.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["check", tmp_path / "model.pacband", tmp_path / "rows.csv", "--json", "--target", "y0"]
    code, out, err = run(*asked, "--target", "y1")
    assert (code, err) == (0, "")
    expected = library.check(model.certificate_, fresh[["y0", "y1"]], model.predict(fresh[["a", "b"]]))
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert "the model predicts 2 output(s): name as many target columns, got 1" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_rows_a_model_was_fitted_on_are_known_again(tmp_path, run, kind):
    rows = linear(600, 0)
    fitted_on(rows, "y0").save(tmp_path / "model.pacband")
    asked = ["check", tmp_path / "model.pacband", tmp_path / f"rows.{kind}", "--target", "y0"]
    getattr(rows, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    code, out, err = run(*asked)
    assert code == 2
    assert "these rows cannot test the promise." in err
    n_training = 600 - library.load(tmp_path / "model.pacband").certificate_.n_samples
    assert f"The model was fitted on {n_training} of these 600 rows: only fresh rows can test it." in out
    code, out, err = run(*asked, "--json")
    assert (code, json.loads(err)["error"]["exit_code"], json.loads(out)["tested"]) == (2, 2, False)
    assert (json.loads(out)["reused"], json.loads(out)["training_rows"]) == (True, n_training)
    mixed = pd.concat([linear(400, 1), rows.iloc[:60]])
    getattr(mixed, f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    _, out, _ = run(*asked, "--json")
    assert json.loads(out)["reused"]
    assert 0 < json.loads(out)["training_rows"] <= 60
    getattr(linear(400, 1), f"to_{kind}")(tmp_path / f"rows.{kind}", index=False)
    code, out, _ = run(*asked, "--json")
    assert (code, json.loads(out)["tested"]) == (0, True)
    assert (json.loads(out)["reused"], json.loads(out)["training_rows"]) == (False, 0)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("null", r"in the rows from \d+ on: y must be finite"),
        ("9007199254740993", "column 'y0' has integers beyond 2"),
    ],
)
def test_targets_that_cannot_be_scored_are_refused_in_any_piece(tmp_path, run, cells, message):
    fitted_on(linear(400, 0), "y0").save(tmp_path / "model.pacband")
    duckdb.sql(
        f"copy (select i / 7 as a, i / 9 as b, case when i = 29999 then {cells} else i end::decimal(20, 0) as y0 "
        f"from range(30000) t(i)) to '{tmp_path}/rows.parquet'"
    )
    code, out, err = run("check", tmp_path / "model.pacband", tmp_path / "rows.parquet", "--target", "y0")
    assert (code, out) == (2, "")
    assert re.search(message, err)
