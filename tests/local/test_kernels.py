"""Kernels by name, by callable, and their diagonals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import pairwise_kernels

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


@pytest.mark.parametrize(
    "kernel",
    [Kernel("linear"), Kernel("poly", 0.5, 2.0, 1.0), Kernel("rbf", 0.7, origin=np.zeros(3)), Kernel("sigmoid", 0.1)],
    ids=lambda kernel: kernel.form,
)
def test_the_diagonal_of_a_kernel_is_that_of_its_gram_matrix(kernel):
    X = np.random.default_rng(0).standard_normal((300, 3))
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X, X)), rtol=1e-13)
