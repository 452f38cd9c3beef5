"""A model is judged on raw rows as its certificate is on what the model predicts."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor, InvalidInput, check
from pacband.draws import Units
from pacband.tables.files import open_files
from pacband.tables.model_checking import check_model
from pacband.tables.model_rows import ModelTable
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
        found = check_model(ModelTable.of(model, files.relation(["y0"]), target=["y0"]))
    assert found == check(model.certificate_, fresh.y0, prediction)
    assert found.counts[""].violations >= np.isnan(prediction).sum()


def test_a_model_with_groups_is_judged_in_each_of_them(tmp_path):
    rows = linear(900, 0).assign(kind=np.arange(900) % 2)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0, groups="kind")
    model.fit(rows[["a", "kind"]], rows.y0)
    fresh = linear(1000, 1).assign(kind=np.arange(1000) % 2)
    fresh.loc[fresh.kind == 1, "y0"] *= 5
    fresh.to_parquet(tmp_path / "rows.parquet")
    with open_files([tmp_path / "rows.parquet"]) as files:
        found = check_model(ModelTable.of(model, files.relation(["y0"]), target=["y0"]))
        with pytest.raises(InvalidInput, match="promises within the groups of 'kind'"):
            check_model(ModelTable.of(model, files.relation(["y0"]), target=["y0"], group="site"))
    assert found == check(model.certificate_, fresh.y0, model.predict(fresh[["a", "kind"]]), groups=fresh.kind)
    assert found.contradicted == (1,)


def machines(seed, n_units, first=0):
    rng = np.random.default_rng(seed)
    unit = np.arange(first, first + n_units).repeat(4)
    rows = linear(4 * n_units, seed).assign(machine=unit)
    rows["y0"] += rng.standard_normal(n_units).repeat(4)
    return rows


def test_new_rows_of_units_that_the_model_was_fitted_on_cannot_test_it(tmp_path):
    rows = machines(0, 150)
    model = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0, draws=Units("machine"))
    model.fit(rows[["machine", "a"]], rows.y0)
    fit, _ = model.split_indices(rows[["machine", "a"]], rows.y0)
    n_fit = rows.machine.iloc[fit].nunique()

    def found(fresh):
        fresh.to_parquet(tmp_path / "rows.parquet")
        with open_files([tmp_path / "rows.parquet"]) as files:
            return check_model(ModelTable.of(model, files.relation(["y0"]), target=["y0"]))

    # The same machines with other rows, then new machines.
    seen, fresh = found(machines(1, 150)), found(machines(1, 150, first=1000))
    assert (seen.reused, seen.training_units, seen.training_rows) == (True, n_fit, 0)
    words = f"The model was fitted on {n_fit} of these 150 machines: only new machines can test it."
    assert words in str(seen)
    assert seen.to_dict()["training_units"] == n_fit
    assert (fresh.reused, fresh.training_units) == (False, 0)
    assert "fitted on" not in str(fresh)
    assert fresh.counts == seen.counts
