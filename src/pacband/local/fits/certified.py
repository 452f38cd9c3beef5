"""How far a low-rank fit may be from the exact one at any x, and what is done where that is too far.

K = F Fᵀ + R is the Gram matrix, f_x are the features of x, and k_R(x, z) = k(x, z) − f_xᵀf_z is what the basis does not
represent: a kernel, with the Gram matrix R and k_R(x, x) = g. With D = diag Γ_j and A = D^½, the exact local fit and
the low-rank one are, as in `dual`,

    (I + AKA/α) u = Ay,   T = k_xᵀAu/α,   σ̂ = ‖u‖/√tr D;      (I + AFFᵀA/α) v = Ay,   T̃ = f_xᵀFᵀAv/α,   σ̃ = ‖v‖/√tr D.

**Theorem.** Let τ = tr(DR). At every x

    |σ̂/σ̃ − 1| ≤ τ/α,      |T − T̃| ≤ ‖v‖·( √(k(x, x)/α)·τ/(2α) + √(gτ)/α ).

*Proof.* Subtract the systems: (I + AKA/α)(u − v) = ρ with the residual ρ = −ARAv/α. The eigenvalues of I + AKA/α are at
least one, and those of ARA lie between zero and tr(ARA) = τ. So ‖u − v‖ ≤ ‖ρ‖ ≤ τ‖v‖/α, which is the first claim. For
the second, T − T̃ = k_xᵀA(u − v)/α + (k_x − Ff_x)ᵀAv/α. Let k(x, z) = φ(x)ᵀφ(z) and Φ the rows φ(x_j): then
k_xᵀA(I + AKA/α)⁻¹/α = φ(x)ᵀΦᵀA(αI + AΦΦᵀA)⁻¹, of norm at most √k(x, x)·max_s s/(α + s²) = √(k(x, x)/α)/2. So the first
term is at most √(k(x, x)/α)‖ρ‖/2. In the second term (k_x − Ff_x)_j = k_R(x, x_j). The inequality of Cauchy and Schwarz
for the kernel k_R gives |Σ_j k_R(x, x_j)(Av)_j| ≤ √g·√(vᵀARAv) ≤ √(gτ)‖v‖. ∎

All numbers of the bound are known after the fit: ‖v‖² = ΣΓe², and τ ≤ ΣΓ·max_j R_jj. Where the bound exceeds tol, the
proof shows the way out: with the exact k_x the term √(gτ) vanishes, and the residual ‖ρ‖, once it is computed, replaces
τ‖v‖/α. So v is refined until ‖ρ‖ is small enough.

Rounding errors come on top, as in every solver: some 1e-15·tr(K)/α. A basis with max_j R_jj of the size of rounding
errors counts as exact: τ = 0 but in √(gτ), where the root makes it large.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.design import Points, Regressors
from pacband.local.factor import rounding
from pacband.local.memory import PORTION, cut

__all__ = ["refine_fit"]

# Refinement converges in a few steps. It stops after so many, where rounding errors hide the residual.
_STEPS = 50
_ROUNDING = 16 * np.finfo(float).eps
_TINY = np.finfo(float).tiny


def refine_fit(
    prediction: Floats,
    left: Floats,
    design: Regressors,
    points: Points,
    alpha: float,
    theta: Floats,
    total: Floats,
    weights_of: Callable[[Indices], Floats],
) -> None:
    """Correct T(x) and ΣΓe² at the points where the theorem does not bound their errors by tol. Changes both in place.

    Parameters
    ----------
    prediction, left : ndarray of shape (n,)
        T̃(x) and ΣΓe² = ‖v‖².
    design : Regressors
        A basis with an `exact` kernel.
    points : Points
    alpha : float
    theta : ndarray of shape (n, rank)
        The coefficients of the fits.
    total : ndarray of shape (n,)
        ΣΓ.
    weights_of : callable
        Indices of k points ↦ their weights, shape (k, n_samples).
    """
    assert design.exact is not None
    largest, size = design.largest, np.sqrt(left)
    tau = total * (0.0 if design.gap <= rounding(len(design.matrix)) * largest else design.gap)
    inner = np.sqrt(points.diagonal / alpha) * tau / (2.0 * alpha) * size
    # Rounding errors may hide a small gap of the samples.
    outer = np.sqrt(points.gaps * total * max(design.gap, _ROUNDING * largest)) / alpha * size
    allowed = design.tol * _growth(points.diagonal, largest)
    rows = np.flatnonzero(~((inner + outer <= allowed) & (tau <= design.tol * alpha)))
    for part in cut(len(rows), each=max(design.matrix.shape[0], design.matrix.shape[1] ** 2), room=PORTION):
        some = rows[part]
        weights, errors = weights_of(some), design.residual - (theta[some] - design.centre) @ design.matrix.T
        cross = design.exact.kernel(points.X[some], design.exact.X)
        reach = np.sqrt(points.diagonal[some] / alpha) / 2.0
        u = _refine(np.sqrt(weights), errors, design, alpha, allowed[some] / np.maximum(reach, _TINY))
        prediction[some] = np.einsum("kl,kl,kl->k", cross, np.sqrt(weights), u) / alpha
        left[some] = np.einsum("kl,kl->k", u, u)


def _growth(diagonal: Floats, largest: float) -> Floats:
    """Return max(1, √(k(x, x) / max_j k(x_j, x_j))): how much larger T may be at x than at the samples."""
    growth: Floats = np.sqrt(np.maximum(1.0, diagonal / (largest or 1.0)))
    return growth


def _refine(roots: Floats, errors: Floats, design: Regressors, alpha: float, enough: Floats) -> Floats:
    """Return u with ‖Ay − (I + AKA/α)u‖ ≤ min(enough, tol·‖u‖) for each row, by conjugate gradients from u = v on.

    The inverse of I + AFFᵀA/α, which is I − AF(αI + FᵀDF)⁻¹FᵀA, precedes each step. The eigenvalues of the system are
    then between 1 and 1 + τ/α, so that few steps suffice. Most points need none: only their residual is computed. A
    step costs one product with K for all points together. K is computed in portions and not kept.
    """
    matrix = design.matrix
    target = roots * (design.residual + matrix @ design.centre)
    u = roots * errors
    residual = target - _apply(design, roots, u, alpha)
    floor = _ROUNDING * np.linalg.norm(target, axis=1)
    inverse, ridge = np.empty((0, 0, 0)), alpha * np.eye(matrix.shape[1])
    direction, slope = np.zeros_like(u), np.ones(len(u))
    for _ in range(_STEPS):
        limit = np.maximum(np.minimum(design.tol * np.linalg.norm(u, axis=1), enough), floor)
        active = np.flatnonzero(np.linalg.norm(residual, axis=1) > limit)
        if not len(active):
            break
        if not len(inverse):
            inverse = np.stack([np.linalg.inv((matrix.T * row**2) @ matrix + ridge) for row in roots])
        rest, some_roots = residual[active], roots[active]
        moments = ((some_roots * rest) @ matrix)[:, :, None]
        solved = rest - some_roots * ((inverse[active] @ moments)[:, :, 0] @ matrix.T)
        slopes = np.einsum("kl,kl->k", rest, solved)
        direction[active] = solved + (slopes / slope[active])[:, None] * direction[active]
        slope[active] = slopes
        image = _apply(design, some_roots, direction[active], alpha)
        step = (slopes / np.einsum("kl,kl->k", direction[active], image))[:, None]
        u[active] += step * direction[active]
        residual[active] -= step * image
    return u


def _apply(design: Regressors, roots: Floats, u: Floats, alpha: float) -> Floats:
    """Return (I + AKA/α)u for each row of u, with its own A."""
    assert design.exact is not None
    kernel, X = design.exact.kernel, design.exact.X
    inner, image = roots * u, np.empty_like(u)
    for part in cut(len(X), each=len(X), room=PORTION):
        image[:, part] = inner @ kernel(X, X[part])
    image *= roots / alpha
    image += u
    return image
