"""Local ridge regression with the regressor φ given (Section 5, "based on φ")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive, check_symmetric
from pacband.exceptions import InvalidInput
from pacband.local.choice import choose_for_features
from pacband.local.design import Regressors, regressors
from pacband.local.estimator import LocalRegressor
from pacband.local.model import Model
from pacband.local.shared import Shared
from pacband.local.weights import resolve_weight

__all__ = ["FeatureMap", "LocalRidge"]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """x ↦ C⁻¹φ(x), with Σ_θ = CCᵀ: the penalty θᵀΣ_θθ becomes a sum of squares."""

    features: Any = None
    triangle: Floats | None = None

    def __call__(self, X: Floats) -> Floats:
        """Return C⁻¹φ(x) for every row x of X."""
        rows = self._raw(X)
        if self.triangle is None:
            return rows
        whitened: Floats = np.linalg.solve(self.triangle, rows.T).astype(np.float64, copy=False)
        return whitened.T

    def _raw(self, X: Floats) -> Floats:
        if self.features is None:
            return np.column_stack([np.ones(len(X)), X])
        rows = self.features.transform(X) if hasattr(self.features, "transform") else self.features(X)
        rows = np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(X) or not rows.shape[1]:
            raise InvalidInput(
                f"features must give a matrix with one row a sample, {len(X)} here, got shape {rows.shape}."
            )
        if not np.isfinite(rows).all():
            raise InvalidInput("features must give finite values.")
        return rows


class LocalRidge(LocalRegressor):
    r"""Local ridge regression T(x) = φ(x)ᵀθ(x), with its own scale σ̂(x).

    At every point x a weighted ridge problem is solved (Section 5 of the paper, and its appendix):

    .. math::

        θ(x) = \arg\min_θ\; θᵀΣ_θθ + \sum_j Γ(x, x_j)\,(y_j - φ(x_j)ᵀθ)^2, \qquad
        σ̂^2(x) = \frac{\sum_j Γ(x, x_j)\,(y_j - φ(x_j)ᵀθ(x))^2}{\sum_j Γ(x, x_j)}.

    Parameters
    ----------
    features : None, transformer or callable
        φ. None is (1, x): a local line or plane, whose intercept is penalised like every other coefficient. A
        scikit-learn transformer is cloned and fitted; a callable takes X and returns the matrix of φ(x).
    alpha : float or matrix
        Σ_θ: a number times the identity, or a positive definite matrix in the order of the features.
    weight : {"exponential", "gaussian", "epanechnikov", "tricube"} or callable
        Γ as a function of t = decay·‖x − z‖: exp(−t), exp(−t²), max(0, 1 − t²), max(0, 1 − t³)³, or the callable at
        an array of t.
    decay : float
        λ: large is local. 1/λ is the reach of the weights that have one.
    norm : {1, 2, inf} or matrix
        ‖·‖, or a positive semidefinite V for √((x − z)ᵀV(x − z)).
    n_neighbors : int or None
        Only this many nearest samples have weight; None is all. Of samples at the same distance the first are taken.

    Attributes
    ----------
    solver_ : str
        "neighbors" with `n_neighbors`, "line" for exponential weights on one feature, otherwise "lowrank".

    Notes
    -----
    σ̂ is at least the rounding error of the data, 2.2e-16·max|y|, and 2.2e-308. So it is positive even where the fit is
    perfect. Where every weight underflows, weights are divided by the largest. Where no sample is in reach, the nearest
    ones have weight one.

    Limits: as decay → 0 this is `Ridge(alpha, fit_intercept=False)` on φ. With `n_neighbors=1`, and as decay → ∞, it is
    the ridge fit to the nearest sample alone: with k = φ(x)ᵀΣ_θ⁻¹φ(x₁), k₁ = φ(x₁)ᵀΣ_θ⁻¹φ(x₁) and Γ₁ its weight (one
    where weights underflow), T = Γ₁ k y₁ / (1 + Γ₁k₁) and σ̂ = \|y₁\| / (1 + Γ₁k₁).

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.local import LocalRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 1))
    >>> y = np.sin(X[:, 0]) + (0.05 + 0.1 * (X[:, 0] > 0)) * rng.standard_normal(500)
    >>> model = LocalRidge(decay=8, alpha=1e-3).fit(X, y)
    >>> prediction, scale = model.predict([[-1.0], [1.0]], return_std=True)
    >>> prediction.round(1)
    array([-0.8,  0.8])
    >>> bool(scale[1] > 2 * scale[0])
    True
    """

    def __init__(
        self,
        features: Any = None,
        *,
        alpha: Any = 1.0,
        weight: Any = "exponential",
        decay: float = 1.0,
        norm: Any = 2,
        n_neighbors: int | None = None,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.weight = weight
        self.decay = decay
        self.norm = norm
        self.n_neighbors = n_neighbors

    def _fit(self, X: Floats, y: Floats, unit: float, shared: Shared) -> Model:
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        locality = shared.locality(self.norm, X)
        if np.ndim(self.alpha) == 0:
            alpha, sigma = check_positive("alpha", self.alpha), None
        else:
            alpha, sigma = 1.0, np.asarray(self.alpha, dtype=np.float64)
        features = shared.get(lambda: _fit_features(self.features, X, y), "features", self.features)
        design = shared.get(lambda: _design(features, sigma, X, y), "design", self.features, sigma)
        return Model(choose_for_features(weight, locality), locality, weight, design, alpha, y, unit)


def _fit_features(features: Any, X: Floats, y: Floats) -> Any:
    if features is None:
        return None
    if hasattr(features, "transform"):
        return clone(features).fit(X, y)
    if not callable(features):
        raise InvalidInput(f"features must be None, a transformer or a callable, got {features!r}.")
    return features


def _design(features: Callable[[Floats], Any] | None, sigma: Floats | None, X: Floats, y: Floats) -> Regressors:
    rows = FeatureMap(features)(X)
    if sigma is None:
        return regressors(rows, y, FeatureMap(features))
    size = rows.shape[1]
    if sigma.shape != (size, size):
        raise InvalidInput(
            f"alpha as a matrix must have shape {(size, size)}, one row and column a feature, got {sigma.shape}."
        )
    check_symmetric("alpha as a matrix", sigma)
    try:
        triangle: Floats = np.linalg.cholesky(sigma).astype(np.float64)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(sigma)[0]
        raise InvalidInput(f"alpha as a matrix must be positive definite, got an eigenvalue of {least:.3g}.") from None
    whitened = FeatureMap(features, triangle)
    return regressors(whitened(X), y, whitened)
