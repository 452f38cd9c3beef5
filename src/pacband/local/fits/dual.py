"""The local fit through the Gram matrix: one L × L system a point (kernel form of the appendix)."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.fits.bordered import border_weighted, solve_bordered

__all__ = ["fit_dual"]


def fit_dual(gram: Floats, cross: Floats, weights: Floats, y: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return T(x) and σ̂²(x) of a batch of points, each with its own L samples.

    The paper prints (D + 𝕂)⁻¹; its derivation gives (D⁻¹ + 𝕂)⁻¹, 𝕂 = K/α. Weights may be zero, so no inverse of D
    is formed: with S = D^½ 𝕂 D^½ and u = (I + S)⁻¹ D^½ y,

        T(x) = k_xᵀ D^½ u / α,      σ̂(x) = ‖u‖ / √tr D,

    because the local errors are e = D^-½ u.

    Parameters
    ----------
    gram : ndarray of shape (n, L, L) or (1, L, L)
    cross : ndarray of shape (n, L)
        k(x, x_j).
    weights : ndarray of shape (n, L)
        Γ_j.
    y : ndarray of shape (n, L) or (1, L)
    alpha : float
    """
    roots = np.sqrt(weights)
    u = solve_bordered(border_weighted(gram, roots, y, alpha), 1.0)
    prediction = np.einsum("nl,nl->n", cross, roots * u) / alpha
    return prediction, np.einsum("nl,nl->n", u, u) / weights.sum(axis=1)
