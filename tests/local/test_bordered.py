"""Stacks of positive definite systems against numpy's solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local.fits.bordered import solve_bordered


@pytest.mark.parametrize("order", [1, 7, 256, 300])
def test_solves_every_system_of_a_stack(order):
    rng = np.random.default_rng(order)
    roots = rng.standard_normal((3, order, order)) / np.sqrt(order)
    stack = np.zeros((3, order + 1, order + 1))
    stack[:, :order, :order] = roots @ np.swapaxes(roots, 1, 2) + 0.5 * np.eye(order)
    stack[:, order, :order] = rng.standard_normal((3, order))
    expected = np.linalg.solve(stack[:, :order, :order], stack[:, order, :order, None])[:, :, 0]
    assert_allclose(solve_bordered(stack.copy(), 0.5), expected, rtol=1e-9)
    stack[:, np.triu_indices(order + 1, 1)[0], np.triu_indices(order + 1, 1)[1]] = np.nan  # never read
    assert_allclose(solve_bordered(stack, 0.5), expected, rtol=1e-9)


def test_eigenvalues_below_their_bound_are_raised_to_it():
    stack = np.zeros((1, 3, 3))
    stack[0, :2, :2] = [[1.0, 0.0], [0.0, -1e-20]]  # H ≥ 0.1·I was promised
    stack[0, 2, :2] = [3.0, 4.0]
    assert_allclose(solve_bordered(stack, 0.1), [[3.0, 40.0]])
