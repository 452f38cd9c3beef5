"""A table in, a table out, with the bits of `predict_interval`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedFamily, CertifiedRegressor
from pacband.delivery.scoring import Scorer, output_names
from pacband.draws import Units
from support.estimators import MODEL_PROMISE, draw, line

ROWS, Y = draw(np.random.default_rng(0), 1500)
X = ROWS[["x"]].to_numpy()


def agrees(model, bands, rows):
    np.testing.assert_array_equal(bands["prediction"], model.predict(rows))
    np.testing.assert_array_equal(bands[["lower", "upper"]].to_numpy(), model.predict_interval(rows))


def test_columns_are_found_by_name_and_the_index_is_kept():
    model = CertifiedRegressor(line(), **MODEL_PROMISE).fit(ROWS, Y)
    shuffled = ROWS[["site", "x"]].assign(note=1).set_axis([f"r{k}" for k in range(len(ROWS))])
    bands = Scorer(model).predict(shuffled)
    assert list(bands.columns) == output_names(model) == ["prediction", "lower", "upper"]
    assert list(bands.index) == list(shuffled.index)
    agrees(model, bands, ROWS)


def test_a_model_of_an_array_takes_columns_by_position():
    two = np.column_stack([X, Y > 0, np.arange(len(Y))]).astype(float)
    model = CertifiedFamily({"line": LinearRegression()}, **MODEL_PROMISE).fit(two, Y)
    mixed = pd.DataFrame({"c": two[:, 0], "b": two[:, 1] > 0, "a": two[:, 2].astype(int)})
    agrees(model, Scorer(model).predict(mixed), two)


def test_gaps_in_a_table_for_an_array_are_nan():
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = CertifiedRegressor(HistGradientBoostingRegressor(max_iter=3), **MODEL_PROMISE).fit(X, Y)
    gaps = pd.DataFrame({"x": pd.array([1, None, 2], dtype="Int64")})
    agrees(model, Scorer(model).predict(gaps), [[1.0], [np.nan], [2.0]])


def test_texts_in_a_table_for_an_array():
    array = ROWS.to_numpy(dtype=object)
    model = CertifiedFamily("auto", time_budget=1, n_jobs=1, **MODEL_PROMISE).fit(array, Y)
    agrees(model, Scorer(model).predict(ROWS.head(20)), array[:20])


def test_groups_get_their_own_bound_however_their_label_is_spelled():
    rows = ROWS.assign(site=ROWS["site"].map({"coast": 1, "hills": 2, "summit": 3}))
    model = CertifiedRegressor(line(), groups="site", **MODEL_PROMISE).fit(rows, Y)
    texts = rows.assign(site=rows["site"].astype(str))
    agrees(model, Scorer(model).predict(texts), rows)
    # What was passed stays as it was.
    assert set(texts["site"]) == {"1", "2", "3"}
    with pytest.raises(pacband.InvalidInput, match="'9'"):
        Scorer(model).predict(texts.assign(site="9"))


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_outputs_are_numbered_where_there_are_several(n_outputs):
    targets = np.column_stack([Y, -2 * Y])[:, :n_outputs]
    model = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(X, targets)
    bands = Scorer(model).predict(ROWS[["x"]])
    names = ["prediction", "lower", "upper"]
    assert list(bands.columns) == (names if n_outputs == 1 else [f"{name}_{k}" for k in range(2) for name in names])
    ends = model.predict_interval(X).reshape(len(X), n_outputs, 2)
    for k in range(n_outputs):
        np.testing.assert_array_equal(bands.iloc[:, 3 * k], model.predict(X)[:, k])
        np.testing.assert_array_equal(bands.iloc[:, 3 * k + 1 : 3 * k + 3], ends[:, k])


def test_the_column_of_units_may_be_there_or_not():
    table = ROWS.assign(machine=np.arange(len(Y)) // 3)
    model = CertifiedRegressor(line(), draws=Units("machine"), **MODEL_PROMISE).fit(table, Y)
    agrees(model, Scorer(model).predict(table), ROWS)
    agrees(model, Scorer(model).predict(ROWS), ROWS)
