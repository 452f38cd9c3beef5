"""σ̂(x) from two quantile regressors: conformalized quantile regression as a member of the family."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone

from pacband._checks import check_choice, check_probability
from pacband.exceptions import InvalidInput
from pacband.scale.base import BaseScale, after_preprocessing, rounding_of
from pacband.scale.crossfit import Floats, predictions

__all__ = ["QuantileBand", "QuantileScale"]


class _QuantileEnds(BaseScale):
    """The lower and the upper quantile of y given x, and the half-widths around a centre."""

    lower: Any
    upper: Any
    alpha: float
    floor: float
    random_state: Any

    def _fit_ends(self, X: Any, y: Floats, predictor: Any) -> None:
        alpha = check_probability("alpha", self.alpha)
        if not 0.0 < self.floor < math.inf:
            raise InvalidInput(f"floor must be positive and finite, got {self.floor!r}.")
        levels = alpha / 2, 1.0 - alpha / 2
        models = [
            self._default(level, predictor) if model is None else clone(model)
            for model, level in zip((self.lower, self.upper), levels, strict=True)
        ]
        self.lower_, self.upper_ = (model.fit(X, y) for model in models)
        low, high = self._ends(X)
        self.floor_ = max(self.floor * float(np.median(high - low)) / 2, rounding_of(y))

    def _ends(self, X: Any) -> tuple[Floats, Floats]:
        """Return both quantiles, in order where they cross."""
        ends = [np.asarray(model.predict(X), dtype=np.float64) for model in (self.lower_, self.upper_)]
        return np.minimum(*ends), np.maximum(*ends)

    def _half_widths(self, X: Any, centre: Floats) -> tuple[Floats, Floats]:
        low, high = self._ends(X)
        return np.maximum(centre - low, self.floor_), np.maximum(high - centre, self.floor_)

    def _default(self, level: float, predictor: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return after_preprocessing(
            predictor,
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=self.random_state),
        )

    def _parts(self) -> list[Any]:
        return [self.estimator, self.lower, self.upper]


class QuantileScale(_QuantileEnds):
    r"""An asymmetric scale from the lower and the upper quantile of y, around any predictor.

    .. math::

        σ̂^-(x) = \max(T(x) - q_{α/2}(x), f), \qquad σ̂^+(x) = \max(q_{1-α/2}(x) - T(x), f).

    The certified band [T − γ̄σ̂⁻, T + γ̄σ̂⁺] is [q_{α/2}, q_{1−α/2}] drawn out, or in, around T by the factor γ̄:
    conformalized quantile regression in its scaled form, with the promise of a certificate.

    Parameters
    ----------
    lower, upper : estimator, optional
        Regressors for the two quantiles. None is histogram gradient boosting with the quantile loss, at the levels
        α/2 and 1 − α/2, after the preprocessing of T if T is a pipeline.
    estimator : estimator or function, optional
        The predictor T. None is the predictor this scale is used with, which is not fitted a second time.
    target : {"y", "error"}
        What the quantiles are of: y, or the cross-fitted error y − T(x), to which T(x) is then added. The latter
        leaves to T what T knows; it takes as many fits of T as there are folds.
    alpha : float in (0, 1)
        α, for the default regressors. Near ε is best.
    floor : float
        f as a share of the median half-width (q_{1−α/2} − q_{α/2})/2 over the rows. It is what is left where T lies
        outside the quantiles, or where they meet.
    cv : int or splitter
        The folds of the cross-fit, if the target is the error.
    random_state : int, RandomState or None
        Seeds the default regressors and the folds. The default is a fixed seed.

    Attributes
    ----------
    lower_, upper_, estimator_ : estimator
        The fitted quantiles, and the fitted T (None if the target is the error).
    floor_ : float
        f.

    Notes
    -----
    Quantiles that cross are put in order (Chernozhukov, Fernández-Val, Galichon 2010). `predict` gives the pair
    (σ̂⁻, σ̂⁺), which goes with side="both".

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
        random_state: Any = 0,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.estimator = estimator
        self.target = target
        self.alpha = alpha
        self.floor = floor
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        check_choice("target", self.target, ("y", "error"))
        predictor = self._whose()
        if self.target == "error":
            errors = predictor.errors(X, y, cv=self.cv, random_state=self.random_state)
            self._fit_ends(X, errors, predictor.declared)
            self.floor_ = max(self.floor_, rounding_of(y))
            self.estimator_ = None
        else:
            self._fit_ends(X, y, predictor.declared)
            self.estimator_ = predictor.fitted(X, y)

    def _evaluate(self, X: Any) -> tuple[Floats, Floats]:
        # Quantiles of the error lie around zero, those of y around T.
        centre = np.zeros(1) if self.estimator_ is None else np.asarray(predictions(self.estimator_, X), dtype=float)
        return self._half_widths(X, centre)


class QuantileBand(RegressorMixin, _QuantileEnds):
    """A regressor that is its own scale: the centre of a quantile band, and the half-widths around it.

    Use it as a predictor with ``scale="std"``: conformalized quantile regression with nothing else at work.

    Parameters
    ----------
    lower, upper, alpha, floor, random_state
        As in `QuantileScale`.
    centre : estimator, optional
        A regressor for the centre, such as one of the median. None is the midpoint of the two quantiles, and then
        both half-widths are the same.

    Attributes
    ----------
    lower_, upper_, centre_ : estimator
        The fitted quantiles, and the fitted centre or None.
    floor_ : float
        The least half-width.

    Examples
    --------
    >>> from sklearn.linear_model import QuantileRegressor
    >>> from pacband import CertifiedRegressor, datasets
    >>> from pacband.scale import QuantileBand
    >>> X, y = datasets.paper_sample(1000, random_state=0)
    >>> band = QuantileBand(*(QuantileRegressor(quantile=level, alpha=0) for level in (0.05, 0.95)))
    >>> model = CertifiedRegressor(band, scale="std", eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> model.certificate_.scale_kind
    'asymmetric'
    """

    def __init__(
        self,
        lower: Any = None,
        upper: Any = None,
        *,
        centre: Any = None,
        alpha: float = 0.1,
        floor: float = 0.05,
        random_state: Any = 0,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.centre = centre
        self.alpha = alpha
        self.floor = floor
        self.random_state = random_state

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the centre, and with `return_std` also the pair (σ̂⁻, σ̂⁺) around it."""
        centre, half_widths = super().predict(X)
        return (centre, half_widths) if return_std else centre

    def _learn(self, X: Any, y: Floats) -> None:
        self._fit_ends(X, y, None)
        self.centre_ = None if self.centre is None else clone(self.centre).fit(X, y)

    def _evaluate(self, X: Any) -> tuple[Floats, tuple[Floats, Floats]]:
        low, high = self._ends(X)
        centre = (low + high) / 2 if self.centre_ is None else np.asarray(self.centre_.predict(X), dtype=np.float64)
        return centre, self._half_widths(X, centre)

    def _parts(self) -> list[Any]:
        return [self.lower, self.upper, *([] if self.centre is None else [self.centre])]
