"""σ̂(x) from a predictor that gives one of its own."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.scale.base import BaseScale, rounding_of

__all__ = ["StdScale", "speaks_std"]


class StdScale(BaseScale):
    """The standard deviation that a predictor gives itself, by ``predict(X, return_std=True)``.

    Gaussian processes, `sklearn.linear_model.BayesianRidge` and the local kernel models have one. ``scale="std"`` of
    the certified estimators is the same at half the work; this one stands alone, and enters combinations.

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
    σ̂ is at least the rounding error of y, so that it is positive where the model claims to be certain: a Gaussian
    process without noise does, at its own rows. `FloorScale` puts a higher floor under it.

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
        predictor = self._whose()
        if not speaks_std(predictor.declared):
            raise InvalidInput(
                f"StdScale needs predict(X, return_std=True), which {predictor.declared!r} does not have."
            )
        self.floor_ = rounding_of(y)
        self.estimator_ = predictor.fitted(X, y)

    def _evaluate(self, X: Any) -> Floats:
        _, std = self.estimator_.predict(X, return_std=True)
        return np.fmax(np.asarray(std, dtype=np.float64), self.floor_)


def speaks_std(predictor: Any) -> bool:
    """Whether a predictor gives a scale of its own, by ``predict(X, return_std=True)``."""
    if isinstance(predictor, Pipeline):
        return speaks_std(predictor[-1])
    try:
        return "return_std" in inspect.signature(predictor.predict).parameters
    except (AttributeError, TypeError, ValueError):
        return False
