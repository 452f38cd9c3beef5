import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacband import CertifiedRegressor
from pacband.exceptions import InvalidInput
from pacband.scale import ParzenScale


@parametrize_with_checks([ParzenScale(LinearRegression()), ParzenScale(LinearRegression(), n_neighbors=4)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def zero(X):
    return np.zeros(len(X))


def draw(dims=2, n=90):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (n, dims))
    return X, X[:, 0] + np.exp(X[:, 0]) * rng.standard_normal(n), rng.uniform(-2, 2, (7, dims))


@pytest.mark.parametrize("dims", [1, 3, 8])
@pytest.mark.parametrize("n_neighbors", [None, 11])
@pytest.mark.parametrize("norm", [1, 2, np.inf])
@pytest.mark.parametrize(
    ("weight", "profile"),
    [
        ("exponential", lambda t: np.exp(-t)),
        ("gaussian", lambda t: np.exp(-(t**2))),
        ("epanechnikov", lambda t: np.maximum(0, 1 - t**2)),
        ("tricube", lambda t: np.maximum(0, 1 - t**3) ** 3),
        (lambda t: 1 / (1 + t), lambda t: 1 / (1 + t)),
    ],
)
def test_is_the_weighted_mean_square_error(dims, n_neighbors, norm, weight, profile):
    X, y, points = draw(dims)
    scale = ParzenScale(zero, weight=weight, decay=0.1, norm=norm, n_neighbors=n_neighbors).fit(X, y)
    for x, sigma in zip(points, scale.predict(points), strict=True):
        d = np.linalg.norm(X - x, ord=norm, axis=1)
        gamma = profile(0.1 * d) * (d <= np.sort(d)[(n_neighbors or len(d)) - 1])
        assert_allclose(sigma, np.sqrt(np.sum(gamma * y**2) / gamma.sum()), rtol=1e-12)


def test_limits():
    X, y, points = draw()
    assert_allclose(ParzenScale(zero, decay=1e-14).fit(X, y).predict(points), np.sqrt(np.mean(y**2)), rtol=1e-12)
    nearest = np.abs(y[np.linalg.norm(points[:, None] - X, axis=2).argmin(axis=1)])
    assert_allclose(ParzenScale(zero, n_neighbors=1).fit(X, y).predict(points), nearest, rtol=1e-12)
    assert_allclose(ParzenScale(zero, decay=1e12).fit(X, y).predict(points), nearest, rtol=1e-12)


def test_fitted_frozen_and_callable_predictors_are_used_as_they_are():
    X, y, points = draw()
    other = LinearRegression().fit(X[:40], y[:40])
    expected = ParzenScale(other.predict).fit(X, y)
    assert_allclose(expected.errors_, y - other.predict(X))
    for estimator in (other, FrozenEstimator(other)):
        assert_allclose(ParzenScale(estimator).fit(X, y).predict(points), expected.predict(points), rtol=1e-12)
    frozen = clone(ParzenScale(FrozenEstimator(other)))
    assert_allclose(frozen.fit(X, y).predict(points), expected.predict(points), rtol=1e-12)


def test_errors_of_an_unfitted_predictor_are_out_of_fold():
    X, y, _ = draw()
    memory = KNeighborsRegressor(1)  # knows its own samples by heart
    assert np.abs(ParzenScale(KNeighborsRegressor(1).fit(X, y)).fit(X, y).errors_).max() == 0
    errors = ParzenScale(memory).fit(X, y).errors_
    assert np.sqrt(np.mean(errors**2)) > 0.5 * np.std(y)
    assert not hasattr(memory, "n_features_in_")
    # Folds are drawn at random, so that a sorted table is not extrapolated.
    x = np.linspace(0, 1, 100)[:, None]
    assert np.abs(ParzenScale(KNeighborsRegressor(2)).fit(x, x[:, 0]).errors_).max() < 0.05


def test_positive_where_all_errors_vanish():
    X, y, points = draw()
    perfect = ParzenScale(lambda Z: y if len(Z) == len(y) else zero(Z)).fit(X, y)
    assert_allclose(perfect.predict(points), np.finfo(float).eps * np.abs(y).max())
    assert (ParzenScale(zero).fit(X, 0 * y).predict(points) == np.finfo(float).tiny).all()
    far = ParzenScale(zero, decay=50).fit(X, y).predict(np.full((1, 2), 1e6))
    assert np.isfinite(far).all()
    assert (far > 0).all()


@given(factor=st.sampled_from([1e-280, 1e-160, 0.3, 1e160, 1e280]), seed=st.integers(0, 99))
def test_follows_the_units_of_y_and_no_order(factor, seed):
    X, y, points = draw()
    order = np.random.default_rng(seed).permutation(len(y))
    first = ParzenScale(zero).fit(X, y).predict(points)
    second = ParzenScale(zero).fit(X[order], factor * y[order]).predict(points)
    assert_allclose(second / factor, first, rtol=1e-10)


def test_belongs_to_the_predictor_it_is_used_with():
    X, y, _ = draw(n=400)
    model = CertifiedRegressor(KNeighborsRegressor(5), scale=ParzenScale(decay=3.0), eps=0.2, delta=0.1, random_state=0)
    model.fit(X, y)
    assert model.certificate_.scale_kind == "symmetric"
    assert np.abs(model.scale_.errors_).min() > 0


def test_small_integers_do_not_wrap():
    X = np.arange(5.0)[:, None]
    assert (ParzenScale(zero).fit(X, np.array([-128, 1, 2, 3, 4], dtype=np.int8)).predict(X) > 0).all()


def test_survives_pickle():
    X, y, points = draw()
    scale = ParzenScale(LinearRegression(), n_neighbors=9).fit(X, y)
    assert_allclose(pickle.loads(pickle.dumps(scale)).predict(points), scale.predict(points))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": 3}, r"an estimator must have a predict method or be a function, got 3\."),
        ({"estimator": lambda X: X}, r"the predictor must give one number a row, \(90,\), got shape \(90, 2\)\."),
        ({"estimator": lambda X: X[:, 0] / 0}, "predictions must be finite for a scale to be learnt"),
        ({"estimator": zero, "decay": -1}, r"decay must be a positive finite number, got -1\."),
        ({"estimator": LinearRegression(), "cv": 1}, r"cv must be at least 2 folds, got 1\."),
        ({}, "ParzenScale has estimator=None, the predictor it is used with, but it is fitted alone"),
        ({"estimator": zero, "weight": "box"}, r"weight must be one of"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    X, y, _ = draw()
    with pytest.raises(InvalidInput, match=message), np.errstate(all="ignore"):
        ParzenScale(**arguments).fit(X, y)
