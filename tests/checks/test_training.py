"""A fitted model that is calibrated on its own training rows."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import pacband
from pacband.checks.training import check_seen

MODELS = {
    "line": LinearRegression(),
    "ridge": make_pipeline(StandardScaler(), Ridge()),
    "tree": DecisionTreeRegressor(min_samples_leaf=3, random_state=0),
    "forest": RandomForestRegressor(30, oob_score=True, random_state=0),
}


def rows(rng, n=600):
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, 2.0, 0.0] + rng.standard_normal(n)


@pytest.mark.parametrize("name", MODELS)
def test_training_rows_are_found_and_fresh_rows_are_not(rng, name):
    X, y = rows(rng)
    fitted = MODELS[name].fit(X, y)
    model = pacband.CertifiedRegressor(fitted, eps=0.1, delta=0.01)
    with pytest.warns(pacband.PromiseWarning, match=r"The model has probably seen these rows.*training=\(X, y\)"):
        model.calibrate(X, y)
    assert model.calibrate(*rows(rng)).certificate_.n_samples == 600


@pytest.mark.parametrize("scale", [None, pacband.scale.NeighborScale()])
def test_a_frozen_model_is_compared_by_fit_too(rng, scale):
    X, y = rows(rng)
    seen, options = FrozenEstimator(LinearRegression().fit(X, y)), {"eps": 0.1, "delta": 0.05, "random_state": 0}
    # With a scale to fit, only a part of the rows calibrates: the model has seen all of them.
    with pytest.warns(pacband.PromiseWarning, match="has probably seen these rows"):
        pacband.CertifiedRegressor(seen, scale=scale, **options).fit(X, y)
    with pytest.warns(pacband.PromiseWarning, match="has probably seen these rows"):
        pacband.CertifiedFamily({"a": seen, "b": LinearRegression()}, **options).fit(X, y)
    # It may have been fitted on what is trained on here, if other rows calibrate.
    pacband.CertifiedRegressor(seen, scale=scale, **options).fit(X, y, calibration=rows(rng, 300))
    pacband.CertifiedRegressor(seen, scale=scale, **options).fit(*rows(rng))


def test_coarse_errors_few_rows_and_missing_predictions_give_no_sign(rng):
    signs = np.tile([1.0, -1.0], 50)
    assert check_seen(None, signs, np.zeros(100)) is None
    assert check_seen(None, signs[:10], np.zeros(10)) is None
    assert check_seen(None, signs, np.full(100, np.nan)) is None
    assert check_seen(None, np.zeros((100, 2)), np.zeros((100, 2))) is None
