"""The local fit in θ: one p × p system a point, from weighted sums of products (φ-form of the appendix)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacband.core.arrays import Floats
from pacband.local.design import Regressors
from pacband.local.solvers.jobs import budget
from pacband.local.solvers.linear import solve_bordered

__all__ = ["Products", "Rows", "Weighted", "fit_primal"]

# Up to this rank, all systems of a batch are one product of Γ with a table; above, one product a point.
_TABLE_RANK = 160
# σ̂² from sums of squares loses digits where little of ΣΓr² is left; below this part residuals are looked at.
_CANCELLED = 1e-4
# A table that is not kept is made in portions of this many numbers.
_PORTION = 1 << 22
# Systems are unpacked, factored and solved while they lie in the cache: numbers in such a portion.
_CACHED = 1 << 17

Rows = NDArray[np.intp]
Weighted = Callable[[Rows], tuple[Floats, Rows]]


class Products:
    """The weighted sums Σ_j Γ_j z_j z_jᵀ with z_j = (F_j, r_j), and Σ_j Γ_j, for batches of weights.

    For a batch they are ONE matrix product: Γ (points × samples) times the table of the (p+1)(p+2)/2 products
    z_ja z_jb of each sample, with a last column of ones.

    Parameters
    ----------
    regressors : Regressors
    """

    def __init__(self, regressors: Regressors) -> None:
        self.samples = np.column_stack([regressors.matrix, regressors.residual])
        self.order = int(self.samples.shape[1])
        self.size = self.order * (self.order + 1) // 2 + 1
        self.by_table = self.order <= _TABLE_RANK
        self._kept: Floats | None = None
        if self.by_table and len(self.samples) * self.size <= budget() // 4:
            self._kept = self.table(slice(None))

    @property
    def numbers_per_point(self) -> int:
        """Scratch space of the sums of one point."""
        return self.size if self.by_table else self.order**2 + 2 * int(self.samples.size)

    def table(self, rows: slice) -> Floats:
        """The products of these samples, lower triangle by rows, and a column of ones."""
        if self._kept is not None:
            return self._kept[rows]
        samples = self.samples[rows]
        table = np.empty((len(samples), self.size))
        start = 0
        for i in range(self.order):
            np.multiply(samples[:, : i + 1], samples[:, i : i + 1], out=table[:, start : start + i + 1])
            start += i + 1
        table[:, start] = 1.0
        return table

    def sums(self, weights: Floats) -> tuple[Floats, Floats]:
        """Σ Γ z zᵀ and Σ Γ for each row of weights; the former packed, or as a stack."""
        if not self.by_table:
            return self._one_by_one(weights)
        packed = self.packed(weights)
        return packed, packed[:, -1]

    def packed(self, weights: Floats) -> Floats:
        """The sums of table rows, shape (n, size); the last column is Σ Γ."""
        n_samples = len(self.samples)
        step = n_samples if self._kept is not None else max(64, min(budget() // 4, _PORTION) // self.size)
        packed = weights[:, :step] @ self.table(slice(0, step))
        for start in range(step, n_samples, step):
            packed += weights[:, start : start + step] @ self.table(slice(start, start + step))
        return packed

    def _one_by_one(self, weights: Floats) -> tuple[Floats, Floats]:
        stack = np.empty((len(weights), self.order, self.order))
        for roots, matrix in zip(np.sqrt(weights), stack, strict=True):
            active = roots > 0.0
            rows = self.samples[active] * roots[active, None]
            np.matmul(rows.T, rows, out=matrix)
        return stack, weights.sum(axis=1)


def _unpack(sums: Floats, stack: Floats) -> None:
    """Write sums of table rows, or a stack, as lower triangles."""
    if sums.ndim == 3:
        stack[:] = sums
        return
    start = 0
    for i in range(stack.shape[1]):
        stack[:, i, : i + 1] = sums[:, start : start + i + 1]
        start += i + 1


def fit_primal(
    regressors: Regressors,
    features: Floats,
    alpha: float,
    sums: Floats,
    total: Floats,
    weighted: Weighted,
    *,
    gaps: Floats | None = None,
    located: Callable[[Rows], Floats] | None = None,
) -> tuple[Floats, Floats]:
    """T(x) and σ̂²(x) of a batch from its weighted sums.

    With y = Fθ₀ + r and θ = θ₀ + η, G = FᵀDF and c = FᵀDr, the minimizer of
    α‖θ‖² + Σ Γ_j (y_j − F_jᵀθ)² satisfies (G + αI) η = c − αθ₀, and

        Σ Γ (r − Fη)² = ΣΓr² − ηᵀ(c + αθ).

    Where that difference has cancelled, the residuals r − Fη are formed and summed.

    Parameters
    ----------
    regressors : Regressors
    features : ndarray of shape (n, p)
        φ(x) in the basis of the regressors.
    alpha : float
    sums, total : ndarray
        [G ·; cᵀ ΣΓr²] of each point, packed by rows or as a stack, and ΣΓ.
    weighted : callable
        Points of the batch ↦ their weights (k, L), and the samples these belong to: indices (k, L), or an empty array
        for all samples in order.
    gaps : ndarray of shape (n,), optional
        `regressors.gaps` of the points.
    located : callable, optional
        Points of the batch ↦ their rows x; needed with `gaps`.
    """
    n, p = features.shape
    if not p:
        return np.zeros(n), np.maximum(sums.reshape(n, -1)[:, 0], 0.0) / total
    theta, left, cancelled = np.empty((n, p)), np.empty(n), np.empty(n, dtype=bool)
    step = max(1, _CACHED // (p + 1) ** 2)
    scratch = np.empty((min(n, step), p + 1, p + 1))
    for start in range(0, n, step):
        part = slice(start, start + step)
        stack = scratch[: len(total[part])]
        _unpack(sums[part], stack)
        squares, moved = stack[:, p, p].copy(), stack[:, p, :p].copy()
        diagonal = np.einsum("nii->ni", stack[:, :p, :p])
        diagonal += alpha
        stack[:, p, :p] -= alpha * regressors.centre
        change = solve_bordered(stack, alpha)
        theta[part] = change + regressors.centre
        left[part] = squares - np.einsum("np,np->n", change, moved + alpha * theta[part])
        # What rounding may have put into `left` is of the size of the terms, not of their difference.
        terms = squares + 1e-3 * diagonal.sum(axis=1) * np.einsum("np,np->n", change, change)
        cancelled[part] = left[part] < _CANCELLED * terms
    if cancelled.any():
        points = np.flatnonzero(cancelled)
        weights, rows = weighted(points)
        change = theta[points] - regressors.centre
        if rows.size:
            errors = regressors.residual[rows] - np.einsum("kp,klp->kl", change, regressors.matrix[rows])
        else:
            errors = regressors.residual - change @ regressors.matrix.T
        left[points] = np.einsum("kl,kl,kl->k", weights, errors, errors)
    left = np.maximum(left, 0.0)
    prediction: Floats = np.einsum("np,np->n", features, theta)
    if gaps is not None and located is not None and gaps.any():
        _complete(prediction, regressors, features, alpha, theta, np.sqrt(gaps * left), weighted, located)
    return prediction, left / total


def _complete(
    prediction: Floats,
    regressors: Regressors,
    features: Floats,
    alpha: float,
    theta: Floats,
    reach: Floats,
    weighted: Weighted,
    located: Callable[[Rows], Floats],
) -> None:
    """Add to T(x), in place, what the basis does not hold of k_x = k(x, ·).

    The fit is Fθ = F Fᵀa with a = De/α and the local errors e, so that T(x) = k_xᵀa = f_xᵀθ + (k_x − F f_x)ᵀa. The
    vector in brackets is a column of a Gram matrix, that of what F leaves of k: its inner product with a is at most

        √(k(x, x) − ‖f_x‖²) · √(aᵀRa),   aᵀRa ≤ tr R · ‖a‖²,   ‖a‖² ≤ ΣΓe²/α²   (R = K − F Fᵀ, Γ ≤ 1).

    Where this bound, √gap·√ΣΓe² in `reach` and the rest here, is at most tol, nothing is added.
    """
    points = np.flatnonzero(reach * np.sqrt(regressors.gaps_sum) / alpha > regressors.tol)
    step = max(1, _PORTION // max(1, len(regressors.matrix)) // 4)
    for start in range(0, len(points), step):
        some = points[start : start + step]
        weights, _ = weighted(some)
        errors = regressors.residual - (theta[some] - regressors.centre) @ regressors.matrix.T
        missing = regressors.missing(located(some), features[some])
        prediction[some] += np.einsum("kl,kl,kl->k", missing, weights, errors) / alpha
