"""LocalRidge: the form based on features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler

from pacband.exceptions import InvalidInput
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


@pytest.fixture
def table():
    rng = np.random.default_rng(7)
    X = rng.uniform(-2, 2, (80, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80), rng.uniform(-2, 2, (9, 1))


@pytest.mark.parametrize("weight", ["exponential", "gaussian", "epanechnikov", "tricube"])
def test_no_decay_is_ridge(table, weight):
    X, y, points = table
    model = LocalRidge(alpha=0.3, decay=1e-13, weight=weight).fit(X, y)
    design = np.column_stack([np.ones(80), X])
    reference = Ridge(alpha=0.3, fit_intercept=False).fit(design, y)
    assert_allclose(model.predict(points), reference.predict(np.column_stack([np.ones(9), points])), rtol=1e-9)


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


def draw_sine(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def test_features_may_be_a_transformer_a_pipeline_or_sparse():
    X, y = draw_sine(dims=1)
    spline = SplineTransformer(6, knots="quantile")
    dense = LocalRidge(spline, alpha=0.1).fit(X, y).predict(X[:5])
    piped = LocalRidge(make_pipeline(StandardScaler(), SplineTransformer(6, knots="quantile")), alpha=0.1)
    assert_allclose(piped.fit(X, y).predict(X[:5]), dense, rtol=1e-8)
    assert not hasattr(spline, "n_features_out_")  # ours is untouched
    levels = np.round(X)
    onehot = LocalRidge(OneHotEncoder(), decay=3).fit(levels, y)
    assert np.isfinite(onehot.predict(levels[:5])).all()


def test_more_features_than_samples():
    X, y = draw_sine(40, dims=60)
    wide = LocalRidge(alpha=0.5).fit(X, y)
    kernel = LocalKernelRidge("poly", gamma=1, degree=1, alpha=0.5, solver="dense").fit(X, y)
    assert_allclose(wide.predict(X[:4] / 2, return_std=True), kernel.predict(X[:4] / 2, return_std=True), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be a positive finite number, got -1\."),
        ({"alpha": np.eye(2)}, r"alpha as a matrix must have shape \(3, 3\).*got \(2, 2\)\."),
        ({"alpha": np.diag([1.0, 1.0, 0.0])}, r"alpha as a matrix must be positive definite"),
        ({"alpha": np.triu(np.ones((3, 3)))}, r"alpha as a matrix must be symmetric"),
        ({"features": "cubic"}, r"features must be None, a transformer or a callable, got 'cubic'\."),
        ({"features": lambda X: X[:3]}, r"features must give a matrix with one row a sample, 150 here"),
        ({"features": lambda X: X * np.inf}, r"features must give finite values"),
        ({"decay": 0}, r"decay must be a positive finite number, got 0\."),
        ({"n_neighbors": -3}, r"n_neighbors must be at least 1, got -3\."),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = draw_sine()
    with pytest.raises(InvalidInput, match=message), np.errstate(invalid="ignore"):
        LocalRidge(**parameters).fit(X, y)
