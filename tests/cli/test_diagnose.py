"""`pacband diagnose`."""

import json

import numpy as np
import pandas as pd

from support.clean_rows import machines


def test_diagnose_finds_training_rows_in_every_kind_of_file(run, rng, tmp_path):
    x = rng.standard_normal((800, 2))
    scale = np.exp(0.5 * x[:, 0])
    y = x[:, 1] + scale * rng.standard_normal(800)
    frame = pd.DataFrame({"y": y, "p": x[:, 1], "s": scale, "g": rng.integers(0, 5, 800), "a": x[:, 0], "b": x[:, 1]})
    train = frame.iloc[:8].assign(y=lambda rows: rows["y"] + 1.0)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    train.to_csv(tmp_path / "train.csv", index=False)
    columns = ["--target", "y", "--prediction", "p", "--scale", "s", "--group", "g", "--input", "a", "--input", "b"]
    for name in ("rows.csv", "rows.parquet"):
        done = run("diagnose", name, *columns, "--training", "train.csv")
        assert done.returncode == 0, done.stdout
        assert " in 8 checks" in done.stdout.splitlines()[0]
    frame.iloc[:9].to_csv(tmp_path / "train.csv", index=False)
    for name in ("rows.csv", "rows.parquet"):
        code, out, _ = run("diagnose", name, *columns, "--training", "train.csv", "--json")
        assert code == 1
        assert [finding["check"] for finding in json.loads(out)["findings"]] == ["overlap with training"]
        code, _, err = run("diagnose", name, "--target", "y", "--prediction", "q")
        assert code == 2
        assert "there is no column 'q'" in err


def test_training_rows_are_compared_by_the_columns_in_common(run, rng, tmp_path):
    rows = pd.DataFrame({"y": rng.standard_normal(300), "p": rng.standard_normal(300), "x": rng.standard_normal(300)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.drop(columns="p").to_csv(tmp_path / "train.csv", index=False)
    rows[["y"]].to_csv(tmp_path / "bare.csv", index=False)
    columns = ["--target", "y", "--prediction", "p"]
    code, out, _ = run("diagnose", "rows.csv", *columns, "--training", "train.csv")
    assert code == 1
    assert "300 of 300 calibration rows are training rows as well" in out
    code, _, err = run("diagnose", "rows.csv", *columns, "--training", "bare.csv")
    assert code == 2
    assert "no column in common" in err


def test_all_other_columns_are_looked_at(run, rng, tmp_path):
    """On a table without a repeated row none is reported, and machines are found, in any order of the rows."""
    table = machines(rng, 100, 20, 0.5, shuffled=True)
    table.to_csv(tmp_path / "rows.csv", index=False)
    columns = ["--target", "y", "--prediction", "p"]
    code, out, _ = run("diagnose", "rows.csv", *columns, "--json")
    (finding,) = json.loads(out)["findings"]
    assert code == 1
    assert finding["check"] == "dependence within machine"
    assert finding["code"] == "PB003"
    assert "Use --unit machine if new ones are to come, or --group machine if" in finding["advice"]
    code, out, _ = run("diagnose", "rows.csv", *columns, "--unit", "machine")
    assert code == 0, out
    assert out.startswith("No evidence against the promise")
    coarse = pd.DataFrame({"y": rng.integers(0, 9, 900), "p": rng.integers(0, 9, 900), "row": np.arange(900)})
    coarse.to_csv(tmp_path / "coarse.csv", index=False)
    code, out, _ = run("diagnose", "coarse.csv", *columns)
    assert code == 0, out
    assert "note: PB010 tied scores" in out
    assert "The promise holds" not in out
