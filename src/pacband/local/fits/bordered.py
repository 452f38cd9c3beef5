"""Stacks of positive definite systems."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats

__all__ = ["solve_bordered"]

_SMALL = 256
_BLOCK = 128


def solve_bordered(stack: Floats, least: float) -> Floats:
    """Solve H z = h for a stack of bordered matrices [H ·; hᵀ ·] with H ≥ least·I.

    The Cholesky factorization of the bordered matrix includes the forward substitution: its last row is C⁻¹h. The
    corner must exceed hᵀH⁻¹h, which hᵀh / least does. Only the lower triangles are read. Overwrites the corner of
    `stack` in place.

    Parameters
    ----------
    stack : ndarray of shape (n, order + 1, order + 1)
    least : float
        A positive lower bound on the eigenvalues of H.

    Returns
    -------
    ndarray of shape (n, order)

    Examples
    --------
    >>> import numpy as np
    >>> solve_bordered(np.array([[[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 3.0, 0.0]]]), least=1.0)
    array([[1., 1.]])
    """
    order = stack.shape[1] - 1
    right = stack[:, order, :order]
    stack[:, order, order] = 1.0 + 2.0 * np.einsum("ni,ni->n", right, right) / least
    try:
        triangles: Floats = np.linalg.cholesky(stack).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return _solve_by_eigenvalues(stack, least)
    return _back_substitute(triangles[:, :order, :order], triangles[:, order, :order])


def _back_substitute(triangles: Floats, right: Floats) -> Floats:
    """Solve Cᵀz = w for a stack of lower triangular C, from the last column to the first."""
    order = right.shape[1]
    solution: Floats = right.astype(np.float64)
    # Small matrices come in large stacks: one call a column. Large ones come in small stacks: one call a block.
    if order <= _SMALL:
        for j in range(order - 1, -1, -1):
            solution[:, j] -= np.einsum("nk,nk->n", triangles[:, j + 1 :, j], solution[:, j + 1 :])
            solution[:, j] /= triangles[:, j, j]
        return solution
    for stop in range(order, 0, -_BLOCK):
        block = slice(max(0, stop - _BLOCK), stop)
        corner = np.swapaxes(triangles[:, block, block], 1, 2)
        solution[:, block] = np.linalg.solve(corner, solution[:, block, None])[:, :, 0]
        solution[:, : block.start] -= (solution[:, None, block] @ triangles[:, block, : block.start])[:, 0]
    return solution


def _solve_by_eigenvalues(stack: Floats, least: float) -> Floats:
    """Solve where rounding errors make H look indefinite: raise its eigenvalues to their known lower bound."""
    order = stack.shape[1] - 1
    values, vectors = np.linalg.eigh(stack[:, :order, :order])
    parts = np.einsum("nij,ni->nj", vectors, stack[:, order, :order]) / np.maximum(values, least)
    solution: Floats = np.einsum("nij,nj->ni", vectors, parts)
    return solution
