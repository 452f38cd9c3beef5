"""Leave-one-out errors in closed form are those of refits without the sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pacband.local import LocalKernelRidge
from pacband.local.kernels import resolve_kernel
from pacband.local.leave_one_out import different_samples, leave_one_out, others
from pacband.local.locality import Locality
from pacband.local.norms import Norm
from pacband.local.weights import Weight


def draw(n=40, dims=2):
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (n, dims))
    X[5] = X[6] = X[7]  # the same place three times
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def closed_form(X, y, near, kernel="rbf", gamma=0.7, alpha=0.1, decay=1.5, weight="exponential"):
    locality, centres = Locality(Norm(2.0), X), np.arange(len(y))
    found, distances = others(locality, X, centres, near)
    rows = np.column_stack([found, centres])
    gram = resolve_kernel(kernel, gamma, 3, 1, X)(X[rows], X[rows])
    return gram, Weight(weight, decay).of(distances), y[rows], alpha


def refits(X, y, near, **parameters):
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = LocalKernelRidge(solver="dense", n_neighbors=near, **parameters).fit(X[rest], y[rest])
        errors.append(y[i] - model.predict(X[i : i + 1])[0])
    return np.array(errors)


@pytest.mark.parametrize("near", [1, 7, 39])
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "gamma": 0.7, "alpha": 0.1, "decay": 1.5},
        {"kernel": "rbf", "gamma": 0.05, "alpha": 1e-4, "decay": 6.0, "weight": "gaussian"},
        {"kernel": "poly", "gamma": 0.3, "alpha": 2.0, "decay": 0.4, "weight": "tricube"},
        {"kernel": "linear", "gamma": 1.0, "alpha": 0.5, "decay": 900.0},  # weights underflow
    ],
)
def test_closed_form_is_the_error_of_a_refit_without_the_sample(near, parameters):
    X, y = draw()
    expected = refits(X, y, near, **parameters)
    assert_allclose(leave_one_out(*closed_form(X, y, near, **parameters)), expected, rtol=1e-8, atol=1e-8)


def test_without_the_hat_value_the_errors_are_too_small():
    X, y = draw()
    gram, weights, targets, alpha = closed_form(X, y, 10)
    roots = np.sqrt(np.column_stack([weights, np.ones(len(y))]))
    inverse = np.linalg.inv(np.eye(11) + gram * roots[:, :, None] * roots[:, None, :] / alpha)
    twin = (inverse @ (roots * targets)[:, :, None])[:, -1, 0]  # the error of the fit that knows the sample
    exact = leave_one_out(gram, weights, targets, alpha)
    assert_allclose(twin / inverse[:, -1, -1], exact, rtol=1e-9)
    assert np.abs(twin).mean() < 0.8 * np.abs(exact).mean()


def test_the_sample_itself_is_never_among_the_others():
    X = np.zeros((6, 1))
    found, distances = others(Locality(Norm(2.0), X), X, np.arange(6), 2)
    assert (found != np.arange(6)[:, None]).all()
    assert_array_equal(distances, 0)
    assert_array_equal(found[5], [0, 1])


def test_copies_are_found_where_chance_makes_none():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    assert_array_equal(different_samples(np.r_[X, X[::3]], np.r_[y, y[::3]]), np.arange(30))
    # Close numbers are no copies, and neither are samples of few values that agree.
    seconds = 1.7e9 + np.arange(60.0)[:, None]
    assert_array_equal(different_samples(seconds, np.arange(60) % 2.0), np.arange(60))
    few = rng.integers(0, 10, (400, 1)).astype(float), rng.integers(0, 2, 400).astype(float)
    assert_array_equal(different_samples(*few), np.arange(400))


def test_a_system_that_cannot_be_factored_has_no_error():
    indefinite = np.array([[[1.0, 5.0], [5.0, 1.0]]])
    assert np.isnan(leave_one_out(indefinite, np.ones((1, 1)), np.ones((1, 2)), 0.1)).all()
