"""The default predictors and models of the error's size, from cheap to expensive.

Settings are those that serve tables of all kinds; none is tuned to a table, for the blend does the tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import skew
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from pacband.candidates.reader import TableReader, encoded, scaled
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.windows import ShortestWindow
from pacband.core.arrays import Floats
from pacband.local import LocalKernelRidge

__all__ = ["ScaleModel", "default_predictors", "default_scales"]

_PENALTIES = np.logspace(-2, 4, 13)
# Histogram boosting bins a feature into at most 255 values; categories beyond are left as codes.
_MOST_LEVELS = 200
# Splines cost a dozen columns each.
_MOST_SPLINES = 40


@dataclass(frozen=True)
class ScaleModel:
    """A model to learn the size of the error from: of its root, or of the target itself (a window)."""

    model: Any
    of_target: bool = False


class LogOfStandardised(TransformerMixin, BaseEstimator):
    """The log of a positive target that arrives as (y − location) / unit."""

    def __init__(self, location: float, unit: float) -> None:
        self.location = location
        self.unit = unit

    def fit(self, Y: Any, y: Any = None) -> Self:
        """Learn the range, beyond which nothing is believed."""
        self.least_, self.most_ = float(np.min(Y)), float(np.max(Y))
        return self

    def transform(self, Y: Any) -> Any:
        """Return log y."""
        return np.log(self.location + self.unit * np.asarray(Y))

    def inverse_transform(self, Y: Any) -> Any:
        """Return y, standardised."""
        return np.clip((np.exp(np.minimum(Y, 700.0)) - self.location) / self.unit, self.least_, self.most_)


def default_predictors(
    reader: TableReader, table: Floats, target: Floats, seed: int, n_jobs: int | None
) -> dict[str, Any]:
    """Return the predictors to try on a matrix, by name."""
    n_rows, n_columns = table.shape
    categorical = reader.categorical_
    # A fold of a trial still has as many rows.
    few = max(1, n_rows // 12)
    levels = [reader.categories_[reader.kept_[k]] for k in categorical]
    boosting = {
        "random_state": seed,
        "learning_rate": 0.06,
        "categorical_features": [k for k, names in zip(categorical, levels, strict=True) if len(names) <= _MOST_LEVELS]
        or None,
    }
    scores = scaled(categorical, n_columns)
    ranks = scaled(categorical, n_columns, n_quantiles=max(2, min(100, few)), seed=seed)
    forest = encoded(categorical)
    # Leaves of one row each are best for few rows; for many they would fill the memory.
    leaf = 1 if n_rows < 15_000 else 3
    leaves, least = (64, 10) if n_rows < 2000 else (128, 5)
    large = HistGradientBoostingRegressor(
        max_iter=300,
        max_leaf_nodes=leaves,
        min_samples_leaf=least,
        l2_regularization=3.0,
        max_features=0.5,
        **boosting,
    )
    predictors: dict[str, Any] = {"linear": make_pipeline(scores, RidgeCV(_PENALTIES))}
    if n_columns <= _MOST_SPLINES and n_rows >= 60:
        splines = SplineTransformer(6, extrapolation="linear")
        predictors["splines"] = make_pipeline(scores, splines, RidgeCV(_PENALTIES))
    predictors |= {
        "neighbours": make_pipeline(scores, KNeighborsRegressor(min(10, few), weights="distance", n_jobs=n_jobs)),
        "local kernel": make_pipeline(
            scores, LocalKernelRidge(gamma=1.0 / n_columns, alpha=0.2, decay=0.5, n_neighbors=min(64, few))
        ),
        "shallow boosting": HistGradientBoostingRegressor(
            max_iter=500, max_leaf_nodes=8, min_samples_leaf=10, max_features=0.5, **boosting
        ),
        "extra trees": make_pipeline(
            forest, ExtraTreesRegressor(200, min_samples_leaf=leaf, random_state=seed, n_jobs=n_jobs)
        ),
        "deep boosting": large,
        "local kernel on ranks": make_pipeline(
            ranks, LocalKernelRidge(gamma=3.0 / n_columns, alpha=0.1, decay=2.0, n_neighbors=min(64, few))
        ),
        "random forest": make_pipeline(
            forest, RandomForestRegressor(100, min_samples_leaf=2, max_features=0.4, random_state=seed, n_jobs=n_jobs)
        ),
    }
    predictors["smooth process"] = make_pipeline(scores, SmoothProcess(random_state=seed))
    if target.min() > 0.0 and skew(target) > 1.0:
        # Predictors see the standardised target: undone first, so that its log can be taken.
        predictors["deep boosting of the log"] = TransformedTargetRegressor(
            large, transformer=LogOfStandardised(float(target.mean()), float(target.std()))
        )
    return predictors


def default_scales(
    reader: TableReader, n_columns: int, n_rows: int, mass: float, seed: int, n_jobs: int | None
) -> dict[str, ScaleModel]:
    """Return the models of the error's size to try on a `meta_table`, by name."""
    few = max(1, n_rows // 12)
    view = scaled(reader.categorical_, n_columns)
    trees = ExtraTreesRegressor(100, min_samples_leaf=8, max_features=0.6, random_state=seed, n_jobs=n_jobs)
    windows = ExtraTreesRegressor(100, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=n_jobs)
    boosting = HistGradientBoostingRegressor(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=15,
        l2_regularization=5.0,
        max_features=0.5,
        random_state=seed,
    )
    return {
        "neighbours": ScaleModel(make_pipeline(view, KNeighborsRegressor(min(30, few), n_jobs=n_jobs))),
        "boosting": ScaleModel(boosting),
        "trees": ScaleModel(trees),
        "window": ScaleModel(ShortestWindow(windows, mass), of_target=True),
    }
