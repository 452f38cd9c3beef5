"""Duplicated rows, and rows shared with training."""

import numpy as np
import pandas as pd

import pacband
from support.diagnosed import checks, sound


def test_one_percent_of_training_rows_is_found(rng):
    for _ in range(20):
        data = sound(rng, 1000)
        X_train, y_train = data["training"]
        rows = rng.choice(1000, 10, replace=False)
        data["X"][rows], data["y"][rows] = X_train[:10], y_train[:10]
        assert "overlap with training" in checks(pacband.diagnose(**data))
    assert "10 of 1000 calibration rows" in str(pacband.diagnose(**data))


def test_copied_rows_are_found_and_coarse_tables_are_not_accused(rng):
    data = sound(rng, 1000)
    for column in ("y", "y_pred", "scale", "X"):
        data[column][:3] = data[column][500:503]
    finding = pacband.diagnose(**data).findings[0]
    assert finding.check == "duplicated rows"
    assert finding.p_value < 1e-12
    assert finding.seen.startswith("3 of 1000 rows")
    for levels in (3, 30, 300):
        x = rng.integers(0, levels, (1000, 2)).astype(float)
        y = x[:, 0] + rng.standard_normal(1000).round(1)
        assert "duplicated rows" not in checks(pacband.diagnose(y, x[:, 0], X=x))
    rounded = rng.standard_normal(1000).round(1)
    assert checks(pacband.diagnose(rounded, np.zeros(1000))) == ["tied scores"]


def test_frames_with_words_are_told_apart(rng):
    frame = pd.DataFrame({"site": rng.choice(["a", "b"], 400), "x": rng.standard_normal(400)})
    y = frame["x"] + rng.standard_normal(400)
    twice = pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    y_twice = pd.concat([y, y.iloc[:1]], ignore_index=True)
    assert pacband.diagnose(y, frame["x"], X=frame).sound
    assert checks(pacband.diagnose(y_twice, twice["x"], X=twice)) == ["duplicated rows"]
