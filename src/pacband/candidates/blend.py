"""A blend of predictors, and the features from which scale models learn the size of its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from pacband.core.arrays import Floats

__all__ = ["Blend", "convex_weights", "disagreement", "fit_blend", "meta_table"]

# A predictor with less weight than this in the blend is left out.
_LEAST_WEIGHT = 0.02


@dataclass(frozen=True, eq=False)
class Blend:
    """Out-of-fold predictions, and the weights that blend them.

    Attributes
    ----------
    names : tuple of str
        The predictors.
    predictions : ndarray of shape (n, predictors)
        Their out-of-fold predictions.
    weights : ndarray of shape (predictors,)
        The weight of each: zero, or at least 2 % (or half of the largest, if all are small). They sum to one.
    """

    names: tuple[str, ...]
    predictions: Floats
    weights: Floats

    @property
    def centre(self) -> Floats:
        """The blended prediction of every row."""
        return np.asarray(self.predictions @ self.weights)

    @property
    def parts(self) -> dict[str, float]:
        """The weights that are not zero, by name."""
        return {name: float(weight) for name, weight in zip(self.names, self.weights, strict=True) if weight > 0.0}


def fit_blend(predictions: Mapping[str, Floats], target: Floats) -> Blend:
    """Return the blend of out-of-fold predictions with the least squared error, without small weights.

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> fit_blend({"low": y - 1, "high": y + 1, "reversed": 5 - y}, y).weights.round(6)
    array([0.5, 0.5, 0. ])
    """
    columns = np.column_stack(list(predictions.values()))
    weights = convex_weights(columns, target)
    weights = np.where(weights < min(_LEAST_WEIGHT, weights.max() / 2.0), 0.0, weights)
    return Blend(tuple(predictions), columns, weights / weights.sum())


def convex_weights(predictions: Floats, target: Floats) -> Floats:
    """Return weights ≥ 0 that sum to one and minimise the squared error of the blend.

    Non-negative least squares with one more row that states Σw = 1. Its factor is so large that the other rows cannot
    change the sum.

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> convex_weights(np.column_stack([y - 1, y + 1, 5 - y]), y).round(6)
    array([0.5, 0.5, 0. ])
    """
    factor = 1e3 * max(1.0, float(np.abs(predictions).max())) * np.sqrt(len(target))
    weights, _ = nnls(np.vstack([predictions, np.full(predictions.shape[1], factor)]), np.append(target, factor))
    return np.asarray(weights / weights.sum())


def disagreement(predictions: Floats, weights: Floats) -> Floats:
    """Return the weighted standard deviation of the predictions around their blend, at every row."""
    blend = predictions @ weights
    return np.asarray(np.sqrt((predictions - blend[:, None]) ** 2 @ weights))


def meta_table(table: Floats, predictions: Floats, weights: Floats) -> Floats:
    """Return the features of the scale models: those of the table, the blend, and the deviations of its parts."""
    used = predictions[:, weights > 0.0]
    blend = predictions @ weights
    return np.column_stack([table, blend, disagreement(predictions, weights), used - blend[:, None]])
