"""σ̂(x) of a linear model: the classical prediction error, and that of random coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from pacband.core.arrays import Floats
from pacband.core.checks import check_choice, check_positive
from pacband.exceptions import InvalidInput
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale, own_features
from pacband.scale.shrinkage import Shrinkage

__all__ = ["LeverageScale"]


class LeverageScale(BaseScale):
    r"""The standard error of a prediction by a linear model, from the leverage of x.

    With features φ(x), an intercept among them, and Φ those of the rows,

    .. math::

        h(x) = φ(x)^⊤ (Φ^⊤Φ + αI)^{-1} φ(x), \qquad σ̂^2(x) = s^2 (1 + h(x)):

    the noise, and the error of the coefficients by the inverse Fisher information. If the coefficients themselves are
    random, as in the paper's example, where the slope is 10 + n₁, the second part does not vanish with many rows:
    σ̂²(x) = s²(1 + c·(h(x) − 1/n)), with a c that is estimated from the errors (the 1/n of the intercept is part of s).

    Parameters
    ----------
    features : transformer, optional
        φ, such as `sklearn.preprocessing.PolynomialFeatures`. None is X itself, after the preprocessing of the
        predictor that the scale is used with, if that is a pipeline: a table with texts needs the encoder it has.
    coefficients : {"fixed", "random"}
        The classical form, or c estimated from the leave-one-out errors of the linear fit.
    alpha : float
        α ≥ 0, a ridge on standardised features (not on the intercept).

    Attributes
    ----------
    shrinkage_ : Shrinkage or None
        The estimate of c: c = w/((1 − w)m).
    noise_ : float
        s: s² = RSS/(n − tr H); the standard deviation of y where no degree of freedom is left.

    Notes
    -----
    It needs no other model: leave-one-out errors of a linear fit are e_i/(1 − h_i), and leave-one-out leverages
    h_i/(1 − h_i). Directions in which the rows do not vary are ignored.

    References
    ----------
    Seber, Lee (2003), Linear Regression Analysis, section 5.3. Hildreth, Houck (1968), Some estimators for a linear
    model with random coefficients, JASA 63.

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.scale import LeverageScale
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 2.0, 1.0])
    >>> scale = LeverageScale().fit(X, y)
    >>> (scale.predict([[0.0], [4.0]]) / scale.noise_) ** 2  # 1 + 1/3 + x²/2
    array([1.33333333, 9.33333333])
    """

    def __init__(self, features: Any = None, *, coefficients: str = "fixed", alpha: float = 0.0) -> None:
        self.features = features
        self.coefficients = coefficients
        self.alpha = alpha

    def _learn(self, X: Any, y: Floats) -> None:
        check_choice("coefficients", self.coefficients, ("fixed", "random"))
        check_positive("alpha", self.alpha, or_zero=True)
        if len(y) < 2:
            raise InvalidInput(f"LeverageScale needs at least 2 rows, got n_samples={len(y)}.")
        features = own_features(self.features, None if self._predictor is None else self._predictor.declared)
        self.features_ = None if features is None else features.fit(X, y)
        table = self._table(X)
        # Centred features make the intercept's part of h the 1/n below; scaling changes h only through α.
        self._centre, deviation = table.mean(axis=0), table.std(axis=0)
        self._unit = np.where(deviation > 0.0, deviation, 1.0)
        left, singular, directions = np.linalg.svd((table - self._centre) / self._unit, full_matrices=False)
        kept = singular > singular.max(initial=0.0) * max(table.shape) * np.finfo(np.float64).eps
        left, singular, directions = left[:, kept], singular[kept], directions[kept]
        penalised = singular**2 + self.alpha
        self._root = directions.T / np.sqrt(penalised)
        self._share_of_intercept = 1.0 / len(y)

        shares = singular**2 / penalised
        errors = y - y.mean() - left @ (shares * (left.T @ (y - y.mean())))
        freedom = len(y) - 1.0 - float(shares.sum())
        floor = rounding_error(y)
        noise = math.sqrt(float(errors @ errors) / freedom) if freedom > 0.5 else float(np.std(y))
        self.noise_ = max(noise, floor)
        self.shrinkage_ = None
        if self.coefficients == "random":
            own = self._leverage(table)
            usable = own < 1.0 - 1e-6
            if not usable.any():
                raise InvalidInput(
                    f"coefficients='random' needs more rows than features, got {len(y)} rows of {table.shape[1]}."
                )
            rest = 1.0 - own[usable]
            slopes = np.maximum(own[usable] / rest - 1.0 / (len(y) - 1), 0.0)
            self.shrinkage_ = Shrinkage.fit(np.sqrt(slopes), errors[usable] / rest, floor=floor)

    def _evaluate(self, X: Any) -> Floats:
        leverage = self._leverage(self._table(X))
        if self.shrinkage_ is not None:
            return self.shrinkage_(np.sqrt(np.maximum(leverage - self._share_of_intercept, 0.0)))
        return self.noise_ * np.sqrt(1.0 + leverage)

    def _leverage(self, table: Floats) -> Floats:
        standard = ((table - self._centre) / self._unit) @ self._root
        return np.asarray(self._share_of_intercept + np.square(standard).sum(axis=1))

    def _table(self, X: Any) -> Floats:
        rows = X if self.features_ is None else self.features_.transform(X)
        return np.asarray(check_array(rows, dtype=np.float64, accept_sparse=False))

    def _parts(self) -> list[Any]:
        return [self.features]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan &= self.features is not None or getattr(self, "features_", None) is not None
        return tags
