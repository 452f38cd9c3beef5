"""Rows to predict: their columns are found by name, as on the command line."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput
from pacband.draws import Units
from support.estimators import PROMISE, linear

TABLE = linear(800, 0)
FRESH = linear(400, 1)
FEATURES = ["a", "b"]


@pytest.fixture(scope="module", params=["pandas", "polars"])
def library(request):
    return {"pandas": lambda frame: frame, "polars": pl.from_pandas}[request.param]


def regressor(**options):
    return CertifiedRegressor(LinearRegression(), random_state=0, **PROMISE, **options)


def test_columns_are_found_by_name_in_every_method(library):
    model = regressor().fit(library(TABLE[FEATURES]), TABLE.y0.to_numpy())
    rows, mixed = library(FRESH[FEATURES]), library(FRESH[["y0", "b", "site", "a"]])
    np.testing.assert_array_equal(model.predict(mixed), model.predict(rows))
    np.testing.assert_array_equal(model.predict_interval(mixed), model.predict_interval(rows))
    np.testing.assert_array_equal(model.predict_with_scale(mixed)[0], model.predict_with_scale(rows)[0])
    assert model.score(mixed, FRESH.y0) == model.score(rows, FRESH.y0)
    expected = model.calibrate(rows, FRESH.y0.to_numpy()).certificate_.gamma
    assert model.calibrate(mixed, FRESH.y0.to_numpy()).certificate_.gamma == expected
    apart = regressor().fit(library(TABLE[FEATURES]), TABLE.y0.to_numpy(), calibration=(mixed, FRESH.y0.to_numpy()))
    assert apart.certificate_.n_samples == len(FRESH)


def test_the_frame_of_a_band_keeps_the_index():
    model = regressor().fit(TABLE[FEATURES], TABLE.y0)
    mixed = FRESH[["b", "site", "a"]].iloc[[5, 3, 5]]
    assert list(model.predict_interval(mixed, output="frame").index) == [5, 3, 5]


def test_a_family_finds_them_too():
    family = CertifiedFamily({"one": LinearRegression(), "two": LinearRegression(positive=True)}, **PROMISE)
    family.fit(TABLE[FEATURES], TABLE.y0)
    mixed = FRESH[["b", "site", "a"]]
    np.testing.assert_array_equal(
        family.predict_interval(mixed, candidate="two"), family.predict_interval(FRESH[FEATURES], candidate="two")
    )


def test_the_column_of_units_is_still_no_feature():
    table = TABLE.assign(machine=np.arange(len(TABLE)) // 2)
    model = regressor(draws=Units("machine")).fit(table[["machine", *FEATURES]], table.y0)
    np.testing.assert_array_equal(model.predict(table[["b", "machine", "a", "y0"]]), model.predict(table[FEATURES]))


def test_missing_columns_are_named(library):
    model = regressor().fit(library(TABLE[FEATURES]), TABLE.y0.to_numpy())
    for call in (model.predict, model.predict_interval, model.predict_with_scale):
        with pytest.raises(InvalidInput, match=r"fitted on, 'a', 'b': 'b' is missing\. It has 'y0', 'a'"):
            call(library(FRESH[["y0", "a"]]))
    before = model.certificate_
    with pytest.raises(InvalidInput, match="'a', 'b' are missing"):
        model.calibrate(library(FRESH[["site"]]), FRESH.y0.to_numpy())
    assert model.certificate_ is before


def test_arrays_have_no_names():
    model = regressor().fit(TABLE[FEATURES].to_numpy(), TABLE.y0)
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict(FRESH[["a", "b"]].assign(c=0.0).to_numpy())


def test_a_table_of_a_fit_may_not_be_a_pandas_one():
    model = regressor().fit(TABLE[FEATURES], TABLE.y0)
    np.testing.assert_array_equal(
        model.predict(pl.from_pandas(FRESH[["b", "a"]])), model.predict(pd.DataFrame(FRESH[FEATURES]))
    )
