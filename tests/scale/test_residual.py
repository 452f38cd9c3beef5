"""A second model, of the size of the error."""

import numpy as np
from sklearn.linear_model import LinearRegression

from pacband.scale import ResidualScale
from support.noise import nought


def test_the_signal_is_the_exponential_of_the_predicted_log_error(rng):
    X = rng.uniform(-1, 1, (400, 1))
    y = np.exp(X[:, 0]) * rng.standard_normal(400)
    scale = ResidualScale(nought, LinearRegression()).fit(X, y)
    least = 0.1 * np.median(np.abs(y))
    logs = LinearRegression().fit(X, np.log(np.maximum(np.abs(y), least))).predict(X)
    found = np.log(scale.predict(X) / scale.shrinkage_(np.exp(logs - np.median(logs))))
    np.testing.assert_allclose(found, found.mean(), atol=0.2)
    assert scale.regressor_.coef_[0] > 0.7


def test_errors_of_any_size_stay_in_range(rng):
    X, y = rng.uniform(-1, 1, (60, 1)), rng.standard_normal(60)
    scale = ResidualScale(nought, LinearRegression()).fit(X, y)
    assert np.isfinite(scale.predict([[1e6], [-1e6]])).all()
