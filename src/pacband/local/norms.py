"""The norm ‖x − z‖ that decides which samples are near (Section 5 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from pacband.core.arrays import Floats
from pacband.core.checks import check_symmetric
from pacband.exceptions import InvalidInput

__all__ = ["Norm", "resolve_norm"]


_METRICS: dict[float, Literal["cityblock", "euclidean", "chebyshev"]] = {
    1.0: "cityblock",
    2.0: "euclidean",
    np.inf: "chebyshev",
}


@dataclass(frozen=True, eq=False)
class Norm:
    """A norm as an embedding z ↦ Wz followed by the 1-, 2- or ∞-norm.

    A positive semidefinite matrix V gives ‖z‖ = √(zᵀVz) = ‖Wz‖₂ with WᵀW = V, so that every norm is one of three
    metrics on embedded points, and one that looks at a single direction is an absolute value on the line.

    Attributes
    ----------
    order : float
        1, 2 or inf.
    factor : ndarray of shape (rank, n_features) or None
        W; None is the identity.
    """

    order: float
    factor: Floats | None = None

    @property
    def metric(self) -> Literal["cityblock", "euclidean", "chebyshev"]:
        """What scipy and scikit-learn call the distance of embedded points."""
        return _METRICS[self.order]

    def embed(self, X: Floats) -> Floats:
        """Return Wx for every row x of X."""
        return X if self.factor is None else X @ self.factor.T

    def distances(self, left: Floats, right: Floats) -> Floats:
        """Return ‖a − b‖ for every pair of embedded rows: shape (len(left), len(right))."""
        if left.shape[1] == 1:
            gaps = np.subtract.outer(left[:, 0], right[:, 0])
            return np.abs(gaps, out=gaps)
        pairs: Floats = cdist(left, right, self.metric)
        return pairs

    def lengths(self, vectors: Floats) -> Floats:
        """Return ‖v‖ of embedded vectors along the last axis."""
        if self.order == 2.0 and vectors.shape[-1] > 1:
            squared: Floats = np.einsum("...d,...d->...", vectors, vectors)
            return np.sqrt(squared, out=squared)
        sizes = np.abs(vectors)
        lengths: Floats = sizes.sum(axis=-1) if self.order == 1.0 else sizes.max(axis=-1)
        return lengths


def resolve_norm(norm: Any, n_features: int) -> Norm:
    """Read the parameter `norm`: 1, 2, inf, or a positive semidefinite matrix (Mahalanobis).

    >>> import numpy as np
    >>> resolve_norm(1, n_features=2).distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    >>> mahalanobis = resolve_norm(np.diag([1.0, 0.0]), n_features=2)
    >>> mahalanobis.embed(np.array([[3.0, 4.0]]))
    array([[3.]])
    """
    if np.ndim(norm) == 0:
        try:
            order = float(norm)
        except (TypeError, ValueError):
            order = np.nan
        if order not in _METRICS:
            raise InvalidInput(f"norm must be 1, 2, inf or a positive semidefinite matrix, got {norm!r}.")
        return Norm(order)
    matrix = np.asarray(norm, dtype=np.float64)
    if matrix.shape != (n_features, n_features):
        raise InvalidInput(
            f"norm as a matrix must have shape {(n_features, n_features)}, one row and column a feature, "
            f"got {matrix.shape}."
        )
    check_symmetric("norm as a matrix", matrix)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    rounding = n_features * np.finfo(float).eps * np.abs(eigenvalues).max()
    if eigenvalues[0] < -rounding:
        raise InvalidInput(
            f"norm as a matrix must be positive semidefinite, got an eigenvalue of {eigenvalues[0]:.3g}."
        )
    kept = eigenvalues > rounding
    kept[-1] = True
    roots = np.sqrt(np.maximum(eigenvalues[kept], 0.0))
    # The sign of an eigenvector is arbitrary. It does not change the norm; fixed signs give the same digits everywhere.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n_features)])
    return Norm(2.0, (vectors * signs)[:, kept].T * roots[:, None])
