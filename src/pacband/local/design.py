"""What the local fit regresses on: the regressors R = [φ₁ … φ_M] or, for a kernel, the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacband.core.arrays import Floats
from pacband.local.kernels import Kernel

__all__ = ["Gram", "Regressors", "regressors"]

Rows = NDArray[np.intp]

# The basis holds a point as well as the samples where its gap is at most so many times theirs.
_FEW_TIMES = 4.0
# A gap is rounding below this part of k(x, x).
_ROUNDING = 256 * np.finfo(float).eps


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
    exact : Gram or None
        The kernel and the samples that F Fᵀ stands for, where it does not hold all of k.
    tol : float
        What F Fᵀ may add to the error of T, in units of y.
    gap, gaps_sum : float
        The largest k(x_j, x_j) − ‖F_j‖² of the samples, and the sum of them all.
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

    def features(self, X: Floats) -> Floats:
        """φ(x) in the basis of F, for every row x of X."""
        rows: Floats = self.phi(X) @ self.rotation
        return rows

    def gaps(self, X: Floats, features: Floats) -> Floats:
        """k(x, x) − ‖f_x‖² for every row x of X: how much of x the basis does not hold.

        It is taken as zero where it is rounding, or no more than a few times what it is at the samples.
        """
        if self.exact is None:
            return np.zeros(len(X))
        diagonal = self.exact.kernel.diagonal(X)
        gaps: Floats = diagonal - np.einsum("np,np->n", features, features)
        gaps[gaps <= np.maximum(_FEW_TIMES * self.gap, _ROUNDING * np.abs(diagonal))] = 0.0
        return gaps

    def missing(self, X: Floats, features: Floats) -> Floats:
        """k(x, x_j) − f_xᵀF_j for every row x of X and every sample j: shape (n, n_samples)."""
        assert self.exact is not None
        missing: Floats = self.exact.kernel(X, self.exact.X)
        missing -= features @ self.matrix.T
        return missing

    def gram(self, rows: Rows) -> Floats:
        """F Fᵀ among each row of indices: shape (n, L, L)."""
        local = self.matrix[rows]
        gram: Floats = local @ np.swapaxes(local, 1, 2)
        return gram

    def cross(self, X: Floats, rows: Rows) -> Floats:
        """φ(x)ᵀ F_j for the samples j listed in the row of x: shape (n, L)."""
        cross: Floats = np.einsum("np,nlp->nl", self.features(X), self.matrix[rows])
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
    exact, tol
        As in `Regressors`.
    """
    _, sizes, rotation = np.linalg.svd(np.linalg.qr(matrix, mode="r"), full_matrices=False)
    energy = sizes**2
    rank = int(np.searchsorted(-np.cumsum(energy[::-1])[::-1], -drop * energy.sum())) if drop else len(sizes)
    rotated = rotation[:rank].T
    basis = np.ascontiguousarray(matrix @ rotated)
    # The penalty keeps θ₀ tame where the sample says little; any θ₀ gives the same local fit.
    penalty = 1e-8 * energy[:1].sum() or 1.0
    centre = basis.T @ y / (energy[:rank] + penalty)
    found = Regressors(basis, centre, y - basis @ centre, phi, rotated)
    if exact is None:
        return found
    diagonal = exact.kernel.diagonal(exact.X)
    gaps = np.maximum(diagonal - np.einsum("np,np->n", basis, basis), 0.0)
    return replace(found, exact=exact, tol=tol, gap=float(gaps.max()), gaps_sum=float(gaps.sum()))
