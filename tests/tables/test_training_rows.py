"""Rows of files to fit and to calibrate on."""

import numpy as np
import pandas as pd
import pytest

from pacband.checks.copies import find_originals
from pacband.draws import Spaced, Units
from pacband.exceptions import InvalidInput
from pacband.tables.files import open_files
from pacband.tables.training_rows import read_training_rows


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": rng.standard_normal(60),
            "a": rng.standard_normal(60),
            "site": np.arange(60) % 3,
            "day": pd.date_range("2026-01-01", periods=60).astype(str),
            "machine": [f"m{k // 4}" for k in range(60)],
        }
    )
    frame.loc[[5, 17], "y"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def read(path, **options):
    with open_files([path]) as files, files.reading():
        return read_training_rows(files, "y", **options)


def test_every_column_is_used_once_and_rows_without_a_target_are_dropped(path):
    notes = []
    options = {"draws": Units("machine", "average"), "group": "site", "drop_missing_target": True}
    rows = read(path, note=notes.append, **options)
    assert notes == ["Dropped 2 of 60 rows without a target."]
    assert (list(rows.X), list(rows.unused)) == (["a", "site"], ["day"])
    assert len(rows.X) == len(rows.y) == len(rows.unused) == len(rows.draws.labels) == 58
    assert rows.draws.labels[5] == "m1"
    assert {column.name: column.why for column in rows.columns}["machine"] == "it declares the draws"
    some = rows.take(np.array([3, 1]))
    assert (some.y.tolist(), list(some.X.index), list(some.draws.labels)) == (
        rows.y[[3, 1]].tolist(),
        [0, 1],
        ["m0"] * 2,
    )


def test_a_column_may_have_any_name(tmp_path):
    """Two columns of a SELECT with one name would change places."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": rng.standard_normal(60),
            "machine": [f"m{k // 4}" for k in range(60)],
            "pacband_target": rng.standard_normal(60),
            "pacband_draws_0": [f"d{k % 3}" for k in range(60)],
            "___": rng.standard_normal(60),
            "_" * 16 + "_0": rng.standard_normal(60),
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    rows = read(tmp_path / "data.csv", draws=Units("machine"))
    assert list(rows.X) == list(frame)[2:]
    assert rows.y.tolist() == frame.y.tolist()
    assert list(rows.draws.labels) == list(frame.machine)
    assert rows.X.pacband_target.tolist() == frame.pacband_target.tolist()
    assert rows.X.pacband_draws_0.tolist() == frame.pacband_draws_0.tolist()


def test_what_is_refused(path):
    with pytest.raises(InvalidInput, match=r"the target 'y' is missing in 2 rows, the first 5, 17"):
        read(path)
    with pytest.raises(InvalidInput, match="'machine' declares the draws: it cannot be"):
        read(path, draws=Units("machine"), group="machine", drop_missing_target=True)
    path.write_text("y,a\n")
    with pytest.raises(InvalidInput):
        read(path, draws=Spaced(2))


def test_copies_are_found_although_they_have_numbers_of_their_own():
    frame = pd.DataFrame({"id": np.arange(300), "a": np.r_[np.arange(200), np.arange(100)] * 0.37})
    y = frame.a.to_numpy() * 2
    np.testing.assert_array_equal(find_originals(frame, y), np.arange(200))


@pytest.mark.parametrize("within", ["all", 0.9])
@pytest.mark.parametrize("drop", [False, True])
def test_whole_units_need_all_their_targets(path, within, drop):
    with pytest.raises(InvalidInput, match=r"missing in 2 rows, .*\. A promise about whole units needs the targets"):
        read(path, draws=Units("machine", within), drop_missing_target=drop)


def test_units_named_by_fractions_stay_apart(tmp_path):
    labels = [f"1.{k}" for k in range(1, 21) for _ in range(3)]
    frame = pd.DataFrame({"y": np.arange(60.0), "a": np.sqrt(np.arange(60.0)), "machine": labels})
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert list(read(tmp_path / "data.csv", draws=Units("machine")).draws.labels) == labels
