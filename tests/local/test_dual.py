"""The fit through the Gram matrix against the formula with D⁻¹."""

import numpy as np
from numpy.testing import assert_allclose

from pacband.local.fits.dual import fit_dual


def test_is_the_formula_and_not_its_misprint():
    rng = np.random.default_rng(0)
    root, y = rng.standard_normal((5, 3)), rng.standard_normal(5)
    gram, cross, weights = root @ root.T, rng.standard_normal(5), rng.uniform(0.1, 1, 5)
    prediction, variance = fit_dual(gram[None], cross[None], weights[None], y[None], 0.3)
    system = np.diag(1 / weights) + gram / 0.3
    assert_allclose(prediction, cross @ np.linalg.solve(system, y) / 0.3)
    errors = y - gram / 0.3 @ np.linalg.solve(system, y)
    assert_allclose(variance, weights @ errors**2 / weights.sum())
    twin = cross @ np.linalg.solve(np.diag(weights) + gram / 0.3, y) / 0.3
    assert abs(twin - prediction[0]) > 1e-3


def test_a_sample_without_weight_changes_nothing():
    gram, cross, y = np.eye(2)[None] + 0.5, np.array([[1.0, 0.5]]), np.array([[1.0, 7.0]])
    with_it = fit_dual(gram, cross, np.array([[0.5, 0.0]]), y, 1.0)
    without = fit_dual(gram[:, :1, :1], cross[:, :1], np.array([[0.5]]), y[:, :1], 1.0)
    assert_allclose(with_it, without)
