"""Stacks of positive definite systems against numpy's solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local.fits import bordered
from pacband.local.fits.bordered import solve_bordered, solve_graded


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


def graded(order, falls, n=4, least=0.02):
    rng = np.random.default_rng(order)
    roots = rng.standard_normal((n, 3 * order, order)) * 10.0 ** -(falls * np.arange(order))
    stack = np.full((n, order + 1, order + 1), np.nan)
    matrices = np.swapaxes(roots, 1, 2) @ roots + least * np.eye(order)
    lower = np.tril_indices(order)
    stack[:, lower[0], lower[1]] = matrices[:, lower[0], lower[1]]
    stack[:, order, :order] = rng.standard_normal((n, order))
    return stack, np.linalg.solve(matrices, stack[:, order, :order, None])[:, :, 0]


@pytest.mark.parametrize("falls", [0.0, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("order", [5, 31, 32, 46, 120])
def test_a_small_tail_is_eliminated_without_losing_digits(order, falls):
    stack, expected = graded(order, falls)
    assert_allclose(solve_graded(stack, 0.02), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_a_series_that_ends_too_early_is_noticed(monkeypatch):
    stack, expected = graded(46, 0.08)
    monkeypatch.setattr(bordered, "_ROUNDING", 1.0)
    assert np.abs(solve_graded(stack.copy(), 0.02) - expected).max() > 1e-9 * np.abs(expected).max()
