"""What the local models become when the weights stop deciding, or decide everything."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from pacband.local import LocalKernelRidge, LocalRidge

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
def test_no_decay_is_ridge(table, weight):
    X, y, points = table
    model = LocalRidge(alpha=0.3, decay=1e-13, weight=weight).fit(X, y)
    design = np.column_stack([np.ones(80), X])
    reference = Ridge(alpha=0.3, fit_intercept=False).fit(design, y)
    assert_allclose(model.predict(points), reference.predict(np.column_stack([np.ones(9), points])), rtol=1e-9)


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


@pytest.mark.parametrize("weight", ["exponential", "gaussian", "epanechnikov", "tricube", lambda t: 1.0 * (t < 1)])
@pytest.mark.parametrize("n_neighbors", [None, 7])
def test_a_point_that_no_weight_reaches_has_a_finite_answer(table, weight, n_neighbors):
    X, y, _ = table
    far = np.array([[1e5], [-1e5], [1e300]])
    for model in (
        LocalRidge(weight=weight, decay=10, n_neighbors=n_neighbors),
        LocalKernelRidge(weight=weight, decay=10, n_neighbors=n_neighbors, solver="dense"),
        LocalKernelRidge(weight=weight, decay=10, n_neighbors=n_neighbors),
    ):
        prediction, scale = model.fit(X, y).predict(far, return_std=True)
        assert np.isfinite(prediction).all()
        assert np.isfinite(scale).all()
        assert (scale > 0).all()


@pytest.mark.parametrize(
    ("weight", "decay", "far", "exponent"),
    [
        # exp(−10(1000 − x_j)) is zero for every sample; divided by its maximum it is exp(−10(max x − x_j)).
        ("exponential", 10, 1000.0, lambda d: -10 * (d - d.min())),
        ("gaussian", 2, 20.0, lambda d: -4 * (d**2 - d.min() ** 2)),
    ],
)
def test_weights_that_all_underflow_are_taken_relative_to_the_largest(table, weight, decay, far, exponent):
    X, y, _ = table
    model = LocalRidge(alpha=0.3, decay=decay, weight=weight).fit(X, y)
    prediction, scale = model.predict([[far]], return_std=True)
    gamma = np.exp(exponent(far - X[:, 0]))
    design = np.column_stack([np.ones(80), X])
    theta = np.linalg.solve(0.3 * np.eye(2) + design.T * gamma @ design, design.T * gamma @ y)
    assert_allclose(prediction, [theta @ [1, far]], rtol=1e-9)
    assert_allclose(scale, np.sqrt(np.sum(gamma * (y - design @ theta) ** 2) / gamma.sum()), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_scale_is_positive_where_every_residual_vanishes(solver):
    X = np.linspace(0, 1, 12)[:, None]
    n_neighbors = 5 if solver == "neighbors" else None
    model = LocalKernelRidge("linear", solver=solver, n_neighbors=n_neighbors)
    for tiny in (0.0, 5e-324, 1e-310):
        _, scale = model.fit(X, np.full(12, tiny)).predict(X, return_std=True)
        assert (scale >= np.finfo(float).tiny).all()
    assert (model.fit(X, np.zeros(12)).predict(X, return_std=True)[1] == np.finfo(float).tiny).all()


def test_a_perfect_fit_has_the_scale_of_rounding():
    X = np.linspace(0, 1, 50)[:, None]
    y = 3e6 * X[:, 0]
    _, scale = LocalRidge(alpha=1e-18).fit(X, y).predict(X, return_std=True)
    assert (scale >= np.finfo(float).eps * 3e6).all()
    assert (scale < 1e-9 * 3e6).all()


@pytest.mark.parametrize("alpha", [1e-8, 1e-16, 1e-30])
@pytest.mark.parametrize("solver", ["dense", "lowrank", "line", "neighbors"])
def test_vanishing_penalties_stay_finite(table, solver, alpha):
    X, y, points = table
    n_neighbors = 30 if solver == "neighbors" else None
    model = LocalKernelRidge(gamma=0.01, alpha=alpha, solver=solver, n_neighbors=n_neighbors)
    prediction, scale = model.fit(X, y).predict(points, return_std=True)
    assert np.isfinite(prediction).all()
    assert (scale > 0).all()


@pytest.mark.parametrize("n_neighbors", [None, 150])
@pytest.mark.parametrize("weight", ["exponential", "gaussian"])
def test_small_residuals_keep_their_digits_where_the_global_fit_is_poor(weight, n_neighbors):
    # Near 0.7 the samples lie on a line to 1e-9 of their size, and no line fits them all.
    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, (800, 1))
    y = 1e4 * np.abs(X[:, 0]) + 1e-5 * rng.standard_normal(800)
    decay = 80 if weight == "exponential" else 12
    model = LocalRidge(alpha=1e-14, decay=decay, weight=weight, n_neighbors=n_neighbors).fit(X, y)
    _, scale = model.predict([[0.7]], return_std=True)
    t = decay * np.abs(X[:, 0] - 0.7)
    gamma = np.exp(-t if weight == "exponential" else -(t**2))
    if n_neighbors:
        gamma[np.argsort(t)[n_neighbors:]] = 0.0
    design = np.column_stack([np.ones(800), X[:, 0] - 0.7])
    theta = np.linalg.lstsq(np.sqrt(gamma)[:, None] * design, np.sqrt(gamma) * (y - 7e3), rcond=None)[0]
    expected = np.sqrt(np.sum(gamma * (y - 7e3 - design @ theta) ** 2) / gamma.sum())
    assert expected < 2e-5
    assert_allclose(scale, expected, rtol=1e-4)


def test_small_residuals_keep_their_digits():
    # σ̂² is 1e-16 of ΣΓy²/ΣΓ: sums of squares of y would leave nothing of it.
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, (200, 1))
    y = 1e4 + X[:, 0] + 1e-4 * rng.standard_normal(200)
    points = np.array([[0.0], [0.7]])
    parameters = {"alpha": 1e-12, "decay": 2}
    prediction, scale = LocalRidge(**parameters).fit(X, y).predict(points, return_std=True)
    for x, T, sigma in zip(points, prediction, scale, strict=True):
        root = np.sqrt(np.exp(-2 * np.abs(X[:, 0] - x)))
        design = np.column_stack([np.ones(200), X[:, 0] - x])  # the same local line, well centred
        theta = np.linalg.lstsq(root[:, None] * design, root * (y - 1e4), rcond=None)[0]
        error = y - 1e4 - design @ theta
        assert_allclose(sigma, np.sqrt(np.sum((root * error) ** 2) / np.sum(root**2)), rtol=1e-6)
        assert_allclose(T, 1e4 + theta[0], rtol=1e-12)
