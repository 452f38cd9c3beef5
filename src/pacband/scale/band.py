"""A quantile band as a predictor that is its own scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone

from pacband.core.arrays import Floats
from pacband.scale.crossfit import cross_predict
from pacband.scale.quantile import Pair, QuantileEnds

__all__ = ["QuantileBand"]


class QuantileBand(RegressorMixin, QuantileEnds):
    """A regressor that is its own scale: the centre of a quantile band, and the half-widths around it.

    Use it as a predictor with ``scale="std"``: conformalized quantile regression without another predictor.

    Parameters
    ----------
    lower, upper, alpha, floor, cv, eps, random_state
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
    shrinkage_ : PairShrinkage
        As in `QuantileScale`.

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
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(lower, upper, alpha=alpha, floor=floor, cv=cv, eps=eps, random_state=random_state)
        self.centre = centre

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the centre, and with `return_std` also the pair (σ̂⁻, σ̂⁺) around it."""
        centre, half_widths = super().predict(X)
        return (centre, half_widths) if return_std else centre

    def _learn(self, X: Any, y: Floats) -> None:
        ends = self._fit_ends(X, y, None)
        centre, self.centre_ = _midpoint(ends), None
        if self.centre is not None:
            centre = cross_predict(self.centre, X, y, cv=self.cv, random_state=self.random_state)
            self.centre_ = clone(self.centre).fit(X, y)
        self._fit_half_widths(ends, centre, y)

    def _evaluate(self, X: Any) -> tuple[Floats, Pair]:
        ends = self._ends(X)
        centre = _midpoint(ends) if self.centre_ is None else np.asarray(self.centre_.predict(X), dtype=np.float64)
        return centre, self._half_widths(ends, centre)

    def _parts(self) -> list[Any]:
        return [self.lower, self.upper, *([] if self.centre is None else [self.centre])]


def _midpoint(ends: Pair) -> Floats:
    return np.asarray((ends[0] + ends[1]) / 2)
