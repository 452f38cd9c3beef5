"""A fit that fails leaves the estimator as it was."""

import inspect

import numpy as np
import pandas as pd
import pytest

from pacband import CertifiedRegressor, LocalRidge, ReusedData
from pacband.exceptions import InvalidInput


@pytest.fixture
def rows(rng):
    X = pd.DataFrame({"a": rng.standard_normal(400), "b": 10 * rng.standard_normal(400)})
    return X, X.a + 5 * X.b + rng.standard_normal(400)


@pytest.fixture
def model(rows):
    return CertifiedRegressor(LocalRidge(decay=0.1), eps=0.2, delta=0.1, random_state=0).fit(*rows)


@pytest.mark.parametrize(
    "fail",
    [
        lambda model, old, new, y: model.fit(new, y, calibration=(new, y)),
        lambda model, old, new, y: model.fit(new[:5], y[:5]),
        lambda model, old, new, y: model.calibrate(old, y),
    ],
    ids=["copies", "few rows", "calibrate"],
)
def test_an_old_certificate_never_meets_new_columns(rows, model, fail):
    X, y = rows
    before, bands = dict(vars(model)), model.predict_interval(X)
    with pytest.raises((ReusedData, InvalidInput)):
        fail(model, X, X[["b", "a"]].assign(c=1.0), y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_interval(X), bands)


def test_an_estimator_that_was_never_fitted_stays_so(rows):
    X, y = rows
    model = CertifiedRegressor(LocalRidge(decay=0.1), eps=0.2, delta=0.1)
    with pytest.raises(InvalidInput):
        model.fit(X[:5], y[:5])
    assert vars(model).keys() == model.get_params(deep=False).keys()


def test_the_parameters_of_fit_are_known_to_scikit_learn():
    assert list(inspect.signature(CertifiedRegressor.fit).parameters)[:3] == ["self", "X", "y"]
