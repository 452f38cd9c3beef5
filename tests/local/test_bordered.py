"""Stacks of positive definite systems against numpy's solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local.fits import bordered
from pacband.local.fits.bordered import Triangles, solve_bordered, solve_graded


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


def graded(order, falls, n=4, alpha=0.02):
    """Return Gram matrices packed by rows and as a stack, a right side, and the solution by numpy."""
    rng = np.random.default_rng(order)
    roots = rng.standard_normal((n, 3 * order, order)) * 10.0 ** -(falls * np.arange(order))
    matrices, right = np.swapaxes(roots, 1, 2) @ roots, rng.standard_normal((n, order))
    lower = np.tril_indices(order)
    stack = np.full((n, order + 1, order + 1), np.nan)  # what is above the diagonal or below the matrix is not read
    stack[:, lower[0], lower[1]] = matrices[:, lower[0], lower[1]]
    packed = np.column_stack([matrices[:, lower[0], lower[1]], np.full((n, order), np.nan)])
    expected = np.linalg.solve(matrices + alpha * np.eye(order), right[:, :, None])[:, :, 0]
    return Triangles(packed), Triangles(stack), right, expected


@pytest.mark.parametrize("falls", [0.0, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("order", [5, 31, 32, 46, 120])
def test_a_small_tail_is_eliminated_without_losing_digits(order, falls):
    packed, stack, right, expected = graded(order, falls)
    for gram in (packed, stack):
        kept = gram.numbers.copy()
        assert_allclose(solve_graded(gram, right, 0.02), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
        np.testing.assert_array_equal(gram.numbers, kept)  # other penalties need the sums as they are


def test_a_series_that_ends_too_early_is_noticed(monkeypatch):
    packed, _, right, expected = graded(46, 0.08)
    monkeypatch.setattr(bordered, "_ROUNDING", 1.0)
    assert np.abs(solve_graded(packed, right, 0.02) - expected).max() > 1e-9 * np.abs(expected).max()


def test_triangles_have_the_rows_and_diagonals_of_their_matrices():
    matrices = np.arange(32.0).reshape(2, 4, 4)
    for gram in (Triangles(matrices), Triangles(matrices[:, *np.tril_indices(4)])):
        for row in range(4):
            np.testing.assert_array_equal(gram.row(row), matrices[:, row, : row + 1])
        np.testing.assert_array_equal(gram.diagonal(1, 3), matrices[:, [1, 2], [1, 2]])
