"""`pacband apply`."""

import os
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband as library

# Before its third release pandas read floats to the last bit only where it was asked to.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


@pytest.mark.parametrize("output", ["bands.csv", "bands.parquet", "-"])
def test_apply_adds_two_columns_and_changes_nothing_else(pacband, rows, tmp_path, output):
    pacband("certify", "data.parquet", *COLUMNS, *PROMISE, "-o", "cert.json")
    done = pacband("apply", "cert.json", "data.csv", "-o", output)
    assert done.returncode == 0, done.stderr
    if output == "-":
        (tmp_path / "bands.csv").write_text(done.stdout)
    path = tmp_path / ("bands.csv" if output == "-" else output)
    bands = pd.read_parquet(path) if output.endswith("parquet") else pd.read_csv(path, dtype={"id": str}, **EXACT)
    ends = library.load(tmp_path / "cert.json").interval(rows.yhat, rows.s)
    assert np.array_equal(bands[["lower", "upper"]].to_numpy(dtype=float), ends)
    assert bands["id"].tolist() == rows["id"].tolist()
    assert list(bands) == [*rows, "lower", "upper"]


def test_apply_by_group_and_by_other_names(pacband, rows, tmp_path):
    pacband(
        "certify", "data.csv", "--target", "y", "--prediction", "yhat", "--group", "site", *PROMISE, "-o", "cert.json"
    )
    rows.drop(columns="y").rename(columns={"yhat": "guess", "site": "place"}).to_parquet(tmp_path / "new.parquet")
    named = ("--prediction", "guess", "--group", "place", "--lower", "low", "--upper", "high")
    done = pacband("apply", "cert.json", "new.parquet", *named, "-o", "bands.parquet")
    assert done.returncode == 0, done.stderr
    bands, cert = pd.read_parquet(tmp_path / "bands.parquet"), library.load(tmp_path / "cert.json")
    assert np.array_equal(bands[["low", "high"]], cert.interval(rows.yhat, rows.site))


def test_standard_output_may_be_a_file_to_append_to(pacband, rows, tmp_path):
    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    shell = (
        f"echo before > all.csv; {sys.executable} -m pacband apply cert.json data.csv >> all.csv; echo after >> all.csv"
    )
    subprocess.run(shell, shell=True, cwd=tmp_path, check=True, env=os.environ)
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("before", "after", len(rows) + 3)


def test_a_reader_that_leaves_early_is_no_error(rows, tmp_path, pacband):
    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    shell = f"{sys.executable} -m pacband apply cert.json data.csv | head -1"
    said = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True, env=os.environ)
    assert said.stdout.startswith("id,y,yhat")
    assert "Traceback" not in said.stderr


def test_rows_come_back_in_their_order(pacband, rows, tmp_path):
    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    duckdb.sql("select i as yhat, 1.0 as s, i from range(300000) t(i)").write_parquet(str(tmp_path / "large.parquet"))
    assert pacband("apply", "cert.json", "large.parquet", "-o", "bands.parquet").returncode == 0
    assert pd.read_parquet(tmp_path / "bands.parquet")["i"].is_monotonic_increasing
