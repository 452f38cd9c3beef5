"""The fitted parts of the automatic family, and its bands, which combine them into a centre and a scale.

Bands of a family need the same predictions. `Stack.evaluate` computes those that are needed, once for a table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from pacband.candidates.blend import disagreement, meta_table
from pacband.candidates.fitting import one_openmp_thread
from pacband.candidates.joined_trees import MOST_ROWS, View, join_trees
from pacband.candidates.reader import TableReader
from pacband.core.arrays import Floats
from pacband.core.progress import Progress
from pacband.scale.shrinkage import Shrinkage

__all__ = ["Averaged", "Band", "Evaluation", "Signals", "Stack", "mix_signals", "move_to_window"]

# The signals of a scale, and the unit of each.
Signals: TypeAlias = tuple[tuple[str, float], ...]
# Predictors and scale models, by name.
_Models: TypeAlias = tuple[dict[str, Any], dict[str, Any]]


class Averaged(RegressorMixin, BaseEstimator):
    """The mean of fitted models.

    Boosting varies much with its rows. The fits of the folds exist already, and the mean of them and of the fit to
    all rows is better than any one of them.
    """

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    def predict(self, X: Floats) -> Floats:
        """Return the mean prediction."""
        return np.asarray(np.mean([model.predict(X) for model in self.models], axis=0))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What all bands need at the rows of one table, in units of the standardised target.

    Attributes
    ----------
    predictions : ndarray of shape (n, predictors)
        The predictions of every predictor.
    window_middle : ndarray or None
        The middle of the shortest window, if there is a model of it.
    signals : mapping of str to ndarray
        What rises and falls with the size of the error, by name.
    """

    predictions: Floats
    window_middle: Floats | None
    signals: Mapping[str, Floats]

    @classmethod
    def from_outputs(cls, predictions: Floats, weights: Floats, outputs: Mapping[str, Floats]) -> Evaluation:
        """Convert the outputs of the scale models to signals.

        A scale model returns the square root of the error's size, or, of shape (n, 2), the ends of a window.
        """
        signals = {"spread": disagreement(predictions, weights)}
        middle = None
        for name, output in outputs.items():
            if output.ndim == 2:
                middle, signals[name] = output.mean(axis=1), (output[:, 1] - output[:, 0]) / 2.0
            else:
                signals[name] = np.maximum(output, 0.0) ** 2
        return cls(predictions, middle, signals)

    def equals(self, other: Evaluation) -> bool:
        """Return whether all numbers are the same, to the last bit."""
        middles = [np.empty(0) if one.window_middle is None else one.window_middle for one in (self, other)]
        pairs = [(self.predictions, other.predictions), (middles[0], middles[1])]
        pairs += [(value, other.signals[name]) for name, value in self.signals.items()]
        return all(one.tobytes() == two.tobytes() for one, two in pairs)


@dataclass(eq=False)
class Stack:
    """The fitted parts that the bands of a family share.

    `models` predict, `weights` blend them, and `scales` are models of the size of the blend's error. The target is
    standardised by `location` and `unit`.

    The second call with few rows joins the trees of the models (`join_trees`), and later calls use them. The first does
    not, because joining takes longer than a single prediction. Joined trees rest on inner parts of scikit-learn, which
    may change. So the second call predicts its rows by both forms: the joined one is used from then on only if it works
    and every bit agrees.
    """

    reader: TableReader
    models: dict[str, Any]
    weights: Floats
    location: float
    unit: float
    scales: dict[str, Any]

    def __post_init__(self) -> None:
        self._n_few_calls = 0
        self._joined: _Models | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A copy joins its own trees.
        return {**vars(self), "_n_few_calls": 0, "_joined": None}

    def evaluate(self, X: Any, bands: Sequence[Band]) -> Evaluation:
        """Return the predictions and signals at the rows of X that these bands need.

        A prediction that is not needed is 0. Its weights are 0 too, so no bit of a band changes.
        """
        names = {name for band in bands for name, _ in band.signals}
        if any(band.towards_window for band in bands):
            names.add("window")
        needed = sum((band.weights != 0.0 for band in bands), start=np.zeros(len(self.weights), dtype=bool))
        if names:
            # The features of the scale models, and the spread, come from all parts of the blend.
            needed |= self.weights != 0.0
        with one_openmp_thread():
            table = self.reader.transform(X)
            own = self.models, self.scales
            if len(table) > MOST_ROWS:
                return self._evaluate(own, table, needed, names)
            self._n_few_calls += 1
            if self._joined is None and self._n_few_calls > 1:
                self._joined = self._join_models(table)
            return self._evaluate(self._joined or own, table, needed, names)

    def _evaluate(self, models: _Models, table: Floats, needed: Any, names: Collection[str]) -> Evaluation:
        """Return the needed predictions of these predictors, and the named signals of these scale models."""
        predictors, scales = models
        predictions = np.zeros((len(table), len(predictors)))
        for k, model in enumerate(predictors.values()):
            if needed[k]:
                predictions[:, k] = model.predict(table)
        meta = meta_table(table, predictions, self.weights)
        outputs = {name: np.asarray(model.predict(meta)) for name, model in scales.items() if name in names}
        return Evaluation.from_outputs(predictions, self.weights, outputs)

    def _join_models(self, table: Floats) -> _Models:
        """Return the models with joined trees; as they are, if joined ones fail or give other bits at these rows."""
        own, everything = (self.models, self.scales), (np.ones(len(self.weights), dtype=bool), self.scales)
        views: dict[str, View] = {}
        try:
            models = {name: _join(model, views) for name, model in self.models.items()}
            joined = models, {name: _join(model, views) for name, model in self.scales.items()}
            found = self._evaluate(joined, table, *everything)
        except Exception:  # inner parts of another library may fail in any way: the models predict without them
            return own
        return joined if found.equals(self._evaluate(own, table, *everything)) else own


class Band(RegressorMixin, BaseEstimator):
    """A centre and a scale computed from a `Stack`: a predictor with ``predict(X, return_std=True)``.

    Parameters
    ----------
    stack : Stack
        The fitted parts.
    weights : ndarray
        The weights of the stack's predictions in the centre.
    towards_window : float in [0, 1]
        How far the centre is moved to the middle of the shortest window.
    signals : tuple of (str, float)
        The signals whose geometric mean makes the scale, and their units. Without signals the scale is constant.
    shrinkage : Shrinkage or None
        Converts the signal to the scale.
    """

    def __init__(
        self,
        stack: Stack,
        weights: Floats,
        *,
        towards_window: float = 0.0,
        signals: Signals = (),
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
        if return_std:
            return self.combine(self.stack.evaluate(X, [self]))
        centre = Band(self.stack, self.weights, towards_window=self.towards_window)
        return centre.combine(self.stack.evaluate(X, [centre]))[0]

    @staticmethod
    def predict_grid(
        members: Sequence[Band], X: Any, *, progress: Progress | None = None
    ) -> list[tuple[Floats, Floats]]:
        """Return T(x) and σ̂(x) of every band, evaluating each stack once (`SharesWork`)."""
        evaluations = {
            stack: stack.evaluate(X, [band for band in members if band.stack is stack])
            for stack in dict.fromkeys(band.stack for band in members)
        }
        if progress is not None:
            progress(1, 1)
        return [band.combine(evaluations[band.stack]) for band in members]

    def combine(self, evaluation: Evaluation) -> tuple[Floats, Floats]:
        """Return T(x) and σ̂(x) at the rows of an evaluation of the stack."""
        centre = evaluation.predictions @ self.weights
        centre = move_to_window(centre, evaluation.window_middle, self.towards_window)
        if self.shrinkage is None:
            scale = np.ones(len(centre))
        else:
            scale = self.shrinkage(mix_signals(evaluation.signals, self.signals))
        return self.stack.location + self.stack.unit * centre, self.stack.unit * scale


def _join(model: Any, views: dict[str, View]) -> Any:
    if type(model) is Averaged:
        return Averaged([join_trees(part, views) for part in model.models])
    return join_trees(model, views)


def move_to_window(centre: Floats, window_middle: Floats | None, share: float) -> Floats:
    """Return the centre, moved by a share of its distance to the middle of the window."""
    if window_middle is None or not share:
        return centre
    return np.asarray(centre + share * (window_middle - centre))


def mix_signals(values: Mapping[str, Floats], signals: Signals) -> Floats:
    """Return the geometric mean of the named signals, each in its own unit."""
    logs = [np.log(np.maximum(values[name] / unit, 1e-6)) for name, unit in signals]
    return np.asarray(np.exp(np.mean(logs, axis=0)))
