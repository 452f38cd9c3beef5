import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import pairwise_kernels

from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge
from pacband.local.factor import pivoted_cholesky
from pacband.local.kernels import Kernel, resolve_kernel


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).standard_normal((70, 3))


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("gamma", [None, 0.2])
def test_names_and_parameters_are_those_of_scikit_learn(X, name, gamma):
    ours = resolve_kernel(name, gamma, 3, 1, X)
    parameters = {} if name == "linear" else {"gamma": gamma}
    assert_allclose(ours(X, X[:9]), pairwise_kernels(X, X[:9], metric=name, **parameters), rtol=1e-12)
    assert_allclose(ours.diagonal(X), np.diagonal(ours(X, X)), rtol=1e-12)


@pytest.mark.parametrize("form", ["rbf", RBF(2.0)])
def test_stacks_are_matrices_one_by_one(X, form):
    kernel = Kernel(form, gamma=0.3)
    stack = X[:60].reshape(4, 15, 3)
    assert_allclose(kernel(stack, stack)[2], kernel(stack[2], stack[2]), rtol=1e-12)


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


def test_gaussian_process_kernels_carry_their_own_scale(X):
    y = np.sin(X[:, 0])
    scaled = LocalKernelRidge(ConstantKernel(50.0) * RBF(np.sqrt(0.1))).fit(X, y)
    plain = LocalKernelRidge("rbf", gamma=5, alpha=1 / 50).fit(X, y)
    assert_allclose(scaled.predict(X[:5]), plain.predict(X[:5]), rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, r"kernel must be one of .* or a callable, got 'cosine'\."),
        ({"gamma": 0}, r"gamma must be None or > 0, got 0\."),
        ({"gamma": -2.0}, r"gamma must be None or > 0, got -2\.0\."),
        ({"degree": 0}, r"degree must be > 0, got 0\."),
        ({"coef0": np.nan}, r"coef0 must be a finite number, got nan\."),
        ({"alpha": 0.0}, r"alpha must be > 0 and finite, got 0\.0\."),
        ({"alpha": np.eye(3)}, r"alpha must be > 0 and finite, got array"),
        ({"tol": 1.0}, r"tol must be in \(0, 1\), got 1\.0\."),
        ({"solver": "fast"}, r"solver must be one of .*, got 'fast'\."),
        ({"solver": "line"}, r"solver='line' needs distances along one direction, got 3 dimensions\."),
        ({"solver": "line", "weight": "gaussian"}, r"solver='line' needs weight='exponential', got 'gaussian'\."),
        ({"solver": "line", "n_neighbors": 4}, r"solver='line' needs n_neighbors=None, got 4\."),
        ({"solver": "neighbors"}, r"solver='neighbors' needs n_neighbors, got None\."),
        ({"decay": -1}, r"decay must be > 0 and finite, got -1\."),
        ({"norm": 0}, r"norm must be 1, 2, inf or a positive semidefinite matrix, got 0\."),
        ({"kernel": lambda A, B: A}, r"must return a matrix of shape"),
        ({"kernel": lambda A, B: A @ B.T * np.nan}, r"must return finite values"),
        ({"kernel": "poly", "degree": 400, "gamma": 1e3}, r"must give finite values: scale the features"),
    ],
)
def test_bad_parameters_are_named(X, parameters, message):
    with pytest.raises(InvalidInput, match=message):
        LocalKernelRidge(**parameters).fit(X, X[:, 0])


def test_auto_says_when_it_falls_back_to_dense_solves():
    X = np.random.default_rng(0).normal(size=(1100, 8))
    with pytest.warns(UserWarning, match="falls back to 'dense', one 1100 × 1100 factorization for every point"):
        model = LocalKernelRidge(gamma=1.0).fit(X, X[:, 0])
    assert model.solver_ == "dense"
