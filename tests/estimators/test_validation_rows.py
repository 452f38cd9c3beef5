"""Rows for early stopping are training rows: they must not calibrate, and later calls know them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedFamily, CertifiedRegressor, check
from pacband.datasets import paper_sample
from pacband.exceptions import ReusedData

X, Y = paper_sample(900, random_state=0)
OTHER = paper_sample(300, random_state=1)
FRESH = paper_sample(400, random_state=2)
OPTIONS = {"eps": 0.2, "delta": 0.1, "random_state": 0}


class Stops(LinearRegression):
    """A model that takes rows to stop by, in any form."""

    def fit(self, X, y, **validation):
        self.validation_ = validation
        return super().fit(X, y)


def forms(X, y):
    """All forms in which libraries take validation rows."""
    frame = pd.DataFrame(X)
    return [
        {"eval_set": (X, y)},
        {"eval_set": [(X, y)]},
        {"eval_set": [OTHER, (X, y)]},
        {"eval_set": [(frame, pd.Series(y))]},
        {"eval_set": (X.tolist(), y.tolist())},
        {"X_val": X, "y_val": y, "sample_weight_val": np.ones(len(y))},
        {"eval_X": (OTHER[0], X), "eval_y": (OTHER[1], y)},
        {"validation_data": (X, y, np.ones(len(y)))},
    ]


@pytest.mark.parametrize("parameters", forms(*FRESH))
def test_rows_that_calibrate_are_refused_in_every_form(parameters):
    with pytest.raises(ReusedData, match=r"must not hold rows that calibrate.*Separate the rows first"):
        CertifiedRegressor(Stops(), **OPTIONS).fit(X, Y, calibration=FRESH, **parameters)


@pytest.mark.parametrize("parameters", forms(*OTHER))
def test_other_rows_are_accepted_and_remembered(parameters):
    model = CertifiedRegressor(Stops(), **OPTIONS).fit(X, Y, calibration=FRESH, **parameters)
    assert check(model, *OTHER).reused
    with pytest.raises(ReusedData):
        model.calibrate(*OTHER)
    assert not check(model, *paper_sample(300, random_state=5)).reused


def test_the_whole_table_is_refused_where_fit_splits_it():
    with pytest.raises(ReusedData, match="eval_set must not hold rows that calibrate"):
        CertifiedFamily({"a": Stops(), "b": Stops()}, **OPTIONS).fit(X, Y, eval_set=(X, Y))
    with pytest.raises(ReusedData, match="eval_set must not hold"):
        CertifiedRegressor(Stops(), **OPTIONS).fit(X, Y, eval_set=[(X[::50], Y[::50])])


def test_training_rows_may_be_validation_rows_and_are_kept_once():
    plain = CertifiedRegressor(Stops(), **OPTIONS).fit(X, Y, calibration=FRESH)
    model = CertifiedRegressor(Stops(), **OPTIONS).fit(
        X, Y, calibration=FRESH, eval_set=[(X, Y)], rounds=[3, 4], name="a"
    )
    np.testing.assert_array_equal(model.training_rows_, plain.training_rows_)


@pytest.mark.parametrize(
    "value", [None, 3, "text", [], [[]], ["a", "b"], {"X": 1}, [None], lambda: 1, np.float64(2.0), np.array(3.0)]
)
def test_other_parameters_are_left_alone(value):
    model = CertifiedRegressor(Stops(), **OPTIONS).fit(X, Y, option=value)
    assert model.certificate_.n_samples > 0
