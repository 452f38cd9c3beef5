"""What the local fit regresses on: the regressors R = [φ₁ … φ_M] or, for a kernel, the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacband._arrays import Floats
from pacband.local.kernels import Kernel

__all__ = ["Gram", "Regressors", "regressors"]

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Regressors:
    """The samples as rows of a matrix F in which the penalty is α‖θ‖²: the form based on φ.

    The basis is rotated so that the columns of F are orthogonal over the whole sample, and the target is
    split as y = Fθ₀ + r with the ordinary ridge fit θ₀. A local fit θ = θ₀ + η then has to find only how it departs
    from the global one: the sums that give σ̂ run over r², which is the size of σ̂² itself, and lose no digits.

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
    """

    matrix: Floats
    centre: Floats
    residual: Floats
    phi: Callable[[Floats], Floats]
    rotation: Floats

    def features(self, X: Floats) -> Floats:
        """φ(x) in the basis of F, for every row x of X."""
        rows: Floats = self.phi(X) @ self.rotation
        return rows

    def gram(self, rows: Rows) -> Floats:
        """F Fᵀ among each row of indices: shape (n, L, L)."""
        local = self.matrix[rows]
        gram: Floats = local @ np.swapaxes(local, 1, 2)
        return gram

    def cross(self, X: Floats, rows: Rows) -> Floats:
        """φ(x)ᵀ F_j for the samples j listed in the row of x: shape (n, L)."""
        cross: Floats = np.einsum("np,nlp->nl", self.features(X), self.matrix[rows])
        return cross


def regressors(matrix: Floats, y: Floats, phi: Callable[[Floats], Floats], *, drop: float = 0.0) -> Regressors:
    """Rotate φ's rows over the sample and take out the global fit.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_features_out)
        φ(x_j), such that the penalty is α‖θ‖².
    y : ndarray of shape (n_samples,)
    phi : callable
        X ↦ φ(x).
    drop : float
        Directions that carry together at most this part of tr(F Fᵀ) are left out.
    """
    _, sizes, rotation = np.linalg.svd(np.linalg.qr(matrix, mode="r"), full_matrices=False)
    energy = sizes**2
    rank = int(np.searchsorted(-np.cumsum(energy[::-1])[::-1], -drop * energy.sum())) if drop else len(sizes)
    rotated = rotation[:rank].T
    basis = np.ascontiguousarray(matrix @ rotated)
    # The penalty keeps θ₀ tame where the sample says little; any θ₀ gives the same local fit.
    penalty = 1e-8 * energy[:1].sum() or 1.0
    centre = basis.T @ y / (energy[:rank] + penalty)
    return Regressors(basis, centre, y - basis @ centre, phi, rotated)


@dataclass(frozen=True, eq=False)
class Gram:
    """The samples through k(x_a, x_b) alone: the form based on a kernel.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    matrix : ndarray of shape (n_samples, n_samples) or None
        The whole Gram matrix where it is worth keeping.
    """

    kernel: Kernel
    X: Floats
    matrix: Floats | None = None

    def gram(self, rows: Rows) -> Floats:
        """K among each row of indices: shape (n, L, L)."""
        if self.matrix is not None:
            if rows.shape[1] == len(self.matrix):  # rows come sorted, so these are all samples in order
                return np.broadcast_to(self.matrix, (len(rows), *self.matrix.shape))
            return self.matrix[rows[:, :, None], rows[:, None, :]]
        local = self.X[rows]
        return self.kernel(local, local)

    def cross(self, X: Floats, rows: Rows) -> Floats:
        """k(x, x_j) for the samples j listed in the row of x, or in the only row: shape (n, L)."""
        if len(rows) == 1:
            return self.kernel(X, self.X[rows[0]])
        return self.kernel(X[:, None, :], self.X[rows])[:, 0, :]
