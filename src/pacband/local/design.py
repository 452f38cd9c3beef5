"""What the local fit regresses on: the regressors R = [φ₁ … φ_M] or, for a kernel, the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.factor import rounding
from pacband.local.kernels import Kernel
from pacband.local.products import Products

__all__ = ["Gram", "Points", "Regressors", "regressors"]


@dataclass(frozen=True, eq=False)
class Gram:
    """The samples through k(x_a, x_b) alone: the form based on a kernel.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    matrix : ndarray of shape (n_samples, n_samples) or None
        The whole Gram matrix, for the dense solver.
    """

    kernel: Kernel
    X: Floats
    matrix: Floats | None = None

    def gram(self, rows: Indices) -> Floats:
        """Return K among each row of indices: shape (n, L, L)."""
        if self.matrix is not None:
            if rows.shape[1] == len(self.matrix):  # rows are sorted: these are all samples in order
                return np.broadcast_to(self.matrix, (len(rows), *self.matrix.shape))
            return self.matrix[rows[:, :, None], rows[:, None, :]]
        local = self.X[rows]
        return self.kernel(local, local)

    def cross(self, X: Floats, rows: Indices) -> Floats:
        """Return k(x, x_j) for the samples j listed in the row of x, or in the only row: shape (n, L)."""
        if len(rows) == 1:
            return self.kernel(X, self.X[rows[0]])
        return self.kernel(X[:, None, :], self.X[rows])[:, 0, :]


@dataclass(frozen=True, eq=False)
class Points:
    """Points x in the basis of `Regressors`.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        The points.
    features : ndarray of shape (n, rank)
        φ(x) in the basis of F.
    gaps : ndarray of shape (n,)
        k(x, x) − ‖φ(x)‖²: how much of x the basis does not represent; zero where it is a rounding error.
    diagonal : ndarray of shape (n,)
        k(x, x), or zeros if the basis is all there is.
    """

    X: Floats
    features: Floats
    gaps: Floats
    diagonal: Floats


@dataclass(frozen=True, eq=False)
class Regressors:
    """The samples as rows of a matrix F in which the penalty is α‖θ‖²: the form based on φ.

    The basis is rotated so that the columns of F are orthogonal over the whole sample. The target is split as
    y = Fθ₀ + r with the ordinary ridge fit θ₀. A local fit θ = θ₀ + η then finds only the difference η from the global
    fit. The sums that give σ̂ are sums of r², which has the size of σ̂² itself, so they lose no digits.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, rank)
        F.
    centre : ndarray of shape (rank,)
        θ₀.
    residual : ndarray of shape (n_samples,)
        r = y − Fθ₀.
    phi : callable
        X ↦ the rows φ(x) before the rotation.
    rotation : ndarray of shape (n_features_out, rank)
    exact : Gram or None
        The kernel and the samples of which F Fᵀ approximates the Gram matrix; None if F Fᵀ is exact.
    tol : float
        How much the approximation F Fᵀ may add to the error of T, in units of y, and to the relative error of σ̂.
    gap, gaps_sum : float
        The largest k(x_j, x_j) − ‖F_j‖² of the samples, and the sum of them all, which is kept as model files have it.

    Notes
    -----
    `products` is computed at the first use and kept. Copies, pickles and model files leave it out.
    """

    matrix: Floats
    centre: Floats
    residual: Floats
    phi: Callable[[Floats], Floats]
    rotation: Floats
    exact: Gram | None = None
    tol: float = 0.0
    gap: float = 0.0
    gaps_sum: float = 0.0

    @cached_property
    def products(self) -> Products:
        """The products of the samples, from which weighted sums are made."""
        return Products(self.matrix, self.residual)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def at(self, X: Floats) -> Points:
        """Return the rows of X in the basis of F."""
        features: Floats = self.phi(X) @ self.rotation
        gaps = diagonal = np.zeros(len(X))
        if self.exact is not None:
            diagonal = self.exact.kernel.diagonal(X)
            gaps = diagonal - np.einsum("np,np->n", features, features)
            gaps[gaps <= rounding(len(self.matrix)) * diagonal] = 0.0
        return Points(X, features, gaps, diagonal)

    @property
    def largest(self) -> float:
        """The largest ‖F_j‖²: that of k(x_j, x_j), but for a gap."""
        return float(np.einsum("np,np->n", self.matrix, self.matrix).max(initial=0.0))

    def gram(self, rows: Indices) -> Floats:
        """Return F Fᵀ among each row of indices: shape (n, L, L)."""
        local = self.matrix[rows]
        gram: Floats = local @ np.swapaxes(local, 1, 2)
        return gram

    def cross(self, X: Floats, rows: Indices) -> Floats:
        """Return φ(x)ᵀ F_j for the samples j listed in the row of x: shape (n, L)."""
        cross: Floats = np.einsum("np,nlp->nl", self.at(X).features, self.matrix[rows])
        return cross


def regressors(
    matrix: Floats,
    y: Floats,
    phi: Callable[[Floats], Floats],
    *,
    drop: float = 0.0,
    exact: Gram | None = None,
    tol: float = 0.0,
) -> Regressors:
    """Rotate the rows φ(x_j) so that their columns are orthogonal, and subtract the global fit from y.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_features_out)
        φ(x_j), such that the penalty is α‖θ‖².
    y : ndarray of shape (n_samples,)
    phi : callable
        X ↦ φ(x).
    drop : float
        Directions are left out that make up, together, at most this part of tr(F Fᵀ). If it is zero and there is an
        exact kernel, those are left out that add up to rounding errors at every sample.
    exact, tol
        As in `Regressors`.
    """
    _, sizes, rotation = np.linalg.svd(np.linalg.qr(matrix, mode="r"), full_matrices=False)
    energy = sizes**2
    rank = int(np.searchsorted(-np.cumsum(energy[::-1])[::-1], -drop * energy.sum())) if drop else len(sizes)
    if exact is not None and not drop:
        rank = _within_rounding(matrix @ rotation.T, exact)
    rotated = rotation[:rank].T
    basis = np.ascontiguousarray(matrix @ rotated)
    # The penalty keeps θ₀ finite in directions without samples; every θ₀ gives the same local fit.
    penalty = 1e-8 * energy[:1].sum() or 1.0
    centre = basis.T @ y / (energy[:rank] + penalty)
    found = Regressors(basis, centre, y - basis @ centre, phi, rotated)
    if exact is None:
        return found
    diagonal = exact.kernel.diagonal(exact.X)
    gaps = np.maximum(diagonal - np.einsum("np,np->n", basis, basis), 0.0)
    return replace(found, exact=exact, tol=tol, gap=float(gaps.max()), gaps_sum=float(gaps.sum()))


def _within_rounding(basis: Floats, exact: Gram) -> int:
    """Return the least rank whose gaps at the samples are rounding errors; the whole rank if there is none."""
    diagonal = exact.kernel.diagonal(exact.X)
    left_out = np.cumsum(basis[:, ::-1] ** 2, axis=1)[:, ::-1]
    gaps = left_out + (diagonal - left_out[:, 0])[:, None]
    return int(np.count_nonzero(gaps.max(axis=0) > rounding(len(basis)) * diagonal.max()))
