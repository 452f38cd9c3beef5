"""Gram matrices: whether they are positive semidefinite, and their factorization into few columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.kernels import Kernel

__all__ = ["ROUNDING_OF_TRACE", "Factor", "check_positive_semidefinite", "pivoted_cholesky", "rounding"]


# Rounding errors make the computed Gram matrix of a kernel indefinite by some 1e-15 of its diagonal a column.
# A function that is no kernel makes it indefinite by far more than this fraction.
_INDEFINITE = 1e-9
# Below this part of the trace, the remainder is a rounding error.
ROUNDING_OF_TRACE = 100 * np.finfo(float).eps
# Candidate pivots evaluated together: enough for matrix products, few enough that most of them are used.
_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Factor:
    """K ≈ L Lᵀ, with L = K[:, pivots] C⁻ᵀ for the triangular C = L[pivots].

    Attributes
    ----------
    kernel : Kernel
    points : ndarray of shape (rank, n_features)
        The pivot samples.
    triangle : ndarray of shape (rank, rank)
        C, lower triangular.
    columns : ndarray of shape (n_samples, rank)
        L.
    """

    kernel: Kernel
    points: Floats
    triangle: Floats
    columns: Floats

    def features(self, X: Floats) -> Floats:
        """Return the row l_x with l_xᵀ L[j] ≈ k(x, x_j), for every row x of X."""
        cross = self.kernel(self.points, X)
        rows: Floats = np.linalg.solve(self.triangle, cross).astype(np.float64, copy=False)
        return rows.T


def rounding(n_samples: int) -> float:
    """Return below which part of k(x, x) a missing part is a rounding error: what "dense" solutions may lose too.

    The Cholesky factorization of n samples in floating point is the exact one of a matrix whose entries differ by up to
    (n + 1)·ε_machine·k (Higham 2002, Theorem 10.3). Features of few samples lose some 256 ε_machine.
    """
    return float(np.finfo(float).eps * max(256, n_samples + 1))


def pivoted_cholesky(kernel: Kernel, X: Floats, *, tol: float, max_rank: int) -> Factor | None:
    """Return K ≈ L Lᵀ with tr(K − L Lᵀ) ≤ tol·tr(K), from the diagonal and the columns of the pivots alone.

    If tol is below the rounding errors of the trace, every diagonal entry of K − L Lᵀ becomes a rounding error.

    The remainder of a pivoted Cholesky factorization is itself a Gram matrix, so its trace bounds its norm. Pivots
    are drawn in blocks, in proportion to the diagonal of the remainder. A block keeps those that are still large after
    the others are subtracted. The work is matrix products of O(n_samples · rank²), without the n_samples² entries of K.

    Returns
    -------
    Factor or None
        None if more than `max_rank` columns are needed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 500)[:, None]
    >>> factor = pivoted_cholesky(Kernel("rbf", gamma=1.0), X, tol=1e-10, max_rank=250)
    >>> factor.columns.shape[1] < 20
    True
    """
    trial = X[_sample(len(X), 16)]
    _check_symmetric(kernel(trial, trial))
    diagonal = kernel.diagonal(X)
    remainder = diagonal.copy()
    total, largest = diagonal.sum(), np.abs(diagonal).max()
    if (diagonal < -_INDEFINITE * largest).any():
        raise _error_of(kernel, float(diagonal.min()))
    rows = np.empty((0, len(X)))
    pivots: list[int] = []
    enough = max(tol, ROUNDING_OF_TRACE) * total
    each = rounding(len(X)) * largest if tol <= ROUNDING_OF_TRACE else np.inf
    while np.maximum(remainder, 0.0).sum() > enough or remainder.max() > each:
        candidates = _systematic(remainder)
        fresh = kernel(X[candidates], X)
        if rows.size:
            fresh -= rows[:, candidates].T @ rows
        kept, triangle = _eliminate(fresh[:, candidates])
        if not kept:  # the remainder is a rounding error
            break
        if len(pivots) + len(kept) > max_rank:
            return None
        pivots += candidates[kept].tolist()
        rows = np.concatenate([rows, np.linalg.solve(triangle, fresh[kept])])
        remainder = diagonal - np.einsum("kj,kj->j", rows, rows)
        remainder[pivots] = 0.0
        if remainder.min() < -_INDEFINITE * largest:
            raise _error_of(kernel, float(remainder.min()))
    _check_sample(kernel, X, rows, remainder, largest)
    return Factor(kernel, X[pivots], np.ascontiguousarray(np.tril(rows[:, pivots].T)), rows.T)


def _systematic(remainder: Floats) -> NDArray[np.intp]:
    """Return where equal shares of the remaining trace fall, and the largest remaining entry."""
    mass = np.cumsum(np.maximum(remainder, 0.0))
    shares = (np.arange(_BLOCK) + 0.5) / _BLOCK * mass[-1]
    drawn = np.minimum(np.searchsorted(mass, shares), len(remainder) - 1)
    return np.unique(np.append(drawn, remainder.argmax()))


def _eliminate(block: Floats) -> tuple[list[int], Floats]:
    """Return pivots and triangle of the Cholesky factorization of a small matrix, to a tenth of the first pivot."""
    rows = np.zeros_like(block)
    left = np.diagonal(block).copy()
    least = 0.1 * left.max()
    kept: list[int] = []
    while len(kept) < len(block) and left[best := int(left.argmax())] >= least > 0.0:
        k = len(kept)
        rows[k] = (block[best] - rows[:k, best] @ rows[:k]) / np.sqrt(left[best])
        kept.append(best)
        left -= rows[k] ** 2
        left[kept] = -np.inf
    return kept, np.tril(rows[: len(kept), kept].T)


def _check_sample(kernel: Kernel, X: Floats, rows: Floats, remainder: Floats, largest: float) -> None:
    """Check |R_ij| ≤ √(R_ii R_jj) off the diagonal too, on a few columns."""
    sample = _sample(len(X), 16)
    columns = kernel(X[sample], X)
    columns -= rows[:, sample].T @ rows
    bound = np.sqrt(np.outer(np.maximum(remainder[sample], 0.0), np.maximum(remainder, 0.0)))
    excess = float((np.abs(columns) - bound).max())
    if excess > _INDEFINITE * largest:
        raise _error_of(kernel, -excess)


def check_positive_semidefinite(kernel: Kernel, gram: Floats) -> None:
    """Raise if a Gram matrix has an eigenvalue below −1e-9 of its size, more than rounding errors explain."""
    _check_symmetric(gram)
    size = float(np.abs(gram).max())
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += _INDEFINITE * max(size, np.finfo(float).tiny) * len(gram) ** 0.5
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        raise _error_of(kernel, float(np.linalg.eigvalsh(gram)[0])) from None


def _check_symmetric(gram: Floats) -> None:
    if not np.allclose(gram, gram.T, rtol=1e-8, atol=1e-12 * float(np.abs(gram).max())):
        raise InvalidInput("kernel must be symmetric: K(A, B) must be the transpose of K(B, A).")


def _sample(n: int, count: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, count).astype(np.intp))


def _error_of(kernel: Kernel, amount: float) -> InvalidInput:
    name = kernel.form if isinstance(kernel.form, str) else "the callable"
    remedy = (
        "tanh is not a positive semidefinite kernel in general: use a smaller gamma, or kernel='rbf' or 'poly'"
        if name == "sigmoid"
        else "use a kernel that satisfies Mercer's condition, such as 'rbf', 'linear' or 'poly' with an integer "
        "degree and coef0 >= 0"
    )
    return InvalidInput(
        f"kernel must be positive semidefinite on the training samples, got a Gram matrix from {name!r} that is "
        f"indefinite by {amount:.3g}: {remedy}."
    )
