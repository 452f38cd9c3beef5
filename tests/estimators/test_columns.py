"""Bands as dataframes of the library of X."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor
from support.estimators import PROMISE, X_NEW, Y_NEW, X, Y, sine


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frame_in_frame_out(frame):
    table = frame({"x": X[:, 0]})
    model = CertifiedRegressor(LinearRegression(), random_state=0, **PROMISE).fit(table, Y)
    assert list(model.feature_names_in_) == ["x"]
    result = model.predict_interval(table, output="frame")
    assert isinstance(result, frame)
    assert list(result.columns) == ["prediction", "lower", "upper"]
    np.testing.assert_array_equal(result[["lower", "upper"]].to_numpy(), model.predict_interval(table))


def test_pandas_index_is_kept():
    table = pd.DataFrame({"lower": X[:4, 0]}, index=list("abcd"))
    model = CertifiedRegressor(sine, **PROMISE).calibrate(pd.DataFrame({"lower": X_NEW[:, 0]}), Y_NEW)
    result = model.predict_interval(table, output="frame")
    assert list(result.index) == list("abcd")
    np.testing.assert_array_equal(result["lower"], model.predict_interval(table)[:, 0])
