"""Every solver, kernel, weight and norm against a direct solution of the weighted ridge problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import PolynomialFeatures

from pacband.local import LocalKernelRidge, LocalRidge
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


@pytest.mark.parametrize("dims", [1, 3, 8])
@pytest.mark.parametrize("n_neighbors", [None, NEIGHBORS, 5])
def test_feature_form_solves_the_weighted_ridge_problem(n_neighbors, dims):
    X, y, points = draw(dims)
    polynomial = PolynomialFeatures(2)
    n_quadratic = polynomial.fit(X).n_output_features_
    root = np.random.default_rng(6).standard_normal((n_quadratic, n_quadratic)) / n_quadratic
    cases = [
        (None, lambda Z: np.column_stack([np.ones(len(Z)), Z]), 0.3),
        (polynomial, polynomial.fit_transform, 0.3),
        (polynomial, polynomial.fit_transform, root @ root.T + 0.2 * np.eye(n_quadratic)),
        (np.cos, np.cos, 0.3),
    ]
    for features, phi, alpha in cases:
        for weight, decay in WEIGHTS.items():
            for norm in norms(dims):
                weighting = {"weight": weight, "decay": decay, "norm": norm, "n_neighbors": n_neighbors}
                model = LocalRidge(features, alpha=alpha, **weighting).fit(X, y)
                truth = [
                    direct.ridge(phi(X), phi(x[None])[0], direct.weights(x, X, **weighting), y, alpha) for x in points
                ]
                assert_allclose(
                    np.transpose(model.predict(points, return_std=True)),
                    truth,
                    rtol=1e-9,
                    err_msg=f"{features}, {weight}, {norm}, {model.solver_}",
                )


@pytest.mark.parametrize("dims", [1, 3, 8])
@pytest.mark.parametrize("solver", ["dense", "lowrank"])
def test_feature_form_is_the_kernel_form_with_the_kernel_of_its_features(solver, dims):
    X, y, points = draw(dims)
    # φ(x) = (1, x) has the kernel 1 + xᵀz.
    by_kernel = LocalKernelRidge("poly", gamma=1, degree=1, coef0=1, alpha=0.3, solver=solver)
    by_features = LocalRidge(alpha=0.3)
    assert_allclose(
        by_features.fit(X, y).predict(points, return_std=True),
        by_kernel.fit(X, y).predict(points, return_std=True),
        rtol=1e-9,
    )


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


def test_low_rank_error_follows_tol():
    X, y, points = draw(3)
    dense = LocalKernelRidge(gamma=0.1, alpha=0.5, solver="dense").fit(X, y).predict(points)
    errors, ranks = [], []
    for tol in (1e-2, 1e-5, 1e-8, 1e-11):
        model = LocalKernelRidge(gamma=0.1, alpha=0.5, solver="lowrank", tol=tol).fit(X, y)
        errors.append(np.abs(model.predict(points) - dense).max())
        ranks.append(model.rank_)
        # ‖δT‖ ≤ ‖y‖-sized terms times tr(K − LLᵀ)/α
        assert errors[-1] <= tol * N_SAMPLES / 0.5 * np.abs(y).max()
    assert ranks == sorted(ranks)
    assert errors[-1] < 1e-9 < errors[0]


def test_large_ranks_take_one_product_a_point():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (250, 8))
    y = rng.standard_normal(250)
    points = rng.uniform(-1, 1, (3, 8))
    model = LocalKernelRidge(gamma=2, alpha=0.1, decay=0.5, solver="lowrank").fit(X, y)
    assert model.rank_ > 200
    dense = LocalKernelRidge(gamma=2, alpha=0.1, decay=0.5, solver="dense").fit(X, y)
    assert_allclose(model.predict(points, return_std=True), dense.predict(points, return_std=True), rtol=1e-8)


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
