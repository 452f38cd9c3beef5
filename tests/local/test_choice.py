"""The solver that "auto" chooses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge
from pacband.local.choice import check_solver, choose_for_features, uses_few
from pacband.local.locality import Locality
from pacband.local.norms import Norm
from pacband.local.weights import Weight


def draw(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


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


@pytest.mark.parametrize(
    ("dims", "profile", "n_neighbors", "solver"),
    [
        (1, "exponential", None, "line"),
        (1, "exponential", 9, "line"),
        (1, "exponential", 8, "neighbors"),
        (1, "gaussian", None, "lowrank"),
        (2, "exponential", None, "lowrank"),
    ],
)
def test_features_are_solved_the_quickest_way(dims, profile, n_neighbors, solver):
    samples = Locality(Norm(2.0), np.zeros((9, dims)))
    weight = Weight(profile, 1.0, n_neighbors)
    assert choose_for_features(weight, samples) == solver
    assert uses_few(weight, samples) == (n_neighbors == 8)


def test_a_solver_that_does_not_fit_is_refused():
    samples = Locality(Norm(2.0), np.zeros((9, 2)))
    with pytest.raises(InvalidInput, match="solver must be one of"):
        check_solver("fast", Weight("exponential", 1.0), samples)
    with pytest.raises(InvalidInput, match="needs distances along one direction, got 2 dimensions"):
        check_solver("line", Weight("exponential", 1.0), samples)
    assert check_solver("auto", Weight("exponential", 1.0), samples) == "auto"
