"""Stacks of positive definite systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacband.core.arrays import Floats

__all__ = ["Triangles", "border_weighted", "raise_corner", "solve_bordered", "solve_graded"]

_SMALL = 256
_BLOCK = 128
# So many rows, and their border, are factored by LAPACK without recursion: one more takes half as long again.
_QUICK = 31
# How much a tail may add to its own diagonal, as a part of α.
_TAIL = 0.05
# The series of a tail ends where its terms are rounding errors.
_ROUNDING = 1e-16


def border_weighted(gram: Floats, roots: Floats, y: Floats, alpha: float) -> Floats:
    """Return [I + AKA/α  ·; (Ay)ᵀ  ·] for each diagonal A = D^½: the systems of the kernel form, and their right sides.

    Parameters
    ----------
    gram : ndarray of shape (n, L, L) or (1, L, L)
        K.
    roots : ndarray of shape (n, L)
        The diagonals of A.
    y : ndarray of shape (n, L) or (1, L)
    alpha : float

    Returns
    -------
    ndarray of shape (n, L + 1, L + 1)
        The last column is not defined.
    """
    n, order = roots.shape
    stack = np.empty((n, order + 1, order + 1))
    inner = stack[:, :order, :order]
    np.multiply(gram, (roots / alpha)[:, :, None], out=inner)
    inner *= roots[:, None, :]
    np.einsum("nii->ni", inner)[...] += 1.0
    stack[:, order, :order] = roots * y
    return stack


def raise_corner(stack: Floats, least: float) -> None:
    """Make the corners of bordered matrices with H ≥ least·I so large that the whole is positive definite, in place."""
    right = stack[:, -1, :-1]
    stack[:, -1, -1] = 1.0 + 2.0 * np.einsum("ni,ni->n", right, right) / least


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
    raise_corner(stack, least)
    try:
        factors: Floats = np.linalg.cholesky(stack).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return _solve_by_eigenvalues(stack, least)
    return _back_substitute(factors[:, :order, :order], factors[:, order, :order])


@dataclass(frozen=True, eq=False)
class Triangles:
    """The lower triangles of a batch of symmetric matrices, packed by rows or as a stack.

    Attributes
    ----------
    numbers : ndarray of shape (n, size) or (n, order, order)

    Examples
    --------
    >>> import numpy as np
    >>> Triangles(np.array([[1.0, 2.0, 3.0]])).row(1)
    array([[2., 3.]])
    >>> Triangles(np.array([[[1.0, 0.0], [2.0, 3.0]]])).diagonal(0, 2)
    array([[1., 3.]])
    """

    numbers: Floats

    def row(self, i: int) -> Floats:
        """Return a row of each matrix up to its diagonal: shape (n, row + 1)."""
        if self.numbers.ndim == 3:
            return self.numbers[:, i, : i + 1]
        start = i * (i + 1) // 2
        return self.numbers[:, start : start + i + 1]

    def diagonal(self, start: int, stop: int) -> Floats:
        """Return some numbers of each diagonal: shape (n, stop - start)."""
        rows = np.arange(start, stop)
        if self.numbers.ndim == 3:
            return self.numbers[:, rows, rows]
        return self.numbers[:, rows * (rows + 3) // 2]


def solve_graded(gram: Triangles, right: Floats, alpha: float) -> Floats:
    """Solve (G + αI) z = h for a batch of G ≥ 0. Where the last columns of G are small, only the first are factored.

    Let G + αI = [H₁ Bᵀ; B αI + C] with tr C ≤ α/20. Then (αI + C)⁻¹ = (I + E + E²)(I + E³)(I + E⁶)(I + E¹²)…/α for
    E = −C/α, whose factors soon are I up to rounding errors. So the tail is eliminated by a few products of small
    matrices. For 46 directions of a smooth kernel these and a factorization of 31 take less time than one of 46.

    Parameters
    ----------
    gram : Triangles
        Only as many rows are read as there are numbers in h.
    right : ndarray of shape (n, order)
    alpha : float

    Examples
    --------
    >>> import numpy as np
    >>> solve_graded(Triangles(np.array([[1.0, 1.0, 1.0]])), np.array([[3.0, 3.0]]), alpha=1.0)
    array([[1., 1.]])
    """
    n, order = right.shape
    added = gram.diagonal(_QUICK, order).max(axis=0)
    head = order - int(np.count_nonzero(np.cumsum(added[::-1]) <= _TAIL * alpha))
    beside = np.empty((n, order - head, head + 1))  # B and the last numbers of h
    tail = np.empty((n, order - head, order - head))
    for i, row in enumerate(range(head, order)):
        numbers = gram.row(row)
        beside[:, i, :head] = numbers[:, :head]
        tail[:, i, : i + 1] = tail[:, : i + 1, i] = numbers[:, head:]
    beside[:, :, head] = right[:, head:]
    solved = _invert_nearly_scalar(tail, alpha) @ beside
    # H₁ − Bᵀ(αI + C)⁻¹B, bordered by what is left of h. Nothing above the diagonal, or in the corner, is read.
    stack = np.empty((n, head + 1, head + 1))
    np.matmul(np.swapaxes(beside, 1, 2), solved[:, :, :head], out=stack[:, :, :head])
    for i in range(head):
        row_of_head = stack[:, i, : i + 1]
        np.subtract(gram.row(i), row_of_head, out=row_of_head)
    np.subtract(right[:, :head], stack[:, head, :head], out=stack[:, head, :head])
    np.einsum("nii->ni", stack[:, :head, :head])[...] += alpha
    first = solve_bordered(stack, alpha)
    last = solved[:, :, head] - (solved[:, :, :head] @ first[:, :, None])[:, :, 0]
    return np.concatenate([first, last], axis=1)


def _invert_nearly_scalar(matrices: Floats, alpha: float) -> Floats:
    """Return (αI + C)⁻¹ for a stack of matrices C ≥ 0 that are small beside α. Overwrites the stack."""
    matrices /= -alpha
    square = matrices @ matrices
    power = matrices @ square
    inverse = np.add(matrices, square, out=square)
    np.einsum("nii->ni", inverse)[...] += 1.0
    # ‖E³‖ ≤ (tr C/α)³
    size = float(-np.einsum("nii->n", matrices).min(initial=0.0)) ** 3
    while size > _ROUNDING:
        inverse += power @ inverse
        size *= size
        if size > _ROUNDING:
            power = power @ power
    inverse /= alpha
    return inverse


def _back_substitute(factors: Floats, right: Floats) -> Floats:
    """Solve Cᵀz = w for a stack of lower triangular C, from the last column to the first."""
    order = right.shape[1]
    solution: Floats = right.astype(np.float64)
    # Small matrices come in large stacks: one call a column. Large ones come in small stacks: one call a block.
    if order <= _SMALL:
        for j in range(order - 1, -1, -1):
            solution[:, j] -= np.einsum("nk,nk->n", factors[:, j + 1 :, j], solution[:, j + 1 :])
            solution[:, j] /= factors[:, j, j]
        return solution
    for stop in range(order, 0, -_BLOCK):
        block = slice(max(0, stop - _BLOCK), stop)
        corner = np.swapaxes(factors[:, block, block], 1, 2)
        solution[:, block] = np.linalg.solve(corner, solution[:, block, None])[:, :, 0]
        solution[:, : block.start] -= (solution[:, None, block] @ factors[:, block, : block.start])[:, 0]
    return solution


def _solve_by_eigenvalues(stack: Floats, least: float) -> Floats:
    """Solve where rounding errors make H look indefinite: raise its eigenvalues to their known lower bound."""
    order = stack.shape[1] - 1
    values, vectors = np.linalg.eigh(stack[:, :order, :order])
    parts = np.einsum("nij,ni->nj", vectors, stack[:, order, :order]) / np.maximum(values, least)
    solution: Floats = np.einsum("nij,nj->ni", vectors, parts)
    return solution
