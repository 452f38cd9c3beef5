"""`pacband diagnose`."""

import json

import numpy as np
import pandas as pd


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


def test_training_rows_need_inputs_to_compare_by(run, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n1,2\n")
    code, _, err = run("diagnose", "rows.csv", "--target", "y", "--prediction", "p", "--training", "t.csv")
    assert code == 2
    assert "--training needs --input columns" in err
