"""σ̂(x) from a predictor that returns its own standard deviation."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale

__all__ = ["StdScale", "has_return_std"]


class StdScale(BaseScale):
    """The predictor's own standard deviation, ``predict(X, return_std=True)``.

    Gaussian processes, `sklearn.linear_model.BayesianRidge` and the local kernel models have one. ``scale="std"`` of
    the certified estimators is the same in half the time. Use this class alone, or inside a combination of scales.

    Parameters
    ----------
    estimator : estimator, optional
        The model. None is the predictor this scale is used with, which is not fitted a second time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.

    Notes
    -----
    σ̂ is at least the rounding error of y. So it is positive where the model returns zero, as a Gaussian process without
    noise does at its own rows. `FloorScale` has a higher floor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from pacband.scale import StdScale
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 1.0, 2.0, 1.0])
    >>> StdScale(BayesianRidge()).fit(X, y).predict([[2.0], [9.0]]).round(2)
    array([0.52, 1.1 ])
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _learn(self, X: Any, y: Floats) -> None:
        predictor = self._target_predictor()
        if not has_return_std(predictor.declared):
            raise InvalidInput(
                f"StdScale needs predict(X, return_std=True), which {predictor.declared!r} does not have."
            )
        self.floor_ = rounding_error(y)
        self.estimator_ = predictor.fitted(X, y)

    def _evaluate(self, X: Any) -> Floats:
        _, std = self.estimator_.predict(X, return_std=True)
        return np.fmax(np.asarray(std, dtype=np.float64), self.floor_)


def has_return_std(predictor: Any) -> bool:
    """Whether a predictor returns its own standard deviation, ``predict(X, return_std=True)``."""
    if isinstance(predictor, Pipeline):
        return has_return_std(predictor[-1])
    try:
        return "return_std" in inspect.signature(predictor.predict).parameters
    except (AttributeError, TypeError, ValueError):
        return False
