"""The local fit in θ: one p × p system a point, from weighted sums of products (φ-form of the appendix)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.design import Points, Regressors
from pacband.local.fits.bordered import Triangles, solve_graded
from pacband.local.fits.certified import refine_fit
from pacband.local.memory import PORTION, cut

__all__ = ["fit_primal"]

# σ̂² from sums of squares loses digits where little of ΣΓr² is left. Below this part it is summed from the residuals.
_CANCELLED = 1e-3
# Systems are factored and solved in portions of this many numbers: few calls, and arrays that stay near the cache.
_SYSTEMS = 9 << 16


def fit_primal(
    design: Regressors,
    points: Points,
    alpha: float,
    sums: Floats,
    total: Floats,
    weights_of: Callable[[Indices], Floats],
    *,
    samples: Indices | None = None,
) -> tuple[Floats, Floats]:
    """Return T(x) and σ̂²(x) of a batch from its weighted sums.

    With y = Fθ₀ + r and θ = θ₀ + η, G = FᵀDF and c = FᵀDr, the minimizer of
    α‖θ‖² + Σ Γ_j (y_j − F_jᵀθ)² satisfies (G + αI) η = c − αθ₀, and

        Σ Γ (r − Fη)² = ΣΓr² − ηᵀ(c + αθ).

    Where that difference has cancelled, the residuals r − Fη are formed and summed. Where F Fᵀ only approximates a Gram
    matrix, `certified` keeps both errors below tol.

    Parameters
    ----------
    design : Regressors
    points : Points
        The points in the basis of the design.
    alpha : float
    sums, total : ndarray
        [G ·; cᵀ ΣΓr²] of each point, packed by rows or as a stack, and ΣΓ.
    weights_of : callable
        Indices of k points of the batch ↦ their weights, shape (k, L).
    samples : ndarray of shape (n, L), optional
        The samples that the weights of each point belong to; None is all samples in order.
    """
    n, p = points.features.shape
    if not p:
        return np.zeros(n), np.maximum(sums.reshape(n, -1)[:, 0], 0.0) / total
    theta, left, cancelled = np.empty((n, p)), np.empty(n), np.empty(n, dtype=bool)
    step = -(-n // -(-n * (p + 1) ** 2 // _SYSTEMS))  # portions of equal size
    for start in range(0, n, step):
        part = slice(start, start + step)
        gram = Triangles(sums[part])
        last = gram.row(p)
        moments, squares = last[:, :p], last[:, p]
        change = solve_graded(gram, moments - alpha * design.centre, alpha)
        theta[part] = change + design.centre
        left[part] = squares - np.einsum("np,np->n", change, moments + alpha * theta[part])
        # The rounding error of `left` has the size of the terms, not of their difference.
        trace = gram.diagonal(0, p).sum(axis=1) + p * alpha
        terms = squares + 1e-3 * trace * np.einsum("np,np->n", change, change)
        cancelled[part] = left[part] < _CANCELLED * terms
    rows = np.flatnonzero(cancelled)
    n_samples = len(design.matrix) if samples is None else samples.shape[1] * p
    for portion in cut(len(rows), each=n_samples, room=PORTION):
        some = rows[portion]
        weights, change = weights_of(some), theta[some] - design.centre
        if samples is None:
            errors = design.residual - change @ design.matrix.T
        else:
            near = samples[some]
            errors = design.residual[near] - np.einsum("kp,klp->kl", change, design.matrix[near])
        left[some] = np.einsum("kl,kl,kl->k", weights, errors, errors)
    left = np.maximum(left, 0.0)
    prediction: Floats = np.einsum("np,np->n", points.features, theta)
    if design.exact is not None:
        refine_fit(prediction, left, design, points, alpha, theta, total, weights_of)
    return prediction, left / total
