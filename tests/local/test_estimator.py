"""The local models as scikit-learn regressors."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
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


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def draw(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


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


@pytest.mark.parametrize(
    ("dims", "parameters", "solver"),
    [
        (1, {}, "line"),
        (1, {"weight": "gaussian"}, "lowrank"),
        (1, {"n_neighbors": 10}, "neighbors"),
        (1, {"n_neighbors": 150}, "line"),
        (2, {"gamma": 0.1}, "lowrank"),
        (2, {"norm": np.diag([1.0, 0.0]), "gamma": 0.1}, "line"),
        (2, {"gamma": 1e4}, "dense"),
        (8, {}, "dense"),
        (8, {"kernel": "linear"}, "lowrank"),
    ],
)
def test_auto_says_which_solver_it_took(dims, parameters, solver):
    X, y = draw(dims=dims)
    model = LocalKernelRidge(**parameters).fit(X, y)
    assert model.solver_ == solver
    assert (model.rank_ is not None) == (solver in ("line", "lowrank"))
    explicit = LocalKernelRidge(**{**parameters, "solver": "dense"}).fit(X, y)
    assert_allclose(
        model.predict(X[:3] + 0.1, return_std=True), explicit.predict(X[:3] + 0.1, return_std=True), rtol=1e-6
    )


def test_features_may_be_a_transformer_a_pipeline_or_sparse():
    X, y = draw(dims=1)
    spline = SplineTransformer(6, knots="quantile")
    dense = LocalRidge(spline, alpha=0.1).fit(X, y).predict(X[:5])
    piped = LocalRidge(make_pipeline(StandardScaler(), SplineTransformer(6, knots="quantile")), alpha=0.1)
    assert_allclose(piped.fit(X, y).predict(X[:5]), dense, rtol=1e-8)
    assert not hasattr(spline, "n_features_out_")  # ours is untouched
    levels = np.round(X)
    onehot = LocalRidge(OneHotEncoder(), decay=3).fit(levels, y)
    assert np.isfinite(onehot.predict(levels[:5])).all()


def test_more_features_than_samples():
    X, y = draw(40, dims=60)
    wide = LocalRidge(alpha=0.5).fit(X, y)
    kernel = LocalKernelRidge("poly", gamma=1, degree=1, alpha=0.5, solver="dense").fit(X, y)
    assert_allclose(wide.predict(X[:4] / 2, return_std=True), kernel.predict(X[:4] / 2, return_std=True), rtol=1e-9)


def test_badly_scaled_and_shifted_features_lose_no_digits():
    X, y = draw(dims=2)
    T, sigma = LocalKernelRidge(gamma=0.5, alpha=0.1).fit(X, y).predict(X[:5], return_std=True)
    shift = np.array([1e6, -1e6])
    T2, sigma2 = LocalKernelRidge(gamma=0.5, alpha=0.1).fit(X + shift, y).predict(X[:5] + shift, return_std=True)
    assert_allclose((T2, sigma2), (T, sigma), rtol=1e-6)


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


@pytest.mark.parametrize(
    ("estimator", "dims", "n_samples"),
    [
        (LocalKernelRidge(gamma=0.5, n_jobs=1), 1, 500),
        (LocalKernelRidge(gamma=0.5, n_jobs=1, weight="gaussian"), 1, 500),
        (LocalRidge(weight="gaussian"), 3, 2000),
        (LocalRidge(n_neighbors=30), 3, 2000),
        (LocalKernelRidge(n_neighbors=30, n_jobs=1), 3, 2000),
    ],
)
def test_memory_stays_within_the_budget_and_batches_do_not_change_the_answer(estimator, dims, n_samples):
    X, y = draw(n_samples, dims)
    points = draw(3000, dims, seed=1)[0]
    model = clone(estimator).fit(X, y)
    whole = model.predict(points, return_std=True)
    with sklearn.config_context(working_memory=2):
        tracemalloc.start()
        small = model.predict(points, return_std=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert_allclose(small, whole, rtol=1e-10, atol=1e-13)
    # Some 8 MiB of table, results and cache-sized portions stand beside the batches; N × M alone would be 12 to 48.
    assert peak < 10 * 2**20


def test_dense_solutions_that_do_not_fit_are_refused():
    X, y = draw(400, dims=8)
    with sklearn.config_context(working_memory=1), pytest.raises(InvalidInput, match=r"needs 3 MiB.* set n_neigh"):
        LocalKernelRidge(solver="dense").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be > 0 and finite, or a matrix, got -1\."),
        ({"alpha": np.eye(2)}, r"alpha as a matrix must have shape \(3, 3\).*got \(2, 2\)\."),
        ({"alpha": np.diag([1.0, 1.0, 0.0])}, r"alpha as a matrix must be positive definite"),
        ({"alpha": np.triu(np.ones((3, 3)))}, r"alpha as a matrix must be symmetric"),
        ({"features": "cubic"}, r"features must be None, a transformer or a callable, got 'cubic'\."),
        ({"features": lambda X: X[:3]}, r"features must give a matrix with one row a sample, 150 here"),
        ({"features": lambda X: X * np.inf}, r"features must give finite values"),
        ({"decay": 0}, r"decay must be > 0 and finite, got 0\."),
        ({"n_neighbors": -3}, r"n_neighbors must be None or an integer >= 1, got -3\."),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = draw()
    with pytest.raises(InvalidInput, match=message), np.errstate(invalid="ignore"):
        LocalRidge(**parameters).fit(X, y)
