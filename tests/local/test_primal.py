"""The fit in θ: within tol at any x, and digits that do not cancel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import Matern

from pacband.local import LocalKernelRidge, LocalRidge

TOL = 1e-10


def smooth(n, seed=0, d=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def both(X, y, points, solver, **options):
    dense = LocalKernelRidge(solver="dense", **options).fit(X, y).predict(points, return_std=True)
    return dense, LocalKernelRidge(solver=solver, **options).fit(X, y).predict(points, return_std=True)


KERNELS = {
    "smooth": {"gamma": 0.7},
    "rough": {"gamma": 5.0},
    "poly": {"kernel": "poly", "degree": 3},
    "linear": {"kernel": "linear"},
    "callable": {"kernel": Matern(nu=2.5)},
}


@pytest.mark.parametrize("solver", ["lowrank", "line"])
@pytest.mark.parametrize("seed", range(4))
def test_beyond_the_samples_low_rank_is_within_tol(solver, seed):
    X, y = smooth(120, seed)
    points = np.concatenate([[[-2.94]], np.linspace(-8, 8, 161)[:, None]])
    (exact, exact_scale), (found, scale) = both(X, y, points, solver, gamma=0.7, alpha=0.02, decay=1.3)
    assert np.abs(found - exact).max() <= TOL
    np.testing.assert_allclose(scale, exact_scale, rtol=TOL)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("alpha", [1.0, 0.02, 1e-3])
@pytest.mark.parametrize("weight", ["exponential", "gaussian", "tricube"])
def test_every_kernel_and_weight_is_within_tol_at_any_distance(kernel, alpha, weight):
    for d in (1, 2):
        X, y = smooth(80, d=d)
        points = np.concatenate([X[:20], np.linspace(-6, 6, 49)[:, None] * np.ones(d)])
        for decay in (0.2, 2.0):
            options = {"alpha": alpha, "weight": weight, "decay": decay, **KERNELS[kernel]}
            (exact, exact_scale), (found, scale) = both(X, y, points, "lowrank", **options)
            # Polynomials grow: what dense solutions round off grows with them.
            size = np.maximum(1.0, np.abs(exact)) + (np.abs(points) ** 6).max(axis=1) * (kernel == "poly")
            assert (np.abs(found - exact) / size).max() <= TOL
            # Far from all samples the weights underflow; what is left of them has lost digits in either solver.
            np.testing.assert_allclose(scale, exact_scale, rtol=10 * TOL)


def test_a_grid_over_decay_and_alpha_is_as_exact_as_its_members_are():
    X, y = smooth(100)
    points = np.linspace(-6, 6, 41)[:, None]
    grid = [{"decay": decay, "alpha": alpha} for decay in (0.5, 1.0, 3.0) for alpha in (1.0, 0.02, 1e-4)]
    for solver in ("lowrank", "line"):
        members = LocalKernelRidge(gamma=0.7, solver=solver).fit_grid(X, y, grid)
        for options, (found, scale) in zip(grid, LocalKernelRidge.predict_grid(members, points), strict=True):
            alone = LocalKernelRidge(gamma=0.7, solver=solver, **options).fit(X, y)
            prediction, spread = alone.predict(points, return_std=True)
            np.testing.assert_allclose(found, prediction, rtol=0, atol=1e-12)
            np.testing.assert_allclose(scale, spread, rtol=1e-9)


def test_a_perfect_fit_has_the_scale_of_rounding():
    X = np.linspace(0, 1, 50)[:, None]
    y = 3e6 * X[:, 0]
    _, scale = LocalRidge(alpha=1e-18).fit(X, y).predict(X, return_std=True)
    assert (scale >= np.finfo(float).eps * 3e6).all()
    assert (scale < 1e-9 * 3e6).all()


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
