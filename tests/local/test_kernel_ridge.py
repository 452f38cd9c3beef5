"""LocalKernelRidge: parameters, limits, and what it refuses."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).standard_normal((70, 3))


def test_gaussian_process_kernels_have_their_own_scale(X):
    y = np.sin(X[:, 0])
    scaled = LocalKernelRidge(ConstantKernel(50.0) * RBF(np.sqrt(0.1))).fit(X, y)
    plain = LocalKernelRidge("rbf", gamma=5, alpha=1 / 50).fit(X, y)
    assert_allclose(scaled.predict(X[:5]), plain.predict(X[:5]), rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, r"kernel must be one of .* or a callable, got 'cosine'\."),
        ({"gamma": 0}, r"gamma must be a positive finite number, got 0\."),
        ({"gamma": -2.0}, r"gamma must be a positive finite number, got -2\.0\."),
        ({"degree": 0}, r"degree must be a positive finite number, got 0\."),
        ({"coef0": np.nan}, r"coef0 must be a finite number, got nan\."),
        ({"alpha": 0.0}, r"alpha must be a positive finite number, got 0\.0\."),
        ({"alpha": np.eye(3)}, r"alpha must be a positive finite number, got array"),
        ({"tol": 1.0}, r"tol must be in \(0, 1\), got 1\.0\."),
        ({"solver": "fast"}, r"solver must be one of .*, got 'fast'\."),
        ({"solver": "line"}, r"solver='line' needs distances along one direction, got 3 dimensions\."),
        ({"solver": "line", "weight": "gaussian"}, r"solver='line' needs weight='exponential', got 'gaussian'\."),
        ({"solver": "line", "n_neighbors": 4}, r"solver='line' needs n_neighbors=None, got 4\."),
        ({"solver": "neighbors"}, r"solver='neighbors' needs n_neighbors, got None\."),
        ({"n_jobs": 0}, r"n_jobs must be None or a whole number other than 0, got 0\."),
        ({"decay": -1}, r"decay must be a positive finite number, got -1\."),
        ({"norm": 0}, r"norm must be 1, 2, inf or a positive semidefinite matrix, got 0\."),
        ({"kernel": lambda A, B: A}, r"must return a matrix of shape"),
        ({"kernel": lambda A, B: A @ B.T * np.nan}, r"must return finite values"),
        ({"kernel": "poly", "degree": 400, "gamma": 1e3}, r"must give finite values: scale the features"),
    ],
)
def test_bad_parameters_are_named(X, parameters, message):
    with pytest.raises(InvalidInput, match=message):
        LocalKernelRidge(**parameters).fit(X, X[:, 0])


def test_auto_says_when_it_falls_back_to_dense_solves():
    X = np.random.default_rng(0).normal(size=(1100, 8))
    with pytest.warns(UserWarning, match="falls back to 'dense', one 1100 × 1100 factorization for every point"):
        model = LocalKernelRidge(gamma=1.0).fit(X, X[:, 0])
    assert model.solver_ == "dense"


SOLVERS = ["dense", "lowrank", "line", "neighbors"]


@pytest.fixture
def table():
    rng = np.random.default_rng(7)
    X = rng.uniform(-2, 2, (80, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80), rng.uniform(-2, 2, (9, 1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_decay_is_kernel_ridge(table, solver):
    X, y, points = table
    n_neighbors = 80 if solver == "neighbors" else None
    model = LocalKernelRidge(gamma=1.5, alpha=0.1, decay=1e-13, n_neighbors=n_neighbors, solver=solver, tol=1e-13)
    reference = KernelRidge(kernel="rbf", gamma=1.5, alpha=0.1).fit(X, y)
    prediction, scale = model.fit(X, y).predict(points, return_std=True)
    assert_allclose(prediction, reference.predict(points), rtol=1e-9)
    assert_allclose(scale, np.sqrt(np.mean((y - reference.predict(X)) ** 2)), rtol=1e-9)


@pytest.mark.parametrize("weight", ["exponential", "gaussian", "epanechnikov", "tricube"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_endless_decay_is_the_nearest_sample(table, solver, weight):
    if solver == "line" and weight != "exponential":
        pytest.skip("a line needs exponential weights")
    X, y, points = table
    n_neighbors = 40 if solver == "neighbors" else None
    model = LocalKernelRidge(
        gamma=0.5,
        alpha=0.2,
        decay=1e12,
        weight=weight,
        n_neighbors=n_neighbors,
        solver=solver,
    )
    prediction, scale = model.fit(X, y).predict(points, return_std=True)
    nearest = np.abs(points - X.T).argmin(axis=1)
    k = np.exp(-0.5 * (points - X[nearest])[:, 0] ** 2)
    # The ridge fit to one sample of weight one.
    assert_allclose(prediction, k * y[nearest] / 1.2, rtol=1e-7)
    assert_allclose(scale, np.abs(y[nearest]) * 0.2 / 1.2, rtol=1e-6)


def test_one_neighbor_is_the_ridge_fit_to_it(table):
    X, y, points = table
    nearest = np.abs(points - X.T).argmin(axis=1)
    gap = np.abs(points - X[nearest])[:, 0]
    gamma, k = np.exp(-3 * gap), np.exp(-0.5 * gap**2)
    model = LocalKernelRidge(gamma=0.5, alpha=0.2, decay=3, n_neighbors=1).fit(X, y)
    prediction, scale = model.predict(points, return_std=True)
    assert model.solver_ == "neighbors"
    assert_allclose(prediction, gamma * k * y[nearest] / (0.2 + gamma), rtol=1e-12)
    assert_allclose(scale, np.abs(y[nearest]) / (1 + gamma / 0.2), rtol=1e-12)
    nearly = LocalKernelRidge(gamma=1e-9, alpha=1e-9, decay=1e-9, n_neighbors=1).fit(X, y)
    assert_allclose(nearly.predict(points), y[nearest], rtol=1e-8)


def draw(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def test_badly_scaled_and_shifted_features_lose_no_digits():
    X, y = draw(dims=2)
    T, sigma = LocalKernelRidge(gamma=0.5, alpha=0.1).fit(X, y).predict(X[:5], return_std=True)
    shift = np.array([1e6, -1e6])
    T2, sigma2 = LocalKernelRidge(gamma=0.5, alpha=0.1).fit(X + shift, y).predict(X[:5] + shift, return_std=True)
    assert_allclose((T2, sigma2), (T, sigma), rtol=1e-6)


def test_dense_solutions_that_do_not_fit_are_refused():
    X, y = draw(400, dims=8)
    with sklearn.config_context(working_memory=1), pytest.raises(InvalidInput, match=r"needs 3 MiB.* set n_neigh"):
        LocalKernelRidge(solver="dense").fit(X, y)
