"""Where σ̂(x) comes from.

Each scale is a scikit-learn estimator whose ``predict`` returns σ̂(x) > 0. It is the ``scale`` of a `CertifiedRegressor`
or a `CertifiedFamily`. With ``estimator=None`` it estimates the errors of the predictor that it is used with.

================  ==================================================================================
`NeighborScale`   the errors at the nearest neighbours of x
`ParzenScale`     the errors of all rows, weighted by their distance to x: the paper's first form
`ResidualScale`   a second model, of the size of the error
`EnsembleScale`   how far the models of an ensemble disagree
`StdScale`        the predictor's own standard deviation, ``predict(X, return_std=True)``
`QuantileScale`   two quantile regressors around the predictor: an asymmetric band
`QuantileBand`    two quantile regressors as a predictor, for ``scale="std"``
`LeverageScale`   the classical error of a linear model
`ProductScale`    products of powers of scales
`FloorScale`      a floor under a scale
================  ==================================================================================

`HorizonScale` is for runs of several steps: a profile over the steps, learnt from training runs. It is no scikit-learn
estimator, because a run has no rows X: ``fit(y, y_pred)``, then ``predict(y_pred)``.
"""

from __future__ import annotations

from pacband.scale.band import QuantileBand
from pacband.scale.combine import FloorScale, ProductScale
from pacband.scale.ensemble import EnsembleScale
from pacband.scale.horizon import HorizonScale
from pacband.scale.leverage import LeverageScale
from pacband.scale.neighbors import NeighborScale
from pacband.scale.parzen import ParzenScale
from pacband.scale.quantile import QuantileScale
from pacband.scale.residual import ResidualScale
from pacband.scale.std import StdScale

__all__ = [
    "EnsembleScale",
    "FloorScale",
    "HorizonScale",
    "LeverageScale",
    "NeighborScale",
    "ParzenScale",
    "ProductScale",
    "QuantileBand",
    "QuantileScale",
    "ResidualScale",
    "StdScale",
]
