"""Two quantiles of a target given x, and the half-widths that they leave around a centre."""

from __future__ import annotations

import math
from abc import ABC
from typing import Any

import numpy as np
from sklearn.base import clone

from pacband.core.arrays import Floats
from pacband.core.checks import check_probability
from pacband.exceptions import InvalidInput
from pacband.scale.base import BaseScale, after_preprocessing, rounding_of
from pacband.scale.crossfit import cross_predict
from pacband.scale.shrinkage import PairShrinkage

__all__ = ["QuantileEnds"]


class QuantileEnds(BaseScale, ABC):
    """What `QuantileScale` and `QuantileBand` share: both ends, in order, and their shrinkage."""

    lower: Any
    upper: Any
    alpha: float
    floor: float
    cv: Any
    eps: float | None
    random_state: Any

    def _learn_ends(self, X: Any, target: Floats, predictor: Any, **options: Any) -> tuple[Floats, Floats]:
        """Fit both ends, and return what they are at every row by fits that have not seen it."""
        alpha = check_probability("alpha", self.alpha)
        if not 0.0 < self.floor < math.inf:
            raise InvalidInput(f"floor must be positive and finite, got {self.floor!r}.")
        models = [
            self._default(level, predictor, options) if model is None else clone(model)
            for model, level in ((self.lower, alpha / 2), (self.upper, 1.0 - alpha / 2))
        ]
        unseen = _in_order(
            *(cross_predict(model, X, target, cv=self.cv, random_state=self.random_state) for model in models)
        )
        self.lower_, self.upper_ = (model.fit(X, target) for model in models)
        return unseen

    def _settle(self, ends: tuple[Floats, Floats], centre: Floats, y: Floats) -> None:
        """Settle floor and shrinkage on ends and centres that have not seen y."""
        low, high = ends
        self.floor_ = max(self.floor * float(np.median(high - low)) / 2, rounding_of(y))
        self.shrinkage_ = PairShrinkage.fit(*self._raw_half_widths(ends, centre), y - centre, eps=self.eps)

    def _ends(self, X: Any) -> tuple[Floats, Floats]:
        return _in_order(*(np.asarray(model.predict(X), dtype=np.float64) for model in (self.lower_, self.upper_)))

    def _half_widths(self, ends: tuple[Floats, Floats], centre: Floats) -> tuple[Floats, Floats]:
        """Return (σ̂⁻, σ̂⁺)."""
        return self.shrinkage_(*self._raw_half_widths(ends, centre))

    def _raw_half_widths(self, ends: tuple[Floats, Floats], centre: Floats) -> tuple[Floats, Floats]:
        low, high = ends
        return np.maximum(centre - low, self.floor_), np.maximum(high - centre, self.floor_)

    def _default(self, level: float, predictor: Any, options: dict[str, Any]) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return after_preprocessing(
            predictor,
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=self.random_state, **options),
        )


def _in_order(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return two quantiles so that they do not cross."""
    return np.minimum(low, high), np.maximum(low, high)
