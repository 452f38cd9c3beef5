"""σ̂(x) from two quantile regressors: conformalized quantile regression as a member of the family."""

from __future__ import annotations

from abc import ABC
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from pacband.core.arrays import Floats
from pacband.core.checks import check_choice, check_positive, check_probability
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale, after_preprocessing
from pacband.scale.crossfit import cross_predict, predictions
from pacband.scale.residual import CAUTIOUS
from pacband.scale.shrinkage import PairShrinkage

__all__ = ["Pair", "QuantileEnds", "QuantileScale"]

Pair: TypeAlias = tuple[Floats, Floats]


class QuantileEnds(BaseScale, ABC):
    """What `QuantileScale` and `QuantileBand` share: both quantiles, in order, and the shrinkage of the half-widths."""

    def __init__(
        self, lower: Any, upper: Any, *, alpha: float, floor: float, cv: Any, eps: float | None, random_state: Any
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.alpha = alpha
        self.floor = floor
        self.cv = cv
        self.eps = eps
        self.random_state = random_state

    def _fit_ends(self, X: Any, target: Floats, predictor: Any, **options: Any) -> Pair:
        """Fit both quantiles, and return their out-of-fold predictions at every row."""
        alpha = check_probability("alpha", self.alpha)
        check_positive("floor", self.floor)
        models = [
            self._default(level, predictor, options) if model is None else clone(model)
            for model, level in ((self.lower, alpha / 2), (self.upper, 1.0 - alpha / 2))
        ]
        out_of_fold = _in_order(
            *(cross_predict(model, X, target, cv=self.cv, random_state=self.random_state) for model in models)
        )
        self.lower_, self.upper_ = (model.fit(X, target) for model in models)
        return out_of_fold

    def _fit_half_widths(self, ends: Pair, centre: Floats, y: Floats) -> None:
        """Compute the floor and choose the shrinkage from out-of-fold quantiles and centres."""
        low, high = ends
        self.floor_ = max(self.floor * float(np.median(high - low)) / 2, rounding_error(y))
        self.shrinkage_ = PairShrinkage.fit(*self._raw_half_widths(ends, centre), y - centre, eps=self.eps)

    def _ends(self, X: Any) -> Pair:
        return _in_order(*(np.asarray(model.predict(X), dtype=np.float64) for model in (self.lower_, self.upper_)))

    def _half_widths(self, ends: Pair, centre: Floats) -> Pair:
        """Return (σ̂⁻, σ̂⁺)."""
        return self.shrinkage_(*self._raw_half_widths(ends, centre))

    def _raw_half_widths(self, ends: Pair, centre: Floats) -> Pair:
        low, high = ends
        return np.maximum(centre - low, self.floor_), np.maximum(high - centre, self.floor_)

    def _default(self, level: float, predictor: Any, options: dict[str, Any]) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return after_preprocessing(
            predictor,
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=self.random_state, **options),
        )


def _in_order(low: Floats, high: Floats) -> Pair:
    """Return two quantiles so that they do not cross."""
    return np.minimum(low, high), np.maximum(low, high)


class QuantileScale(QuantileEnds):
    r"""An asymmetric scale from the lower and the upper quantile of y, around any predictor.

    .. math::

        σ̂^-(x) = \max(T(x) - q_{α/2}(x), f), \qquad σ̂^+(x) = \max(q_{1-α/2}(x) - T(x), f).

    The certified band [T − γ̄σ̂⁻, T + γ̄σ̂⁺] is [q_{α/2}, q_{1−α/2}] stretched, or shrunk, around T by the factor γ̄:
    conformalized quantile regression in its scaled form, with the promise of a certificate. Each half-width is
    shrunk towards its mean over the rows, w·σ̂ + (1 − w)·mean(σ̂). The share w is chosen on out-of-fold predictions of T
    and of the quantiles.

    Parameters
    ----------
    lower, upper : estimator, optional
        Regressors for the two quantiles. None is histogram gradient boosting with the quantile loss, at the levels
        α/2 and 1 − α/2, after the preprocessing of T if T is a pipeline.
    estimator : estimator or function, optional
        The predictor T. None is the predictor this scale is used with, which is not fitted a second time.
    target : {"y", "error"}
        What the quantiles are of: y, or the out-of-fold error y − T(x), to which T(x) is then added. With "error" the
        quantiles do not have to learn T again, and the default regressors are more cautious.
    alpha : float in (0, 1)
        α, for the default regressors. Values near ε give the narrowest bands.
    floor : float
        f as a share of the median half-width (q_{1−α/2} − q_{α/2})/2 over the rows. It is the half-width where T lies
        outside the quantiles, or where they meet.
    cv : int or splitter
        The folds in which T and the quantiles are cross-fitted.
    eps : float, optional
        Choose w for the narrowest mean band at this ε, instead of for the most likely half-widths.
    random_state : int, RandomState or None
        Seeds the default regressors and the folds. The default is a fixed seed.

    Attributes
    ----------
    lower_, upper_, estimator_ : estimator
        The fitted quantiles, and the fitted T (None if the target is the error).
    floor_ : float
        f.
    shrinkage_ : PairShrinkage
        w and the mean half-widths.

    Notes
    -----
    Quantiles that cross are put in order (Chernozhukov, Fernández-Val, Galichon 2010). `predict` returns the pair
    (σ̂⁻, σ̂⁺), which is for side="both".

    References
    ----------
    Romano, Patterson, Candès (2019), Conformalized quantile regression, NeurIPS. Kivaranovic, Johnson, Leeb (2020),
    Adaptive, distribution-free prediction intervals for deep networks, AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import QuantileRegressor
    >>> from pacband.scale import QuantileScale
    >>> X, y = np.zeros((101, 1)), np.arange(101.0)
    >>> ends = QuantileRegressor(quantile=0.1, alpha=0), QuantileRegressor(quantile=0.9, alpha=0)
    >>> scale = QuantileScale(*ends, estimator=lambda X: np.full(len(X), 30.0)).fit(X, y)
    >>> lower, upper = scale.predict(X[:1])
    >>> lower.round(), upper.round()
    (array([20.]), array([60.]))
    """

    def __init__(
        self,
        lower: Any = None,
        upper: Any = None,
        estimator: Any = None,
        *,
        target: str = "y",
        alpha: float = 0.1,
        floor: float = 0.05,
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(lower, upper, alpha=alpha, floor=floor, cv=cv, eps=eps, random_state=random_state)
        self.estimator = estimator
        self.target = target

    def _learn(self, X: Any, y: Floats) -> None:
        check_choice("target", self.target, ("y", "error"))
        predictor = self._target_predictor()
        centre = predictor.predict(X, y, cv=self.cv, random_state=self.random_state)
        if self.target == "error":
            low, high = self._fit_ends(X, y - centre, predictor.declared, **CAUTIOUS)
            ends = low + centre, high + centre
        else:
            ends = self._fit_ends(X, y, predictor.declared)
        self.estimator_ = None if self.target == "error" else predictor.fitted(X, y)
        self._fit_half_widths(ends, centre, y)

    def _evaluate(self, X: Any) -> Pair:
        # Quantiles of the error lie around zero, those of y around T.
        centre = np.zeros(1) if self.estimator_ is None else np.asarray(predictions(self.estimator_, X), dtype=float)
        return self._half_widths(self._ends(X), centre)

    def _parts(self) -> list[Any]:
        return [self.estimator, self.lower, self.upper]
