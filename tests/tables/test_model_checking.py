"""A model is judged on raw rows as its certificate is on what the model predicts."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor, InvalidInput, check
from pacband.tables.files import open_files
from pacband.tables.model_checking import check_model
from support.estimators import linear


class Gaps(LinearRegression):
    """A model that has no answer where `a` is large."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 2, np.nan, super().predict(X))


def test_a_prediction_that_is_not_a_number_counts_with_a_model_as_with_its_certificate(tmp_path):
    rows = linear(600, 0)
    model = CertifiedRegressor(Gaps(), eps=0.1, delta=0.05, random_state=0, nonfinite="violate")
    model.fit(rows[["a", "b"]], rows.y0)
    fresh = linear(5000, 1)
    prediction = model.predict(fresh[["a", "b"]])
    assert np.isnan(prediction).sum() > 50
    fresh.to_parquet(tmp_path / "rows.parquet")
    with open_files([tmp_path / "rows.parquet"]) as files:
        found = check_model(model, {"a": "number", "b": "number"}, files.relation(["y0"]), target=["y0"])
    assert found == check(model.certificate_, fresh.y0, prediction)
    assert found.counts[""].violations >= np.isnan(prediction).sum()


def test_a_model_with_groups_is_judged_in_each_of_them(tmp_path):
    rows = linear(900, 0).assign(kind=np.arange(900) % 2)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0, groups="kind")
    model.fit(rows[["a", "kind"]], rows.y0)
    fresh = linear(1000, 1).assign(kind=np.arange(1000) % 2)
    fresh.loc[fresh.kind == 1, "y0"] *= 5
    fresh.to_parquet(tmp_path / "rows.parquet")
    kinds = {"a": "number", "kind": "number"}
    with open_files([tmp_path / "rows.parquet"]) as files:
        found = check_model(model, kinds, files.relation(["y0"]), target=["y0"])
        with pytest.raises(InvalidInput, match="promises within the groups of 'kind'"):
            check_model(model, kinds, files.relation(["y0"]), target=["y0"], group="site")
    assert found == check(model.certificate_, fresh.y0, model.predict(fresh[["a", "kind"]]), groups=fresh.kind)
    assert found.contradicted == (1,)
