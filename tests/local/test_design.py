"""Regressors: the rotated basis, the global fit that is subtracted, and the gaps of a kernel."""

import numpy as np
from numpy.testing import assert_allclose

from pacband.local.design import Gram, regressors
from pacband.local.factor import pivoted_cholesky
from pacband.local.kernels import Kernel


def draw(n=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + rng.standard_normal(n)


def test_columns_are_orthogonal_and_inner_products_are_kept():
    X, y = draw()
    design = regressors(X, y, lambda Z: Z)
    gram = design.matrix.T @ design.matrix
    assert_allclose(gram, np.diag(np.diagonal(gram)), atol=1e-12)
    assert_allclose(design.matrix @ design.matrix.T, X @ X.T, atol=1e-12)
    assert_allclose(design.matrix @ design.centre + design.residual, y)
    points = design.at(X[:5])
    assert_allclose(points.features, design.matrix[:5], atol=1e-12)
    assert not points.gaps.any()


def test_gaps_are_what_the_basis_does_not_represent():
    X, y = draw()
    kernel = Kernel("rbf", 0.7)
    factor = pivoted_cholesky(kernel, X, tol=1e-6, max_rank=60)
    design = regressors(factor.columns, y, factor.features, exact=Gram(kernel, X), tol=1e-6)
    assert (design.at(X).gaps <= (1 + 1e-6) * design.gap).all()
    assert 0 < design.gap <= design.gaps_sum <= 2e-6 * len(X)
    far = np.full((1, 2), 9.0)
    points = design.at(far)
    assert_allclose(points.gaps, 1.0, atol=1e-6)


def test_products_are_computed_once():
    X, y = draw()
    design = regressors(X, y, lambda Z: Z)
    assert design.products is design.products
