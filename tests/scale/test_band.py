"""A quantile band as a predictor."""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedRegressor, datasets
from pacband.scale import (
    QuantileBand,
)
from support.noise import draw


def test_quantile_band_is_a_regressor_with_its_own_scale():
    X, y, _ = draw(2000, 0, datasets.paper_scale)
    options = {"eps": 0.1, "delta": 0.01, "random_state": 0}
    midpoint = CertifiedRegressor(QuantileBand(cv=2), scale="std", **options).fit(X, y)
    centre, (lower, upper) = midpoint.estimator_.predict(X, return_std=True)
    np.testing.assert_allclose(lower, upper)
    np.testing.assert_array_equal(centre, midpoint.predict(X))
    median = CertifiedRegressor(QuantileBand(centre=KNeighborsRegressor(20), cv=2), scale="std", **options).fit(X, y)
    lower, upper = median.estimator_.predict(X, return_std=True)[1]
    assert np.any(lower != upper)
    plain = CertifiedRegressor(KNeighborsRegressor(20), **options).fit(X, y)
    for model in (midpoint, median):
        assert np.mean(np.diff(model.predict_interval(X), axis=1)) < 0.97 * np.mean(np.diff(plain.predict_interval(X)))
