"""Scales made of other scales: products of powers, and floors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive
from pacband.exceptions import InvalidInput
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale, fit_scale
from pacband.scale.crossfit import predictions

__all__ = ["FloorScale", "ProductScale"]


class ProductScale(BaseScale):
    """The product of powers of scales: their geometric mean by default.

    σ̂(x) = Π_j σ̂_j(x)^p_j. One scale with a power below one is a tempered scale: it varies less with x. The band that is
    narrowest on average varies less with x than the error does.

    Parameters
    ----------
    scales : list of estimators or functions
        The σ̂_j, as for `CertifiedRegressor`. Those with ``estimator=None`` estimate the errors of the predictor that
        the product is used with. If one returns a pair (σ̂⁻, σ̂⁺), so does the product.
    powers : list of float, optional
        The p_j. None is 1/k each.

    Attributes
    ----------
    scales_ : list
        The fitted scales.

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.scale import ProductScale
    >>> scale = ProductScale([lambda X: X[:, 0], lambda X: X[:, 1]]).fit([[1.0, 1.0]], [0.0])
    >>> scale.predict(np.array([[1.0, 4.0], [2.0, 8.0]])).round(6)
    array([2., 4.])
    """

    def __init__(self, scales: Any, *, powers: Any = None) -> None:
        self.scales = scales
        self.powers = powers

    def _learn(self, X: Any, y: Floats) -> None:
        if not isinstance(self.scales, (list, tuple)) or not self.scales:
            raise InvalidInput(f"scales must be a non-empty list of scales, got {self.scales!r}.")
        powers = [1.0 / len(self.scales)] * len(self.scales) if self.powers is None else list(self.powers)
        if len(powers) != len(self.scales) or not np.isfinite(powers).all():
            raise InvalidInput(f"powers must be {len(self.scales)} finite numbers, one a scale, got {self.powers!r}.")
        self.scales_ = [fit_scale(scale, self._predictor, X, y) for scale in self.scales]
        self.powers_ = [float(power) for power in powers]

    def _evaluate(self, X: Any) -> Any:
        return _for_each_side(self._product, *(predictions(scale, X) for scale in self.scales_))

    def _product(self, *parts: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.exp(sum(power * np.log(part) for power, part in zip(self.powers_, parts, strict=True)))

    def _parts(self) -> list[Any]:
        return list(self.scales) if isinstance(self.scales, (list, tuple)) else []


class FloorScale(BaseScale):
    """A scale that never falls below a floor.

    Parameters
    ----------
    scale : estimator or function
        The scale. With ``estimator=None`` it estimates the errors of the predictor that this one is used with.
    share : float
        The floor as a share of the median of σ̂ over the rows of the fit.
    absolute : float
        The floor in the unit of y. The larger of the two floors is used.

    Attributes
    ----------
    scale_ : estimator or function
        The fitted scale.
    floor_ : float or pair of float
        The floor, for each side if the scale is a pair.

    Notes
    -----
    A scale that is too small somewhere makes γ̄ large and the band too wide everywhere else.

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.scale import FloorScale
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> FloorScale(lambda X: X[:, 0], share=0.5).fit(X, [0.0, 0.0, 0.0]).predict(X)
    array([0.5, 1. , 4. ])
    """

    def __init__(self, scale: Any, *, share: float = 0.1, absolute: float = 0.0) -> None:
        self.scale = scale
        self.share = share
        self.absolute = absolute

    def _learn(self, X: Any, y: Floats) -> None:
        for name, value in (("share", self.share), ("absolute", self.absolute)):
            check_positive(name, value, or_zero=True)
        self.scale_ = fit_scale(self.scale, self._predictor, X, y)
        least = max(self.absolute, rounding_error(y))
        self.floor_ = _for_each_side(lambda part: max(self.share * float(np.median(part)), least), self._raw(X))

    def _evaluate(self, X: Any) -> Any:
        return _for_each_side(np.fmax, self._raw(X), self.floor_)

    def _raw(self, X: Any) -> Any:
        return _for_each_side(lambda part: np.asarray(part, dtype=np.float64), predictions(self.scale_, X))

    def _parts(self) -> list[Any]:
        return [self.scale]


def _for_each_side(function: Callable[..., Any], *scales: Any) -> Any:
    """Apply a function to scales, and to each side of them where one is a pair (σ̂⁻, σ̂⁺)."""
    if not any(isinstance(scale, tuple) for scale in scales):
        return function(*scales)
    return tuple(function(*(scale[side] if isinstance(scale, tuple) else scale for scale in scales)) for side in (0, 1))
