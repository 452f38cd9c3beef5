"""Low-rank factors, and kernels that are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge
from pacband.local.factor import pivoted_cholesky
from pacband.local.kernels import Kernel


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).standard_normal((70, 3))


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize(
    "kernel", [Kernel("linear"), Kernel("poly", 0.3, 2, 1.0), Kernel("rbf", 0.05), Kernel(RBF(3.0))]
)
def test_low_rank_factor_leaves_no_more_trace_than_tol(X, kernel, tol):
    factor = pivoted_cholesky(kernel, X, tol=tol, max_rank=70)
    gram = kernel(X, X)
    remainder = gram - factor.columns @ factor.columns.T
    assert -1e-9 * np.trace(gram) <= np.trace(remainder) <= tol * np.trace(gram)
    assert np.linalg.eigvalsh(remainder)[0] > -1e-12 * np.trace(gram)
    assert_allclose(factor.features(X), factor.columns, atol=1e-5 * np.sqrt(np.trace(gram)))


def test_rank_is_that_of_the_features(X):
    assert pivoted_cholesky(Kernel("linear"), X, tol=1e-12, max_rank=70).columns.shape[1] == 3
    assert pivoted_cholesky(Kernel("rbf", 50.0), X, tol=1e-12, max_rank=35) is None


def test_ill_conditioned_kernels_work():
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((20, 2)), 3, axis=0)  # every sample three times: a singular Gram matrix
    y = rng.standard_normal(60)
    results = [
        LocalKernelRidge(gamma=1e-4, alpha=0.1, solver=solver).fit(X, y).predict(X[:5], return_std=True)
        for solver in ("dense", "lowrank", "auto")
    ]
    assert_allclose(results[1], results[0], rtol=1e-7)
    assert_allclose(results[2], results[0], rtol=1e-7)


@pytest.mark.parametrize("solver", ["auto", "dense", "lowrank", "neighbors"])
def test_indefinite_kernels_are_refused_with_a_remedy(X, solver):
    y = X[:, 0]
    with pytest.raises(InvalidInput, match=r"positive semidefinite .* 'sigmoid' .* use a smaller gamma"):
        LocalKernelRidge("sigmoid", solver=solver, n_neighbors=20 if solver == "neighbors" else None).fit(X, y)

    def distance(A, B):  # a common slip: zero on the diagonal, so that only the entries off it can tell
        return np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=2))

    with pytest.raises(InvalidInput, match=r"positive semidefinite .* Mercer's condition, such as 'rbf'"):
        LocalKernelRidge(distance, solver=solver, n_neighbors=20 if solver == "neighbors" else None).fit(X, y)


def test_negative_diagonal_is_refused(X):
    with pytest.raises(InvalidInput, match="positive semidefinite"):
        LocalKernelRidge(lambda A, B: -A @ B.T).fit(X, X[:, 0])


@pytest.mark.parametrize("solver", ["dense", "lowrank"])
def test_asymmetric_kernels_are_refused(X, solver):
    with pytest.raises(InvalidInput, match="kernel must be symmetric"):
        LocalKernelRidge(lambda A, B: (A @ B.T) * (1 + 0.1 * np.sign(A[:, :1] - B[:, 0])), solver=solver).fit(
            X, X[:, 0]
        )
