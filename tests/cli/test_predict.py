"""`pacband predict`."""

import json
import os

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library
from pacband import CertifiedRegressor
from support.shell import program
from support.shell import training_table as table
from support.twins import put_in_place

# Before its third release pandas read floats to the last bit only where it was asked to.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}


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
    model = library.load(folder / "model.pacband")
    band = model.predict_interval(new[["a", "b", "colour"]], output="frame")
    np.testing.assert_array_equal(out[["prediction", "lower", "upper"]].to_numpy(), band.to_numpy())


def test_many_rows_of_parquet_stay_in_order_and_of_their_types(tmp_path, run):
    n_rows = 60_000
    duckdb.sql(
        f"copy (select i::int as id, sin(i)::decimal(9, 4) as a, date '2020-01-01' + i::int as day, "
        f"nullif(i % 5, 0)::utinyint as gaps from range({n_rows}) t(i)) to '{tmp_path}/new.parquet' (row_group_size 9000)"
    )
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(X, 3 * X.a)
    model.save(tmp_path / "model.pacband")
    names = ["--prediction", "p", "--lower", "low", "--upper", "high"]
    code, out, err = run("predict", tmp_path / "model.pacband", tmp_path / "new.parquet", *names, "--json",
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


def test_what_predict_refuses(fitted, tmp_path, run):
    folder, _ = fitted
    model = folder / "model.pacband"
    good = table(20, seed=2)[["a", "b", "colour"]]

    def said(frame, *options, columns=None):
        path = tmp_path / "new.csv"
        frame.to_csv(path, index=False)
        code, out, err = run("predict", model, path, *options)
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
    assert "need different names" in said(good, "--upper", "lower")
    assert "the new columns need names that are not empty" in said(good, "--scale-column", "")
    assert "load it with --max-bytes" in said(good, "--max-bytes", "10")
    assert "--json needs an output file" in said(good, "--json")
    assert "is also an input" in said(good, "-o", tmp_path / "new.csv")
    assert "there is no directory" in said(good, "-o", tmp_path / "nowhere" / "out.csv")
    assert pd.read_csv(tmp_path / "new.csv", **EXACT).shape == good.shape
    cert = library.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    code, _, err = run("predict", cert, tmp_path / "new.csv")
    assert code == 2
    assert "is a certificate, not a model" in err
    (tmp_path / "cut.pacband").write_bytes(model.read_bytes()[:-9])
    code, _, err = run("predict", tmp_path / "cut.pacband", tmp_path / "new.csv")
    assert code == 2
    assert "cut.pacband is truncated or damaged" in err
    assert sorted(os.listdir(tmp_path)) == ["cert.json", "cut.pacband", "new.csv"]


def test_types_of_other_packages_have_to_be_trusted(tmp_path, run):
    lightgbm = pytest.importorskip("lightgbm")
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1), eps=0.1, delta=0.05)
    path = model.fit(X, X.a**2).save(tmp_path / "model.pacband", trusted=["lightgbm.LGBMRegressor"])
    X.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run("predict", path, tmp_path / "new.csv")
    assert (code, out) == (2, "")
    trust = err.strip().split()[-2:]
    assert trust == ["--trust", "lightgbm.LGBMRegressor"]
    code, out, _ = run("predict", path, tmp_path / "new.csv", *trust)
    assert code == 0
    assert out.splitlines()[0] == "a,prediction,lower,upper"
    assert len(out.splitlines()) == 301


def test_a_command_to_copy_is_quoted(monkeypatch, run, tmp_path):
    from pacband.exceptions import UntrustedTypes

    def refuse(path, **options):
        raise UntrustedTypes(path, ["lightgbm.x; touch owned", "good.Type"])

    put_in_place(monkeypatch, library.load, refuse)
    (tmp_path / "data.csv").write_text("x\n1\n")
    done = run("predict", "model.pacband", "data.csv")
    assert done.returncode == 2
    assert done.stderr.endswith(" --trust 'lightgbm.x; touch owned' --trust good.Type\n")
