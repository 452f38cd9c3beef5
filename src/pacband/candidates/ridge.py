"""Ridge regression that chooses its penalty by the errors of leaving out one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from pacband.core.arrays import Floats

__all__ = ["LeaveOneOutRidge"]

# Directions in which the features vary by less than this share of the largest are left out.
_LEAST_VARIANCE = 1e-13
# A row that determines its own prediction would have no error when it is left out.
_LEAST_SHARE = 1e-10


class LeaveOneOutRidge(RegressorMixin, BaseEstimator):
    r"""Ridge regression with the penalty α, among those given, of the least mean squared error of rows left out.

    With the centred features X, the hat matrix H = 11ᵀ/n + X(XᵀX + αI)⁻¹Xᵀ and the errors e of the fit to all rows, the
    error of row i by the fit to the other rows is

    .. math::

        e_i / (1 - H_{ii}).

    One eigendecomposition of XᵀX, or of XXᵀ if it is smaller, gives the errors of all penalties by two matrix products.
    `sklearn.linear_model.RidgeCV` chooses the same penalty, and takes several times as long if there are many features.

    Parameters
    ----------
    penalties : sequence of float
        The values of α to choose from, all positive.

    Attributes
    ----------
    penalty_ : float
        The chosen α.
    coef_ : ndarray of shape (features,)
        The coefficients.
    intercept_ : float
        The prediction at the origin.

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> ridge = LeaveOneOutRidge([1e-6, 1.0, 1e6]).fit(X, 2 * X[:, 0] + 1)
    >>> ridge.penalty_, ridge.predict([[10.0]]).round(4)
    (1e-06, array([21.]))
    """

    def __init__(self, penalties: Sequence[float] = (0.1, 1.0, 10.0)) -> None:
        self.penalties = penalties

    def fit(self, X: Floats, y: Floats) -> Self:
        """Choose the penalty, and fit to all rows."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        penalties = np.asarray(self.penalties, dtype=np.float64)
        middle, mean = X.mean(axis=0), float(y.mean())
        centred, rest = X - middle, y - mean
        variances, directions, projected = _principal(centred)
        shares = 1.0 / (variances[:, None] + penalties)
        coefficients = shares * (rest @ projected)[:, None]
        hat = 1.0 / len(y) + projected**2 @ shares
        errors = (rest[:, None] - projected @ coefficients) / np.maximum(1.0 - hat, _LEAST_SHARE)
        best = int(np.argmin((errors**2).mean(axis=0)))
        self.penalty_ = float(penalties[best])
        self.coef_ = directions @ coefficients[:, best]
        self.intercept_ = mean - float(middle @ self.coef_)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the linear function at rows."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.coef_ + self.intercept_)


def _principal(centred: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the variances (not divided by n) along the principal directions, the directions, and the rows along them.

    Directions without variance may be missing.
    """
    n_rows, n_features = centred.shape
    if n_features <= n_rows:
        variances, directions = np.linalg.eigh(centred.T @ centred)
        return np.maximum(variances, 0.0), directions, centred @ directions
    variances, units = np.linalg.eigh(centred @ centred.T)
    kept = variances > _LEAST_VARIANCE * max(float(variances[-1]), 0.0)
    variances, units = variances[kept], units[:, kept]
    projected = units * np.sqrt(variances)
    return variances, centred.T @ (units / np.sqrt(variances)), projected
