"""A table with predictions in the place of a model: the same bits beside the same rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor, InvalidInput
from pacband.tables import model_rows
from pacband.tables.files import open_files
from pacband.tables.model_rows import ModelTable
from pacband.tables.new_columns import NewColumns
from pacband.tables.predicted import predicted_table
from support.estimators import linear

PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}


@pytest.fixture
def small_batches(monkeypatch):
    """Read rows in batches of 64."""
    whole = model_rows.batches

    def small(relation, columns):
        for table in whole(relation, columns):
            for start in range(0, len(table), 64):
                yield table.iloc[start : start + 64].reset_index(drop=True)

    monkeypatch.setattr(model_rows, "batches", small)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predictions_and_scales_stand_beside_their_rows(tmp_path, small_batches, kind):
    rows, fresh = linear(600, 0, 2), linear(500, 1, 2)
    pair = lambda X: (1 + X["a"].abs(), 2 + X["b"])  # noqa: E731
    model = CertifiedRegressor(LinearRegression(), scale=pair, **PROMISE)
    model.fit(rows[["a", "b"]], rows[["y0", "y1"]])
    # A column has the name that a new one might have.
    fresh["prediction"] = "mine"
    getattr(fresh, f"to_{kind}")(tmp_path / f"fresh.{kind}", index=False)
    with open_files([tmp_path / f"fresh.{kind}"]) as files:
        table = ModelTable.of(model, files.relation(["y0", "y1"]), target=["y0", "y1"])
        with predicted_table(table) as predicted:
            found = predicted.relation.df()
            columns = predicted.columns
    prediction, scale = model.predict_with_scale(fresh[["a", "b"]])
    np.testing.assert_array_equal(found[list(columns.prediction)], prediction)
    assert [len(part) for part in columns.scale] == [1, 1]
    np.testing.assert_array_equal(found[[part[0] for part in columns.scale]].to_numpy().T, np.array(scale))
    assert found["prediction"].eq("mine").all()
    np.testing.assert_array_equal(found["y0"], fresh["y0"])
    assert list(found)[: fresh.shape[1]] == list(fresh)
    assert (predicted.seen.n_rows, predicted.seen_units) == (0, 0)


def test_a_prediction_beside_another_row_is_refused(tmp_path, monkeypatch):
    rows = linear(300, 0)
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(rows[["a", "b"]], rows.y0)
    linear(200, 1).to_csv(tmp_path / "fresh.csv", index=False)
    add = NewColumns.add
    # As if the rows came in another order the second time.
    monkeypatch.setattr(NewColumns, "add", lambda self, frame, hashes: add(self, frame, hashes[::-1].to_numpy()))
    with open_files([tmp_path / "fresh.csv"]) as files:
        table = ModelTable.of(model, files.relation(["y0"]), target=["y0"])
        with pytest.raises(Exception, match="the rows were read in another order"), predicted_table(table):
            pytest.fail("the table must not be used")


def test_the_groups_of_a_model_have_the_labels_of_its_certificate(tmp_path, small_batches):
    rows, fresh = (linear(600, seed).assign(kind=np.arange(600) % 2 + 1) for seed in (0, 1))
    model = CertifiedRegressor(LinearRegression(), groups="kind", **PROMISE).fit(rows[["a", "kind"]], rows.y0)
    fresh.assign(kind=[f"{kind}.0" for kind in fresh.kind]).to_csv(tmp_path / "fresh.csv", index=False)
    with open_files([tmp_path / "fresh.csv"]) as files:
        relation = files.relation(["y0"])
        with predicted_table(ModelTable.of(model, relation, target=["y0"])) as predicted:
            np.testing.assert_array_equal(predicted.relation.df()["kind"], fresh.kind)
            assert predicted.columns.group == "kind"
        with pytest.raises(InvalidInput, match="promises within the groups of 'kind'"):
            ModelTable.of(model, relation, target=["y0"], group="site")
        with pytest.raises(InvalidInput, match="name as many target columns, got 2"):
            ModelTable.of(model, relation, target=["y0", "a"])


def test_an_empty_table_is_refused(tmp_path):
    rows = linear(300, 0)
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(rows[["a", "b"]], rows.y0)
    pd.DataFrame(columns=["a", "b", "y0"]).to_csv(tmp_path / "none.csv", index=False)
    with open_files([tmp_path / "none.csv"]) as files:
        table = ModelTable.of(model, files.relation(["y0"]), target=["y0"])
        with pytest.raises(InvalidInput, match="the table has no rows"), predicted_table(table):
            pytest.fail("the table must not be used")
