"""A family shares its work and gives the digits its members would give alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import PolynomialFeatures

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge, LocalRidge, factor, kernel_ridge

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


def draw(dims):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (120, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(120), rng.uniform(-2, 2, (33, dims))


@pytest.mark.parametrize(("estimator", "dims", "parameters"), CASES)
def test_members_are_what_they_would_be_alone(estimator, dims, parameters):
    X, y, points = draw(dims)
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


def test_one_factorization_and_one_embedding_serve_all_decays_and_penalties(monkeypatch):
    X, y, _ = draw(1)
    calls = []

    def counted(*args, **kwargs):
        calls.append(1)
        return factor.pivoted_cholesky(*args, **kwargs)

    monkeypatch.setattr(kernel_ridge, "pivoted_cholesky", counted)
    grid = list(ParameterGrid({"decay": range(1, 6), "alpha": [0.1, 1.0], "gamma": [1.0, 2.0]}))
    members = LocalKernelRidge().fit_grid(X, y, grid)
    assert len(calls) == 2
    assert len({id(member._model.locality) for member in members}) == 1
    assert len({id(member._model.design) for member in members}) == 2


def test_distances_are_computed_once_a_batch(monkeypatch):
    X, y, points = draw(3)
    members = LocalKernelRidge().fit_grid(X, y, [{"decay": d, "alpha": a} for d in (1, 2, 3) for a in (0.1, 1)])
    locality = members[0]._model.locality
    seen = []
    whole = type(locality).distances
    monkeypatch.setattr(type(locality), "distances", lambda self, X: seen.append(len(X)) or whole(self, X))
    LocalKernelRidge.predict_grid(members, points)
    assert seen == [len(points)]


def test_progress_counts_points_times_members():
    X, y, points = draw(2)
    members = LocalKernelRidge(solver="dense").fit_grid(X, y, [{"decay": d} for d in (1, 2)])
    reports = []
    LocalKernelRidge.predict_grid(members, points, progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (66, 66)
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})


def test_mixed_families_can_be_predicted_together():
    X, y, points = draw(2)
    members = [LocalRidge().fit(X, y), LocalKernelRidge().fit(X, y), LocalKernelRidge(n_neighbors=9).fit(X, y)]
    for member, pair in zip(members, LocalRidge.predict_grid(members, points), strict=True):
        assert_allclose(pair, member.predict(points, return_std=True), rtol=1e-12)


def test_an_empty_family_is_refused():
    with pytest.raises(InvalidInput, match="members must hold at least one fitted estimator, got none"):
        LocalRidge.predict_grid([], [[0.0]])
    assert LocalRidge().fit_grid([[0.0], [1.0]], [0.0, 1.0], []) == []
