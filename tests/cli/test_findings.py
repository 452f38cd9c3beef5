"""What the checks of rows find, on the command line: once, on stderr, with the cure; or exit code 1 with --strict."""

import json

import numpy as np
import pandas as pd
import pytest

from support.clean_rows import machines

COLUMNS = ["--target", "y", "--prediction", "p"]
FOUND = "Warning: PB003 rows of one machine resemble each other: intra-class correlation 0.9"
CURE = "Use --unit machine if new ones are to come, or --group machine if future rows come from these, and if each of them has enough rows."


@pytest.fixture
def table(rng):
    return machines(rng, 200, 50, 0.94, shuffled=True)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_machines_are_found_once_with_their_cure(run, tmp_path, table, name):
    getattr(table, "to_csv" if name.endswith("csv") else "to_parquet")(tmp_path / name, index=False)
    code, out, err = run("certify", name, *COLUMNS, "-o", "cert.json", "--json")
    assert code == 0
    assert json.loads(out)["content"]["n_samples"] == 10_000
    assert err.count(FOUND) == err.count("Warning") == 1
    assert CURE in err
    assert (tmp_path / "cert.json").exists()


def test_strict_writes_nothing(run, tmp_path, table):
    table.to_csv(tmp_path / "rows.csv", index=False)
    code, out, err = run("certify", "rows.csv", *COLUMNS, "--strict", "-o", "cert.json", "--report", "page.html")
    assert code == 1
    assert out == ""
    assert FOUND in err
    assert "--strict was given. Nothing was written." in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


def test_declared_units_are_silent_and_sound_rows_pass_strict(run, tmp_path, table, rng):
    table.to_csv(tmp_path / "rows.csv", index=False)
    promise = ["--eps", "0.1", "--delta", "0.01", "--strict"]
    code, _, err = run("certify", "rows.csv", *COLUMNS, "--unit", "machine", *promise)
    assert (code, err) == (0, "")
    table.assign(y=table["p"] + rng.standard_normal(10_000)).to_csv(tmp_path / "sound.csv", index=False)
    code, _, err = run("certify", "sound.csv", *COLUMNS, *promise)
    assert (code, err) == (0, "")


def test_a_large_table_is_looked_at_in_its_engine(run, tmp_path, rng, limit):
    limit(sample=1000)
    table = machines(rng, 100, 500, 0.5, shuffled=False)
    table.to_parquet(tmp_path / "rows.parquet", index=False)
    code, _, err = run("certify", "rows.parquet", *COLUMNS)
    assert code == 0
    assert err.count("Warning") == 1
    assert "rows of one machine resemble each other" in err
    drifting = pd.DataFrame({"p": rng.standard_normal(50_000)})
    drifting["y"] = drifting["p"] + np.linspace(1.0, 3.0, 50_000) * rng.standard_normal(50_000)
    drifting.to_parquet(tmp_path / "late.parquet", index=False)
    _, _, err = run("certify", "late.parquet", *COLUMNS)
    row = int(err.split("scores before row ")[1].split(",")[0])
    assert 15_000 <= row <= 35_000


def test_fit_looks_at_its_calibration_rows(run, tmp_path, rng):
    table = machines(rng, 60, 40, 0.9, shuffled=False)
    table = table.assign(machine=np.char.add("m", table["machine"].astype(str).to_numpy(dtype=str)))
    table.to_csv(tmp_path / "rows.csv", index=False)
    fit = ["fit", "rows.csv", "--target", "y", "--exclude", "machine", "--eps", "0.2", "--delta", "0.05"]
    code, _, err = run(*fit, "--time-budget", "5", "-o", "model.pacband", "--strict")
    assert code == 1
    assert "depend on the rows before" in err
    assert not (tmp_path / "model.pacband").exists()
    # In any order of rows, a column that the model does not use shows it.
    table.sample(frac=1.0, random_state=0).to_csv(tmp_path / "rows.csv", index=False)
    code, _, err = run(*fit, "--time-budget", "5", "-o", "model.pacband")
    assert code == 0
    assert err.count("Warning: PB003 rows of one machine resemble each other") == err.count("Warning") == 1
