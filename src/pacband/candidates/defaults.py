"""The default predictors and scale models, the most useful a second first.

The settings are those that suit tables of all kinds. None is tuned to a table: the blend chooses between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.stats import skew
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from pacband.candidates.reader import TableReader
from pacband.candidates.ridge import LeaveOneOutRidge
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.views import encode_categories, scale_columns
from pacband.candidates.windows import ShortestWindow
from pacband.core.arrays import Floats
from pacband.local import LocalKernelRidge

__all__ = ["COARSER", "LogOfStandardised", "ScaleModel", "default_predictors", "default_scales"]

_PENALTIES = tuple(np.logspace(-2, 4, 13).tolist())
# Histogram boosting bins a feature into at most 255 values. A column with more categories than this stays codes.
_MOST_LEVELS = 200
# From here on a quick process and trees are tried before the other processes.
_MANY_ROWS = 4000
# With fewer rows, every process learns from nearly all of them.
_FINE_ROWS = 700
# A finer predictor, and the one of its kind that is tried before it: if that is the best so far, the finer one is next.
COARSER = {
    "smooth process": "quick process",
    "fine smooth process": "smooth process",
    "fine rough process on ranks": "rough process on ranks",
    "fine rough process": "fine rough process on ranks",
    "fine rough process of the log": "fine rough process on ranks",
}
# Splines make a dozen columns of each column.
_MOST_SPLINES = 40


@dataclass(frozen=True)
class ScaleModel:
    """A model of the error's size.

    It is fitted to the root of the absolute error, or, with `of_target`, to the target itself, and predicts a window.
    """

    model: Any
    of_target: bool = False


class LogOfStandardised(TransformerMixin, BaseEstimator):
    """The log of a positive target that is given as (y − location) / unit."""

    def __init__(self, location: float, unit: float) -> None:
        self.location = location
        self.unit = unit

    def fit(self, Y: Any, y: Any = None) -> Self:
        """Learn the range of the target, to which predictions are clipped."""
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
    """Return the predictors to try on a matrix, by name.

    Parameters
    ----------
    reader : TableReader
        Knows which columns of the matrix are categories.
    table, target : ndarray
        The matrix and the target, before it is standardised.
    seed : int
        Seeds the models.
    n_jobs : int or None
        Threads, as in joblib.
    """
    n_rows, n_columns = table.shape
    few = _few_rows(n_rows)
    scores = scale_columns(reader.categorical_, n_columns)
    ranks = scale_columns(reader.categorical_, n_columns, n_quantiles=max(2, min(100, few)), seed=seed)
    indicators = encode_categories(reader.categorical_)
    boosting = _boosting(reader, n_rows, seed)
    smooth, rough = (partial(SmoothProcess, kernel=kernel, random_state=seed) for kernel in ("rational", "matern"))
    # Leaves of one row are best for few rows. For many rows they would fill the memory.
    leaf = 1 if n_rows < 15_000 else 3
    predictors: dict[str, Any] = {
        "linear": make_pipeline(scores, LeaveOneOutRidge(_PENALTIES)),
        # A tenth of the time of medium boosting: something for little time, many rows or a busy machine.
        "quick boosting": boosting["quick"],
    }
    if n_columns <= _MOST_SPLINES and n_rows >= 60:
        splines = SplineTransformer(6, extrapolation="linear")
        predictors["splines"] = make_pipeline(scores, splines, LeaveOneOutRidge(_PENALTIES))
    predictors["shallow boosting"] = boosting["shallow"]
    if n_rows < _MANY_ROWS:
        predictors["smooth process"] = _process(scores, smooth())
    else:
        # With many rows trees often gain more a second. This one shows whether they do.
        predictors["quick process"] = _process(scores, smooth(300, 1000))
    predictors |= {
        "medium boosting": boosting["medium"],
        "extra trees": make_pipeline(
            indicators, ExtraTreesRegressor(100, min_samples_leaf=leaf, random_state=seed, n_jobs=n_jobs)
        ),
        "slow boosting": boosting["slow"],
        "deep boosting": boosting["deep"],
        "smooth process": _process(scores, smooth()),
        "rough process on ranks": _process(ranks, rough()),
    }
    log = _log_of(target)
    if log is not None:
        predictors["deep boosting of the log"] = TransformedTargetRegressor(boosting["deep"], transformer=log)
        predictors["smooth process of the log"] = _process(scores, smooth(), log)
    predictors |= {
        "neighbours": make_pipeline(scores, KNeighborsRegressor(min(10, few), weights="distance", n_jobs=n_jobs)),
        "random forest": make_pipeline(
            indicators,
            RandomForestRegressor(100, min_samples_leaf=2, max_features=0.4, random_state=seed, n_jobs=n_jobs),
        ),
        "local kernel": make_pipeline(
            scores,
            LocalKernelRidge(gamma=1.0 / n_columns, alpha=0.2, decay=0.5, n_neighbors=min(64, few), n_jobs=n_jobs),
        ),
        "local kernel on ranks": make_pipeline(
            ranks,
            LocalKernelRidge(gamma=3.0 / n_columns, alpha=0.1, decay=2.0, n_neighbors=min(64, few), n_jobs=n_jobs),
        ),
    }
    if n_rows >= _FINE_ROWS:
        # They learn from twice as many rows, and use more of them, at several times the cost.
        predictors["fine smooth process"] = _process(scores, smooth(1000, 8000))
        predictors["fine rough process on ranks"] = _process(ranks, rough(1000, 8000))
        name = "fine rough process" if log is None else "fine rough process of the log"
        predictors[name] = _process(scores, rough(1000, 8000), log)
    return predictors


def default_scales(
    reader: TableReader, n_columns: int, n_rows: int, mass: float, seed: int, n_jobs: int | None
) -> dict[str, ScaleModel]:
    """Return the scale models to try on a `meta_table`, by name.

    Parameters
    ----------
    reader, seed, n_jobs
        As in `default_predictors`.
    n_columns, n_rows : int
        The shape of the matrix. Further columns of the `meta_table` are used by trees and boosting only.
    mass : float in (0, 1)
        The share of y that a window contains.
    """
    view = scale_columns(reader.categorical_, n_columns)
    trees = ExtraTreesRegressor(100, min_samples_leaf=8, max_features=0.6, random_state=seed, n_jobs=n_jobs)
    windows = ExtraTreesRegressor(100, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=n_jobs)
    neighbours = KNeighborsRegressor(min(30, _few_rows(n_rows)), n_jobs=n_jobs)
    # More rounds in smaller steps are no better: the size of an error is noisy.
    boosting = HistGradientBoostingRegressor(
        max_iter=50,
        learning_rate=0.12,
        max_leaf_nodes=8 if n_rows < _MANY_ROWS else 16,
        l2_regularization=5.0,
        max_features=0.5,
        random_state=seed,
    )
    scales = {
        "neighbours": ScaleModel(make_pipeline(view, neighbours)),
        "boosting": ScaleModel(boosting),
        "trees": ScaleModel(trees),
        "window": ScaleModel(ShortestWindow(windows, mass), of_target=True),
    }
    # The time of neighbours grows with the square of the rows.
    first = "neighbours" if n_rows < _MANY_ROWS else "boosting"
    return {first: scales[first], **scales}


def _log_of(target: Floats) -> LogOfStandardised | None:
    """Return the log for a positive target with a long tail, else None.

    Predictors are fitted to the standardised target, which is converted back before its log is taken.
    """
    if target.min() > 0.0 and skew(target) > 1.0:
        return LogOfStandardised(float(target.mean()), float(target.std()))
    return None


def _process(view: Any, process: SmoothProcess, log: LogOfStandardised | None = None) -> Any:
    """Return a process of a view of the matrix, perhaps of the log of the target."""
    if log is None:
        return make_pipeline(view, process)
    return make_pipeline(view, TransformedTargetRegressor(process, transformer=make_pipeline(log, StandardScaler())))


def _boosting(reader: TableReader, n_rows: int, seed: int) -> dict[str, HistGradientBoostingRegressor]:
    """Return histogram boosting with few, shallow, medium and deep trees, and with many shallow ones in small steps."""
    n_levels = {k: len(reader.categories_[reader.kept_[k]]) for k in reader.categorical_}
    categorical = [k for k, levels in n_levels.items() if levels <= _MOST_LEVELS] or None
    leaves, least = (64, 10) if n_rows < 2000 else (128, 5)

    def boost(
        rounds: int, rate: float, n_leaves: int, n_least: int, penalty: float, share: float
    ) -> HistGradientBoostingRegressor:
        return HistGradientBoostingRegressor(
            max_iter=rounds,
            learning_rate=rate,
            max_leaf_nodes=n_leaves,
            min_samples_leaf=n_least,
            l2_regularization=penalty,
            max_features=share,
            random_state=seed,
            categorical_features=categorical,
        )

    return {
        "quick": boost(30, 0.3, 16, 10, 3.0, 0.5),
        "shallow": boost(500, 0.06, 8, 10, 0.0, 0.5),
        "medium": boost(200, 0.15, 32, 5, 3.0, 0.5),
        "slow": boost(2000, 0.04, 8, 3, 0.0, 0.3),
        "deep": boost(300, 0.06, leaves, least, 3.0, 0.5),
    }


def _few_rows(n_rows: int) -> int:
    """Return a number of rows that even a training fold of a trial fit has."""
    return max(1, n_rows // 12)
