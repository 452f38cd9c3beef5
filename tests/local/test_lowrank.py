"""The solver for a basis of few features."""

import numpy as np
from numpy.testing import assert_allclose

from pacband.local import LocalKernelRidge

N_SAMPLES, N_POINTS, NEIGHBORS = 60, 5, 25


def draw(dims, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (N_SAMPLES, dims))
    y = 3 + np.sin(2 * X[:, 0]) + X.sum(axis=1) + 0.3 * rng.standard_normal(N_SAMPLES)
    return X, y, rng.uniform(-2, 2, (N_POINTS, dims))


def test_low_rank_error_follows_tol():
    X, y, points = draw(1)
    dense = LocalKernelRidge(gamma=0.1, alpha=0.5, solver="dense").fit(X, y).predict(points)
    errors, ranks = [], []
    for tol in (1e-2, 1e-5, 1e-8, 1e-11):
        model = LocalKernelRidge(gamma=0.1, alpha=0.5, solver="lowrank", tol=tol).fit(X, y)
        errors.append(np.abs(model.predict(points) - dense).max())
        ranks.append(model.rank_)
        assert errors[-1] <= tol * np.abs(y).max()
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1]


def test_large_ranks_take_one_product_a_point():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (250, 8))
    y = rng.standard_normal(250)
    points = rng.uniform(-1, 1, (3, 8))
    model = LocalKernelRidge(gamma=2, alpha=0.1, decay=0.5, solver="lowrank").fit(X, y)
    assert model.rank_ > 200
    dense = LocalKernelRidge(gamma=2, alpha=0.1, decay=0.5, solver="dense").fit(X, y)
    assert_allclose(model.predict(points, return_std=True), dense.predict(points, return_std=True), rtol=1e-8)


def draw_family(dims):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (120, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(120), rng.uniform(-2, 2, (33, dims))


def test_distances_are_computed_once_a_batch(monkeypatch):
    X, y, points = draw_family(3)
    members = LocalKernelRidge().fit_grid(X, y, [{"decay": d, "alpha": a} for d in (1, 2, 3) for a in (0.1, 1)])
    locality = members[0]._model.locality
    seen = []
    whole = type(locality).distances
    monkeypatch.setattr(type(locality), "distances", lambda self, X: seen.append(len(X)) or whole(self, X))
    LocalKernelRidge.predict_grid(members, points)
    assert seen == [len(points)]
