"""Low rank at any x: also where no sample is near, what is left out of the kernel stays within tol."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from pacband.local import LocalKernelRidge
from pacband.local.fits import primal
from pacband.local.kernels import Kernel

TOL = 1e-10


def smooth(n, seed=0, d=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def both(X, y, points, solver, **options):
    dense = LocalKernelRidge(solver="dense", **options).fit(X, y).predict(points, return_std=True)
    return dense, LocalKernelRidge(solver=solver, **options).fit(X, y).predict(points, return_std=True)


@pytest.mark.parametrize("solver", ["lowrank", "line"])
@pytest.mark.parametrize("seed", range(4))
def test_beyond_the_samples_low_rank_is_within_tol(solver, seed):
    X, y = smooth(120, seed)
    points = np.concatenate([[[-2.94]], np.linspace(-8, 8, 161)[:, None]])
    (exact, exact_scale), (found, scale) = both(X, y, points, solver, gamma=0.7, alpha=0.02, decay=1.3)
    assert np.abs(found - exact).max() <= TOL
    np.testing.assert_allclose(scale, exact_scale, rtol=TOL)


KERNELS = {
    "smooth": {"gamma": 0.7},
    "rough": {"gamma": 5.0},
    "poly": {"kernel": "poly", "degree": 3},
    "linear": {"kernel": "linear"},
    "callable": {"kernel": Matern(nu=2.5)},
}


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


def test_a_grid_over_decay_and_alpha_is_completed_as_its_members_are():
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


def test_among_the_samples_nothing_has_to_be_completed(monkeypatch):
    completed = []
    complete = primal._complete
    monkeypatch.setattr(primal, "_complete", lambda *arguments: completed.append(complete(*arguments)))
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.5, 2.5, (2000, 1))
    model = LocalKernelRidge(gamma=5, alpha=0.02, decay=3).fit(X, np.sin(X[:, 0]))
    model.predict(rng.uniform(-2.49, 2.49, (500, 1)))
    assert not completed
    model.predict([[4.0]])
    assert completed


@pytest.mark.parametrize(
    "kernel",
    [Kernel("linear"), Kernel("poly", 0.5, 2.0, 1.0), Kernel("rbf", 0.7, origin=np.zeros(3)), Kernel("sigmoid", 0.1)],
    ids=lambda kernel: kernel.form,
)
def test_the_diagonal_of_a_kernel_is_that_of_its_gram_matrix(kernel):
    X = np.random.default_rng(0).standard_normal((300, 3))
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X, X)), rtol=1e-13)
