"""The contract of a solver: it solves the weighted ridge problem, and prepares once what depends on the fit."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pacband
from pacband import CertifiedRegressor
from pacband.local import LocalKernelRidge, locality, products
from pacband.local.solvers import SOLVERS, line
from pacband.local.solvers.solver import Solver
from support import direct

WEIGHTS = {
    "exponential": 0.8,
    "gaussian": 0.5,
    "epanechnikov": 0.15,
    "tricube": 0.12,
    direct.quartic: 0.6,
}


N_SAMPLES, N_POINTS, NEIGHBORS = 60, 5, 25


def draw(dims, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (N_SAMPLES, dims))
    y = 3 + np.sin(2 * X[:, 0]) + X.sum(axis=1) + 0.3 * rng.standard_normal(N_SAMPLES)
    return X, y, rng.uniform(-2, 2, (N_POINTS, dims))


def norms(dims):
    root = np.random.default_rng(5).standard_normal((dims, dims)) / dims
    return [1, 2, np.inf, root @ root.T + 0.1 * np.eye(dims)]


def expected(X, y, points, kernel, alpha, **weighting):
    K, cross = kernel(X, X), kernel(X, points)
    pairs = [
        direct.kernel_ridge(K, cross[:, i], kernel(x[None], x[None])[0, 0], direct.weights(x, X, **weighting), y, alpha)
        for i, x in enumerate(points)
    ]
    return np.array(pairs).T


@pytest.mark.parametrize("dims", [1, 3, 8])
@pytest.mark.parametrize("name", direct.KERNELS)
@pytest.mark.parametrize("solver", ["dense", "lowrank", "line", "neighbors"])
def test_kernel_form_solves_the_weighted_ridge_problem(solver, name, dims):
    if solver == "line" and dims > 1:
        pytest.skip("a line has one dimension")
    X, y, points = draw(dims)
    parameters, kernel = direct.KERNELS[name]
    parameters = {"alpha": 0.5, **parameters}
    n_neighbors = NEIGHBORS if solver == "neighbors" else None
    for weight, decay in WEIGHTS.items():
        if solver == "line" and weight != "exponential":
            continue
        for norm in norms(dims):
            weighting = {"weight": weight, "decay": decay, "norm": norm, "n_neighbors": n_neighbors}
            model = LocalKernelRidge(solver=solver, tol=1e-13, **parameters, **weighting).fit(X, y)
            assert model.solver_ == solver
            prediction, scale = model.predict(points, return_std=True)
            truth, truth_scale = expected(X, y, points, kernel, parameters["alpha"], **weighting)
            case = f"{weight}, {norm}"
            assert_allclose(prediction, truth, rtol=1e-9, atol=1e-9, err_msg=case)
            assert_allclose(scale, truth_scale, rtol=1e-9, err_msg=case)


@pytest.mark.parametrize("solver", ["dense", "lowrank"])
def test_every_solver_can_be_asked_for_the_nearest_samples(solver):
    X, y, points = draw(3)
    parameters = {"alpha": 0.5, "gamma": 0.4, "n_neighbors": NEIGHBORS}
    first = LocalKernelRidge(solver="neighbors", **parameters).fit(X, y).predict(points, return_std=True)
    second = LocalKernelRidge(solver=solver, **parameters).fit(X, y).predict(points, return_std=True)
    assert_allclose(first, second, rtol=1e-8)


@pytest.mark.parametrize("solver", ["dense", "lowrank", "line"])
def test_long_arithmetic_confirms_the_formula_and_refutes_the_misprint(solver):
    rng = np.random.default_rng(2)
    X = np.sort(rng.uniform(-2.5, 2.5, 16))[:, None]
    y = 10 * X[:, 0] + 10 * np.sin(4 * X[:, 0]) + 5
    parameters, kernel = {"gamma": 0.4}, direct.KERNELS["rbf"][1]
    model = LocalKernelRidge(alpha=0.1, decay=4, solver=solver, tol=1e-13, **parameters).fit(X, y)
    points = np.array([[-2.4], [0.1], [1.7]])
    prediction, scale = model.predict(points, return_std=True)
    for x, T, sigma in zip(points, prediction, scale, strict=True):
        gamma = direct.weights(x, X, weight="exponential", decay=4, norm=2)
        system = kernel(X, X), kernel(X, x[None])[:, 0], gamma, y, 0.1
        assert_allclose((T, sigma), direct.precise_kernel_ridge(*system), rtol=1e-9)
        printed = direct.precise_kernel_ridge(*system, twin=True)
        assert abs(printed[0] - T) > 0.1 * abs(T)
        assert abs(printed[1] - sigma) > 0.1 * sigma


def test_paper_example_agrees_with_dense_solves():
    rng = np.random.default_rng(4)
    x = rng.uniform(-2.5, 2.5, 600)
    noise = rng.standard_normal((2, 600)) * np.sqrt([[7], [3]])
    y = (10 + noise[0]) * x + 10 * np.sin(4 * x) + 5 + noise[1]
    points = rng.uniform(-2.5, 2.5, (5, 1))
    for decay in (1, 10):
        models = [
            LocalKernelRidge(gamma=5, alpha=0.02, decay=decay, solver=solver).fit(x[:, None], y)
            for solver in ("dense", "lowrank", "line")
        ]
        dense, lowrank, line = (model.predict(points, return_std=True) for model in models)
        assert_allclose(lowrank, dense, rtol=1e-8)
        assert_allclose(line, lowrank, rtol=1e-10)


@pytest.fixture
def table():
    rng = np.random.default_rng(7)
    X = rng.uniform(-2, 2, (80, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80), rng.uniform(-2, 2, (9, 1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_scale_is_positive_where_every_residual_vanishes(solver):
    X = np.linspace(0, 1, 12)[:, None]
    n_neighbors = 5 if solver == "neighbors" else None
    model = LocalKernelRidge("linear", solver=solver, n_neighbors=n_neighbors)
    for tiny in (0.0, 5e-324, 1e-310):
        _, scale = model.fit(X, np.full(12, tiny)).predict(X, return_std=True)
        assert (scale >= np.finfo(float).tiny).all()
    assert (model.fit(X, np.zeros(12)).predict(X, return_std=True)[1] == np.finfo(float).tiny).all()


@pytest.mark.parametrize("alpha", [1e-8, 1e-16, 1e-30])
@pytest.mark.parametrize("solver", ["dense", "lowrank", "line", "neighbors"])
def test_vanishing_penalties_stay_finite(table, solver, alpha):
    X, y, points = table
    n_neighbors = 30 if solver == "neighbors" else None
    model = LocalKernelRidge(gamma=0.01, alpha=alpha, solver=solver, n_neighbors=n_neighbors)
    prediction, scale = model.fit(X, y).predict(points, return_std=True)
    assert np.isfinite(prediction).all()
    assert (scale > 0).all()


PREPARED = {
    "dense": (2, {"gamma": 5.0}),
    "lowrank": (2, {"gamma": 0.1}),
    "line": (1, {"gamma": 1.0}),
    "neighbors": (2, {"gamma": 1.0, "n_neighbors": 12}),
}


def fitted(solver):
    dims, parameters = PREPARED[solver]
    X, y, points = draw(dims)
    return LocalKernelRidge(solver=solver, **parameters).fit(X, y), points


@pytest.fixture
def preparations(monkeypatch):
    """Count what is prepared: products of features, indices of samples, sums of lines."""
    counts = []

    def count(owner, name, label):
        whole = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, **options: counts.append(label) or whole(*args, **options))

    count(products.Products, "__init__", "products")
    count(locality, "cKDTree", "tree")
    count(line, "_sum_sides", "sums")
    return counts


AT_FIT = {"dense": [], "lowrank": ["products"], "line": ["products", "sums"], "neighbors": ["tree", "tree"]}


@pytest.mark.parametrize("solver", PREPARED)
def test_what_depends_on_the_fit_is_prepared_once(solver, preparations):
    model, points = fitted(solver)
    assert sorted(preparations) == AT_FIT[solver]
    first = model.predict(points, return_std=True)
    del preparations[:]
    assert_array_equal(model.predict(points, return_std=True), first)
    # A tree of the points themselves puts neighbours side by side.
    assert preparations == (["tree"] if solver == "neighbors" else [])


@pytest.mark.parametrize("solver", PREPARED)
def test_copies_and_pickles_leave_out_what_is_prepared_and_predict_the_same_bits(solver, preparations):
    model, points = fitted(solver)
    expected = model.predict(points, return_std=True)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "products" not in vars(other._model.design)
        assert "index" not in vars(other._model.locality)
        assert not vars(other._model).get("prepared")
        del preparations[:]
        assert_array_equal(other.predict(points, return_std=True), expected)
        assert sorted(preparations) == AT_FIT[solver] + ["tree"] * (solver == "neighbors")
        del preparations[:]
        assert_array_equal(other.predict(points, return_std=True), expected)
        assert preparations == (["tree"] if solver == "neighbors" else [])


@pytest.mark.parametrize("solver", PREPARED)
def test_a_saved_model_predicts_the_same_bits(solver, tmp_path):
    dims, parameters = PREPARED[solver]
    X, y, points = draw(dims)
    model = CertifiedRegressor(LocalKernelRidge(solver=solver, **parameters), scale="std", eps=0.4, delta=0.1)
    model.fit(X, y, calibration=(X + 0.1, y))
    expected = model.predict_interval(points)
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    for _ in range(2):
        assert_array_equal(loaded.predict_interval(points), expected)


def test_every_name_of_a_solver_has_one():
    assert set(SOLVERS) == set(PREPARED)
    assert all(isinstance(solver, Solver) for solver in SOLVERS.values())
