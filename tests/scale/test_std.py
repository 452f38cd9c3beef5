"""The predictor's own standard deviation."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband import InvalidInput
from pacband.scale import (
    StdScale,
)


def test_std_of_a_pipeline_and_of_a_model_without_one(rng):
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    model = make_pipeline(StandardScaler(), BayesianRidge())
    np.testing.assert_array_equal(
        StdScale(model).fit(X, y).predict(X), clone(model).fit(X, y).predict(X, return_std=True)[1]
    )
    for silent in (Ridge(), lambda X: np.zeros(len(X))):
        with pytest.raises(InvalidInput, match="StdScale needs predict\\(X, return_std=True\\)"):
            StdScale(silent).fit(X, y)
