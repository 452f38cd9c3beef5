"""Predictions and bands in batches, joined to the rows by their position."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor, InvalidInput
from pacband.tables.files import open_files
from pacband.tables.predicting import write_predictions

NAMES = {"prediction": "p", "lower": "low", "upper": "high"}


@pytest.fixture
def model():
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    return CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(X, 3 * X.a)


def test_every_row_gets_its_own_band_and_progress_is_reported(model, tmp_path):
    n_rows, seen = 50_000, []
    duckdb.sql(f"copy (select sin(i) as a, i from range({n_rows}) t(i)) to '{tmp_path}/new.parquet'")
    output = str(tmp_path / "out.parquet")
    with open_files([tmp_path / "new.parquet"]) as files, files.writing(output):
        relation = files.relation()
        done = write_predictions(
            model, relation, output, names=NAMES, progress=lambda done, total: seen.append((done, total))
        )
    assert done == n_rows
    assert len(seen) > 1
    assert seen[-1] == (n_rows, n_rows)
    found = pd.read_parquet(output)
    assert list(found) == ["a", "i", "p", "low", "high"]
    np.testing.assert_array_equal(found["i"], np.arange(n_rows))
    np.testing.assert_array_equal(found[["low", "high"]], model.predict_interval(found[["a"]]))


def test_a_column_of_the_table_is_never_replaced(model, tmp_path):
    pd.DataFrame({"a": [0.5], "low": [1.0]}).to_csv(tmp_path / "new.csv", index=False)
    output = str(tmp_path / "out.csv")
    with (
        pytest.raises(InvalidInput, match="the table has a column 'low' already: choose another name"),
        open_files([tmp_path / "new.csv"]) as files,
        files.writing(output),
    ):
        write_predictions(model, files.relation(), output, names=NAMES)
    assert not (tmp_path / "out.csv").exists()
