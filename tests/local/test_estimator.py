"""The local models as scikit-learn regressors, alone and in families."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge, LocalRidge

ESTIMATORS = [
    LocalRidge(),
    LocalRidge(n_neighbors=7, norm=1),
    LocalKernelRidge(),
    LocalKernelRidge(solver="lowrank", weight="tricube", decay=0.2),
    LocalKernelRidge(n_neighbors=7, n_jobs=2),
]


def draw(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


@parametrize_with_checks([*ESTIMATORS, LocalKernelRidge.tuned(n_neighbors=7, gamma=0.5)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(factor=st.sampled_from([1e-280, 1e-160, 3e-5, 7.0, 1e160, 1e280]), sign=st.sampled_from([-1, 1]))
def test_prediction_and_scale_follow_the_units_of_y(estimator, factor, sign):
    X, y = draw(60)
    T, sigma = clone(estimator).fit(X, y).predict(X[:4] + 0.1, return_std=True)
    T2, sigma2 = clone(estimator).fit(X, sign * factor * y).predict(X[:4] + 0.1, return_std=True)
    assert_allclose(T2 / factor, sign * T, rtol=1e-8)
    assert_allclose(sigma2 / factor, sigma, rtol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(seed=st.integers(0, 2**31))
def test_order_of_samples_and_points_does_not_matter(estimator, seed):
    X, y = draw(60)
    rng = np.random.default_rng(seed)
    samples, points = rng.permutation(60), rng.permutation(9)
    Z = X[:9] + 0.1
    first = np.array(clone(estimator).fit(X, y).predict(Z, return_std=True))
    second = clone(estimator).fit(X[samples], y[samples]).predict(Z[points], return_std=True)
    assert_allclose(second, first[:, points], rtol=1e-7)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_survives_pickle_and_keeps_feature_names(estimator):
    X, y = draw()
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = clone(estimator).fit(frame, y)
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    (member,) = estimator.fit_grid(frame, y, [{"decay": estimator.decay}])
    assert_array_equal(member.feature_names_in_, ["a", "b"])
    assert_allclose(member.predict(frame), model.predict(frame), rtol=1e-12)


def test_works_in_a_search():
    X, y = draw()
    search = GridSearchCV(make_pipeline(StandardScaler(), LocalRidge()), {"localridge__decay": [0.01, 3.0]}, cv=3)
    assert search.fit(X, y).best_params_ == {"localridge__decay": 3.0}


CASES = [
    (LocalKernelRidge(), 1, {"decay": [1, 2, 3.5], "alpha": [0.02, 1.0], "gamma": [1.0, 5.0]}),
    (LocalKernelRidge(), 1, {"alpha": [0.1, 0.2], "decay": [1]}),
    (LocalKernelRidge(n_jobs=2), 3, {"decay": [0.5, 1], "weight": ["gaussian", "exponential"], "norm": [1, 2]}),
    (LocalKernelRidge(n_neighbors=20), 3, {"decay": [0.5, 1], "alpha": [0.1, 1], "n_neighbors": [10, 20, None]}),
    (LocalKernelRidge(solver="dense"), 3, {"decay": [0.5, 1], "alpha": [0.1, 1]}),
    (LocalKernelRidge(), 2, {"kernel": [RBF(1.0), RBF(2.0), "linear"], "tol": [1e-10, 1e-4]}),
    (LocalRidge(), 1, {"decay": [1, 2], "alpha": [0.1, 1.0]}),
    (LocalRidge(), 3, {"features": [None, PolynomialFeatures(2)], "norm": [1, 2], "n_neighbors": [None, 15]}),
    (LocalRidge(), 2, {"alpha": [1.0, np.eye(3), np.diag([1.0, 2.0, 3.0])], "weight": ["tricube"], "decay": [0.1]}),
]


def draw_family(dims):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (120, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(120), rng.uniform(-2, 2, (33, dims))


@pytest.mark.parametrize(("estimator", "dims", "parameters"), CASES)
def test_members_are_what_they_would_be_alone(estimator, dims, parameters):
    X, y, points = draw_family(dims)
    grid = list(ParameterGrid(parameters))
    members = estimator.fit_grid(X, y, grid)
    together = estimator.predict_grid(members, points)
    assert len(members) == len(together) == len(grid)
    for member, chosen, (prediction, scale) in zip(members, grid, together, strict=True):
        alone = type(estimator)(**{**estimator.get_params(), **chosen}).fit(X, y)
        assert {name: getattr(member, name) for name in chosen} == chosen or "alpha" in chosen
        assert alone.solver_ == member.solver_
        expected = alone.predict(points, return_std=True)
        assert_allclose((prediction, scale), expected, rtol=1e-11, atol=1e-12)
        assert_allclose(member.predict(points), expected[0], rtol=1e-11, atol=1e-12)


def test_a_grid_may_be_a_mapping_of_values():
    X, y, _ = draw_family(1)
    members = LocalKernelRidge(gamma=1.0).fit_grid(X, y, {"decay": [1.0, 2.0], "alpha": [0.1]})
    assert [(member.decay, member.alpha) for member in members] == [(1.0, 0.1), (2.0, 0.1)]


def test_an_empty_family_is_refused():
    with pytest.raises(InvalidInput, match="members must contain at least one fitted estimator, got none"):
        LocalRidge.predict_grid([], [[0.0]])
    assert LocalRidge().fit_grid([[0.0], [1.0]], [0.0, 1.0], []) == []
