"""The fitted parts of the automatic family, and its bands, which combine them into a centre and a scale.

All bands of a family need the same predictions. `Stack.evaluate` computes them once for a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from pacband.candidates.blend import disagreement, meta_table
from pacband.candidates.fitting import one_openmp_thread
from pacband.candidates.reader import TableReader
from pacband.core.arrays import Floats
from pacband.core.progress import Progress
from pacband.scale.shrinkage import Shrinkage

__all__ = ["Averaged", "Band", "Evaluation", "Signals", "Stack", "mix_signals", "move_to_window"]

# The signals of a scale, and the unit of each.
Signals: TypeAlias = tuple[tuple[str, float], ...]


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

    def evaluate(self, X: Any) -> Evaluation:
        """Return every prediction and signal at the rows of X."""
        with one_openmp_thread():
            table = self.reader.transform(X)
            predictions = np.column_stack([model.predict(table) for model in self.models.values()])
            meta = meta_table(table, predictions, self.weights)
            outputs = {name: np.asarray(model.predict(meta)) for name, model in self.scales.items()}
        return Evaluation.from_outputs(predictions, self.weights, outputs)


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
        prediction, scale = self.combine(self.stack.evaluate(X))
        return (prediction, scale) if return_std else prediction

    @staticmethod
    def predict_grid(
        members: Sequence[Band], X: Any, *, progress: Progress | None = None
    ) -> list[tuple[Floats, Floats]]:
        """Return T(x) and σ̂(x) of every band, evaluating each stack once (`SharesWork`)."""
        evaluations = {stack: stack.evaluate(X) for stack in dict.fromkeys(band.stack for band in members)}
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


def move_to_window(centre: Floats, window_middle: Floats | None, share: float) -> Floats:
    """Return the centre, moved by a share of its distance to the middle of the window."""
    if window_middle is None or not share:
        return centre
    return np.asarray(centre + share * (window_middle - centre))


def mix_signals(values: Mapping[str, Floats], signals: Signals) -> Floats:
    """Return the geometric mean of the named signals, each in its own unit."""
    logs = [np.log(np.maximum(values[name] / unit, 1e-6)) for name, unit in signals]
    return np.asarray(np.exp(np.mean(logs, axis=0)))
