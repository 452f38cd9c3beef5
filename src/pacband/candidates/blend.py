"""A blend of predictors, and bands around it whose scale was learnt from its honest errors.

Everything a band needs at x is computed once a table (`Stack.read`) and shared by all bands of the family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from pacband.candidates.reader import TableReader
from pacband.core.arrays import Floats
from pacband.scale.shrinkage import Shrinkage

__all__ = [
    "Averaged",
    "Band",
    "Layers",
    "Stack",
    "convex_weights",
    "cross_fit",
    "disagreement",
    "fit_together",
    "is_boosting",
    "meta_table",
    "mixed_signal",
]

Folds: TypeAlias = Sequence[tuple[Any, Any]]


def fit_together(models: Sequence[Any], X: Floats, goals: Sequence[Floats], *, n_jobs: int | None) -> list[Any]:
    """Return a clone of each model, fitted to its own goal."""
    return _run(_fit, [(model, X, goal) for model, goal in zip(models, goals, strict=True)], n_jobs)


def cross_fit(
    model: Any, X: Floats, y: Floats, folds: Folds, *, n_jobs: int | None, keep: list[Any] | None = None
) -> Floats:
    """Return the predictions of every row by a fit to the other folds; zero for rows in no fold.

    The fits are added to `keep`, where it is given.
    """
    tasks = [(model, X[train], y[train], X[test], keep is not None) for train, test in folds]
    found = _run(_fit_and_predict, tasks, n_jobs)
    unseen = np.zeros((len(y), *found[0][1].shape[1:]))
    for (_, test), (fitted, column) in zip(folds, found, strict=True):
        unseen[test] = column
        if keep is not None:
            keep.append(fitted)
    return unseen


def convex_weights(predictions: Floats, target: Floats) -> Floats:
    """Return weights ≥ 0 that sum to one and minimise the squared error of the blend.

    Non-negative least squares with one more row that says Σw = 1, so heavy that the others cannot bend it.

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> convex_weights(np.column_stack([y - 1, y + 1, 5 - y]), y).round(6)
    array([0.5, 0.5, 0. ])
    """
    heavy = 1e3 * max(1.0, float(np.abs(predictions).max())) * np.sqrt(len(target))
    weights, _ = nnls(np.vstack([predictions, np.full(predictions.shape[1], heavy)]), np.append(target, heavy))
    return np.asarray(weights / weights.sum())


def meta_table(table: Floats, predictions: Floats, weights: Floats) -> Floats:
    """Return what scales are learnt from: the features, the blend, and how its parts disagree."""
    used = predictions[:, weights > 0.0]
    blend = predictions @ weights
    return np.column_stack([table, blend, disagreement(predictions, weights), used - blend[:, None]])


def mixed_signal(signals: Sequence[Floats], units: Sequence[float]) -> Floats:
    """Return the geometric mean of signals, each in its own unit."""
    logs = [np.log(np.maximum(signal / unit, 1e-6)) for signal, unit in zip(signals, units, strict=True)]
    return np.asarray(np.exp(np.mean(logs, axis=0)))


class Averaged(RegressorMixin, BaseEstimator):
    """The mean of fitted models.

    The fits of the folds exist already, and boosting varies so much with its rows that their mean is better than
    any one of them.
    """

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    def predict(self, X: Floats) -> Floats:
        """Return the mean prediction."""
        return np.asarray(np.mean([model.predict(X) for model in self.models], axis=0))


@dataclass(frozen=True, eq=False)
class Layers:
    """What all bands need at the rows of one table, in units of the standardised target."""

    predictions: Floats
    middle: Floats | None
    signals: Mapping[str, Floats]

    @classmethod
    def of(cls, predictions: Floats, weights: Floats, outputs: Mapping[str, Floats]) -> Layers:
        """Read the signals off the outputs of the scale models.

        A model gives the square root of the error's size, or, of shape (n, 2), the ends of a window.
        """
        spread = disagreement(predictions, weights)
        signals = {"spread": spread} if spread.any() else {}
        middle = None
        for name, output in outputs.items():
            if output.ndim == 2:
                middle, signals[name] = output.mean(axis=1), (output[:, 1] - output[:, 0]) / 2.0
            else:
                signals[name] = np.maximum(output, 0.0) ** 2
        return cls(predictions, middle, signals)


@dataclass(eq=False)
class Stack:
    """The fitted parts that the bands of a family share.

    `models` predict, `weights` blend them, and `scales` are models of the size of the blend's error. The target is
    standardised by `location` and `unit`.
    """

    reader: TableReader
    models: dict[str, Any]
    weights: Floats
    location: float
    unit: float
    scales: dict[str, Any]

    def read(self, X: Any) -> Layers:
        """Return every prediction and signal at the rows of X."""
        with _CONTROLLER.limit(limits=1, user_api="openmp"):
            table = self.reader.transform(X)
            predictions = np.column_stack([model.predict(table) for model in self.models.values()])
            meta = meta_table(table, predictions, self.weights)
            outputs = {name: np.asarray(model.predict(meta)) for name, model in self.scales.items()}
        return Layers.of(predictions, self.weights, outputs)


class Band(RegressorMixin, BaseEstimator):
    """A centre and a scale read off a `Stack`: a predictor that speaks ``return_std``.

    Parameters
    ----------
    stack : Stack
        The fitted parts.
    weights : ndarray
        The centre as weights of the stack's predictions.
    towards_window : float in [0, 1]
        How far the centre is moved to the middle of the shortest window.
    signals : tuple of (str, float)
        The signals whose geometric mean makes the scale, and their units; none is a constant scale.
    shrinkage : Shrinkage or None
        From the signal to the scale.
    """

    def __init__(
        self,
        stack: Stack,
        weights: Floats,
        *,
        towards_window: float = 0.0,
        signals: tuple[tuple[str, float], ...] = (),
        shrinkage: Shrinkage | None = None,
    ) -> None:
        self.stack = stack
        self.weights = weights
        self.towards_window = towards_window
        self.signals = signals
        self.shrinkage = shrinkage

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Band:
        """Return self: a band is fitted with its family."""
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return T(x), and with `return_std` also σ̂(x)."""
        prediction, scale = self._at(self.stack.read(X))
        return (prediction, scale) if return_std else prediction

    @staticmethod
    def predict_grid(
        members: Sequence[Band], X: Any, *, progress: Callable[[int, int], None] | None = None
    ) -> list[tuple[Floats, Floats]]:
        """Return T(x) and σ̂(x) of every band, reading each stack once."""
        layers = {id(stack): stack.read(X) for stack in {id(band.stack): band.stack for band in members}.values()}
        if progress is not None:
            progress(1, 1)
        return [band._at(layers[id(band.stack)]) for band in members]

    def _at(self, layers: Layers) -> tuple[Floats, Floats]:
        centre = layers.predictions @ self.weights
        if layers.middle is not None and self.towards_window:
            centre = centre + self.towards_window * (layers.middle - centre)
        if self.shrinkage is None:
            scale = np.ones(len(centre))
        else:
            names, units = zip(*self.signals, strict=True)
            scale = self.shrinkage(mixed_signal([layers.signals[name] for name in names], units))
        return self.stack.location + self.stack.unit * centre, self.stack.unit * scale


_CONTROLLER = ThreadpoolController()


def disagreement(predictions: Floats, weights: Floats) -> Floats:
    """Return the spread of the blend's parts around it."""
    blend = predictions @ weights
    return np.asarray(np.sqrt((predictions - blend[:, None]) ** 2 @ weights))


def is_boosting(model: Any) -> bool:
    """Whether a model is histogram boosting, perhaps of a transformed target."""
    return isinstance(getattr(model, "regressor", model), HistGradientBoostingRegressor)


def _run(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None) -> list[Any]:
    """Do every task: boosting in threads beside each other, the others in turn.

    Forests and neighbours have threads of their own. Boosting has OpenMP's, which wait for each other in a busy loop:
    on a machine with other work it is many times faster to give each fit a single one. Scikit-learn's own parallel
    parts change the warning filters of the process while they run, so that nothing with such parts (forests,
    column transformers, boosting with categories) may run in threads beside each other.
    """
    found: list[Any] = [None] * len(tasks)
    beside = [k for k, task in enumerate(tasks) if _may_run_beside(task[0])]
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        for k, result in zip(beside, pool.map(lambda k: function(*tasks[k]), beside), strict=True):
            found[k] = result
    for k in set(range(len(tasks))) - set(beside):
        found[k] = function(*tasks[k])
    return found


def _may_run_beside(model: Any) -> bool:
    return is_boosting(model) and getattr(model, "regressor", model).categorical_features is None


def _fit(model: Any, X: Floats, y: Floats) -> Any:
    # The number of OpenMP's threads belongs to the thread that asks for them.
    with _CONTROLLER.limit(limits=1, user_api="openmp"):
        fitted = clone(model).fit(X, y)
    final = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if hasattr(final, "estimators_") and hasattr(final, "n_jobs"):
        # Threads would add up the trees in any order, and the last digit would depend on it.
        final.set_params(n_jobs=None)
    return fitted


def _fit_and_predict(model: Any, X: Floats, y: Floats, unseen: Floats, keep: bool) -> tuple[Any, Floats]:
    fitted = _fit(model, X, y)
    with _CONTROLLER.limit(limits=1, user_api="openmp"):
        column = np.asarray(fitted.predict(unseen), dtype=np.float64)
    return (fitted if keep else None), column
