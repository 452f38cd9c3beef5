"""`tol` bounds the errors of T and σ̂ at every x: the theorem of `fits.certified`, against 19 digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacband.local import LocalKernelRidge
from pacband.local.fits import certified
from pacband.local.fits.certified import refine_fit
from support.direct import long_kernel_ridge
from support.twins import put_in_place

LONG = np.longdouble


def laplacian(A, B):
    return np.exp(-0.8 * np.abs(A[:, None] - B[None]).sum(axis=2))


def kernel_of(name, gamma):
    return {
        "rbf": lambda A, B: np.exp(-LONG(gamma) * ((A[:, None] - B[None]) ** 2).sum(axis=2)),
        "poly": lambda A, B: (LONG(gamma) * A @ B.T + 1) ** 3,
        "linear": lambda A, B: A @ B.T,
        laplacian: laplacian,
    }[name]


def draw(n, dims, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dims))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(n)
    # Inside, beyond the last samples, and far outside.
    return X, y, np.concatenate([X[:2] + 0.05, np.array([[1.5], [2.94], [4.0], [9.0]]) * np.ones(dims)])


def errors(X, y, points, solver, name, gamma, alpha, decay, tol):
    """Return the largest errors of T and σ̂ as parts of what is promised."""
    model = LocalKernelRidge(name, gamma=gamma, alpha=alpha, decay=decay, solver=solver, tol=tol).fit(X, y)
    prediction, scale = model.predict(points, return_std=True)
    kernel = kernel_of(name, gamma)
    samples, at = X.astype(LONG), points.astype(LONG)
    K, cross = kernel(samples, samples), kernel(at, samples)
    gammas = [np.exp(-LONG(decay) * np.sqrt(((samples - x) ** 2).sum(axis=1))) for x in at]
    exact = [long_kernel_ridge(K, k_x, gamma, y, alpha) for k_x, gamma in zip(cross, gammas, strict=True)]
    truth, true_scale = np.array(exact).T
    here = np.array([kernel(x[None], x[None])[0, 0] for x in at], dtype=float)
    growth = np.sqrt(np.maximum(1.0, here / float(np.diagonal(K).max())))
    promised = tol + 4e-15 * float(np.trace(K)) / alpha
    apart = np.abs(prediction - truth) / (np.abs(y).max() * growth)
    return apart.max() / promised, np.abs(scale / true_scale - 1).max() / promised


CASES = {
    "solver": st.sampled_from(["lowrank", "line"]),
    "name": st.sampled_from(["rbf", "rbf", "poly", "linear", laplacian]),
    "gamma": st.floats(-2, 1).map(lambda e: 10.0**e),
    "alpha": st.floats(-4, 1).map(lambda e: 10.0**e),
    "decay": st.floats(-1.5, 1.2).map(lambda e: 10.0**e),
    "tol": st.sampled_from([1e-10, 1e-6, 1e-3, 0.1]),
    "dims": st.integers(1, 3),
    "n": st.integers(10, 70),
    "seed": st.integers(0, 1000),
}


@settings(max_examples=150)
@given(**CASES)
def test_both_errors_are_at_most_tol_at_every_x(solver, name, gamma, alpha, decay, tol, dims, n, seed):
    X, y, points = draw(n, 1 if solver == "line" else dims, seed)
    assert max(errors(X, y, points, solver, name, gamma, alpha, decay, tol)) <= 1


KNOWN = {"name": "rbf", "gamma": 0.7, "alpha": 0.02, "decay": 1.3, "tol": 1e-10}


@pytest.mark.parametrize("solver", ["lowrank", "line"])
def test_without_the_certificate_points_beyond_the_samples_are_wrong(solver, monkeypatch):
    sample = draw(70, 1, 0)
    assert max(errors(*sample, solver, **KNOWN)) <= 1
    put_in_place(monkeypatch, refine_fit, lambda *_: None)
    assert errors(*sample, solver, **KNOWN)[0] > 30


def test_a_coarse_basis_is_refined_to_tol(monkeypatch):
    # In eight dimensions few columns never suffice: the basis is coarse, and every x needs its residual.
    X, y, points = draw(300, 8, 0)
    options = {"gamma": 0.1, "alpha": 1e-3, "decay": 0.5, "tol": 1e-6}
    dense = np.array(LocalKernelRidge(solver="dense", **options).fit(X, y).predict(points, return_std=True))
    model = LocalKernelRidge(solver="lowrank", **options).fit(X, y)
    assert model.rank_ > 128
    prediction, scale = model.predict(points, return_std=True)
    assert np.abs(prediction - dense[0]).max() <= 1e-6 * np.abs(y).max()
    assert np.abs(scale / dense[1] - 1).max() <= 1e-6
    # Without steps the residual of this basis stays.
    coarse = LocalKernelRidge(solver="lowrank", **options | {"tol": 0.5}).fit(X, y)
    object.__setattr__(coarse._model.design, "tol", 1e-9)
    refined, exact_scale = coarse.predict(points, return_std=True)
    assert np.abs(refined - dense[0]).max() <= 1e-9 * np.abs(y).max()
    assert np.abs(exact_scale / dense[1] - 1).max() <= 1e-9
    monkeypatch.setattr(certified, "_STEPS", 0)
    assert np.abs(coarse.predict(points) - dense[0]).max() > 1e-9 * np.abs(y).max()


def test_among_the_samples_nothing_has_to_be_refined(monkeypatch):
    refined = []
    whole = certified._refine
    monkeypatch.setattr(certified, "_refine", lambda *arguments: refined.append(1) or whole(*arguments))
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.5, 2.5, (2000, 1))
    model = LocalKernelRidge(gamma=5, alpha=0.02, decay=3).fit(X, np.sin(X[:, 0]))
    model.predict(rng.uniform(-2.49, 2.49, (500, 1)))
    assert not refined
    model.predict([[4.0]])
    assert refined
