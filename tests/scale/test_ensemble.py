"""The spread of the models in an ensemble."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband import InvalidInput
from pacband.scale import (
    EnsembleScale,
)

FOREST = RandomForestRegressor(5, random_state=0)


def sides(scale, X):
    found = scale.predict(X)
    return found if isinstance(found, tuple) else (found,)


def positive(scale, X):
    return all(side.shape == (len(X),) and (side > 0).all() and np.isfinite(side).all() for side in sides(scale, X))


def test_ensembles_of_every_make(rng):
    X, y = pd.DataFrame(rng.standard_normal((60, 3)), columns=list("abc")), rng.standard_normal(60)
    for model in (
        BaggingRegressor(Ridge(), 4, max_features=2, random_state=0),
        VotingRegressor([("line", LinearRegression()), ("ridge", Ridge(50.0))]),
        make_pipeline(StandardScaler(), FOREST),
        FrozenEstimator(clone(FOREST).fit(X[:30], y[:30])),
    ):
        assert positive(EnsembleScale(model).fit(X, y), X)
    for model in (Ridge(), HistGradientBoostingRegressor(max_iter=3), RandomForestRegressor(1)):
        with pytest.raises(InvalidInput, match="at least 2 models of y in estimators_"):
            EnsembleScale(model).fit(X, y)
    with pytest.raises(InvalidInput, match="models must be a list of at least 2"):
        EnsembleScale(Ridge(), models=[Ridge()]).fit(X, y)


def test_forest_spread_is_that_of_its_trees(rng):
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    scale = EnsembleScale(FrozenEstimator(clone(FOREST).fit(X[:40], y[:40]))).fit(X[40:], y[40:])
    spread = np.std([tree.predict(X) for tree in scale.estimator_.estimators_], axis=0, ddof=1)
    np.testing.assert_allclose(scale.predict(X), scale.shrinkage_(spread))
