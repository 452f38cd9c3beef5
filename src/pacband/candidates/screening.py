"""Screening: cross-fit, blend, learn scales from honest errors, and judge every pair by the width of its band."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from pacband.candidates.blend import (
    Averaged,
    Band,
    Layers,
    Stack,
    convex_weights,
    cross_fit,
    fit_together,
    is_boosting,
    meta_table,
    mixed_signal,
)
from pacband.candidates.defaults import default_predictors, default_scales
from pacband.candidates.members import Progress
from pacband.candidates.reader import TableReader
from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.scale.shrinkage import Shrinkage
from pacband.scores import ScoreRule, scores_of

__all__ = ["Clock", "Screening", "Tried"]

# Screening looks at no more rows than this.
_MOST_ROWS = 50_000
# How much of the budget may be gone when a predictor, or a scale, is begun; the rest is for fitting on all rows.
_UNTIL_PREDICTOR, _UNTIL_SCALE = 0.6, 0.75
# A trial fit takes one row of a fold in up to this many, but no fewer rows than this.
_TRIAL_STEP, _TRIAL_ROWS = 8, 1000
# Less weight than this in the blend is not worth a model.
_LEAST_WEIGHT = 0.02
# A band is judged at several levels near the one it will have, for at one alone its width is noisy.
_LEVELS = np.array([0.7, 0.85, 1.0, 1.15, 1.3])
# A scale that varies has to be narrower than a constant one by this over √n: about one standard error.
_HANDICAP = 0.3
# Below this many rows the share of a signal is settled by likelihood, for the width of a band is too noisy for that.
_ROWS_TO_TUNE = 1000
_TOWARDS_WINDOW = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Tried:
    """One thing that was tried.

    Attributes
    ----------
    name : str
        A predictor T, or T and its scale.
    width : float or None
        The mean of γσ̂ on rows that neither T nor σ̂ has seen; None where it did not come to that.
    seconds : float
        What its predictor, or its scale, took.
    status : str
        "chosen", "wider", "given", or why it was dropped.
    """

    name: str
    width: float | None
    seconds: float
    status: str


class Clock:
    """How much of the time is gone, and how far the work has come."""

    def __init__(self, budget: float, progress: Progress | None) -> None:
        self.budget = budget
        self.total = 0
        self.done = 0
        self._progress = progress
        self._start = perf_counter()

    def left(self, share: float = 1.0) -> float:
        """Return the seconds left until this share of the budget is gone."""
        return share * self.budget - (perf_counter() - self._start)

    def step(self) -> None:
        """Say that one more step is done."""
        self.done += 1
        if self._progress is not None:
            self._progress(self.done, max(self.total, self.done))


@dataclass(frozen=True, eq=False)
class _Pair:
    """A pair (T, σ̂): how to read both off `Layers`, and how wide its band was."""

    name: str
    parts: Mapping[str, float]
    towards_window: float
    signals: tuple[tuple[str, float], ...]
    shrinkage: Shrinkage | None
    width: float
    judged: float
    seconds: float

    def on(self, stack: Stack) -> Band:
        weights = np.array([self.parts.get(name, 0.0) for name in stack.models])
        return Band(
            stack,
            weights,
            towards_window=self.towards_window,
            signals=self.signals,
            shrinkage=self.shrinkage,
        )


class Screening:
    """One search for the sharpest pairs, on training rows alone."""

    def __init__(
        self,
        X: Any,
        target: Floats,
        *,
        level: float,
        scoring: ScoreRule,
        random: np.random.RandomState,
        clock: Clock,
        n_jobs: int | None,
        predictors: Mapping[str, Any] | None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        if predictors is not None and not predictors:
            raise InvalidInput(f"predictors must hold at least one estimator, got {predictors!r}.")
        self.reader = TableReader().fit(X, kinds=kinds)
        self.matrix = self.reader.transform(X)
        if len(self.matrix) != len(target):
            raise InvalidInput(f"X and y must have one length, got {len(self.matrix)} and {len(target)}.")
        self.level, self.scoring, self.clock, self.n_jobs = level, scoring, clock, n_jobs
        self.location, self.unit = float(target.mean()), float(target.std())
        self.all_z = (target - self.location) / self.unit
        seed = int(random.randint(2**31 - 1))
        rows = np.sort(random.permutation(len(target))[:_MOST_ROWS])
        self.table, self.z = self.matrix[rows], self.all_z[rows]
        n_rows, n_columns = self.table.shape
        # The more rows there are, the less a fold of them is missed.
        n_folds = 5 if n_rows < 3000 else 4 if n_rows < 15_000 else 3
        self.folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(self.table))
        self.trial_step = min(max(n_rows // _TRIAL_ROWS, 1), _TRIAL_STEP)
        self.predictors = (
            default_predictors(self.reader, self.table, target, seed, n_jobs) if predictors is None else predictors
        )
        self.scales = default_scales(self.reader, n_columns, n_rows, 1.0 - level, seed, n_jobs)
        self.left_out: list[Tried] = []
        self.seconds: dict[str, float] = {}
        self.kept: dict[str, list[Any]] = {}
        clock.total = clock.done + len(self.predictors) + len(self.scales) + 1

    def run(self, most: int) -> tuple[dict[str, Band], list[Tried]]:
        """Return the sharpest pairs, fitted, and the record of all."""
        columns: dict[str, Floats] = {}
        for name, model in self.predictors.items():
            self._try(name, model, self.table, self.z, columns, _UNTIL_PREDICTOR, needed=not columns)
        if not columns:
            raise InvalidInput(f"not one predictor could be fitted: {self.left_out[0].name} {self.left_out[0].status}.")
        names = list(columns)
        predictions = np.column_stack(list(columns.values()))
        weights = convex_weights(predictions, self.z)
        weights = np.where(weights < _LEAST_WEIGHT, 0.0, weights)
        weights /= weights.sum()
        meta = meta_table(self.table, predictions, weights)
        roots = np.sqrt(np.abs(self.z - predictions @ weights))
        outputs: dict[str, Floats] = {}
        for name, scale in self.scales.items():
            goal = self.z if scale.of_target else roots
            self._try(f"scale by {name}", scale.model, meta, goal, outputs, _UNTIL_SCALE, needed=False)
        outputs = {name.removeprefix("scale by "): output for name, output in outputs.items()}
        layers = Layers.of(predictions, weights, outputs)
        ranked = sorted(self._pairs(names, weights, layers), key=lambda pair: pair.judged)
        chosen = ranked[:most]
        stack = self._fit_stack(dict(zip(names, weights, strict=True)), meta, roots, chosen)
        self.clock.step()
        record = [
            Tried(pair.name, pair.width * self.unit, pair.seconds, "chosen" if pair in chosen else "wider")
            for pair in ranked
        ]
        return {pair.name: pair.on(stack) for pair in chosen}, record + self.left_out

    def _try(
        self, name: str, model: Any, X: Floats, y: Floats, columns: dict[str, Floats], until: float, *, needed: bool
    ) -> None:
        """Cross-fit a model, unless a trial on few rows says that it would take too long; or note why not."""
        start = perf_counter()
        try:
            if not needed and self.clock.left(until) <= 0.0:
                self._leave_out(name, start, "dropped: the budget leaves no time to try it")
                return
            keep: list[Any] | None = [] if is_boosting(model) else None
            column = self._trial(model, X, y, keep)
            estimate = (perf_counter() - start) * self.trial_step * len(self.folds)
            if not needed and estimate > self.clock.left(until):
                self._leave_out(name, start, f"dropped: about {estimate:.2g} s are more than the budget leaves")
                return
            left = self.folds if column is None else self.folds[1:]
            others = cross_fit(model, X, y, left, n_jobs=self.n_jobs, keep=keep)
            column = others if column is None else column + others
            if np.isfinite(column).all():
                columns[name] = column
                self.kept[name] = keep or []
            else:
                self._leave_out(name, start, "dropped: it predicts NaN or infinite values")
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self._leave_out(name, start, f"dropped: {str(error).splitlines()[0]}")
        finally:
            self.seconds[name] = perf_counter() - start
            self.clock.step()

    def _trial(self, model: Any, X: Floats, y: Floats, keep: list[Any] | None) -> Floats | None:
        """Fit a model to few rows, for the time it takes; where all of a fold are few, return what came of it."""
        train, test = self.folds[0]
        if self.trial_step == 1:
            return cross_fit(model, X, y, self.folds[:1], n_jobs=1, keep=keep)
        cross_fit(model, X, y, [(train[:: self.trial_step], test[:: self.trial_step])], n_jobs=1)
        return None

    def _leave_out(self, name: str, start: float, why: str) -> None:
        self.left_out.append(Tried(name, None, perf_counter() - start, why))

    def _pairs(self, names: list[str], weights: Floats, layers: Layers) -> list[_Pair]:
        """Judge every predictor and the blend with every scale."""
        units = {name: float(signal.mean()) for name, signal in layers.signals.items()}
        recipes: dict[str, tuple[tuple[str, float], ...]] = {"constant": ()}
        recipes |= {name: ((name, unit),) for name, unit in units.items() if unit > 0.0}
        mixed = tuple((name, units[name]) for name in ("boosting", "trees", "window") if units.get(name, 0.0) > 0.0)
        if len(mixed) > 1:
            recipes["mixed"] = mixed
        pairs = []
        blend = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight > 0.0}
        for recipe, signals in recipes.items():
            for k, name in enumerate(names):
                pairs.append(self._judge(name, {name: 1.0}, layers.predictions[:, k], 0.0, recipe, signals, layers))
            centre = layers.predictions @ weights
            for towards in _TOWARDS_WINDOW if layers.middle is not None else (0.0,):
                moved = centre if layers.middle is None else centre + towards * (layers.middle - centre)
                name = {0.0: "blend", 0.5: "blend half to window", 1.0: "window"}[towards]
                pairs.append(self._judge(name, blend, moved, towards, recipe, signals, layers))
        return pairs

    def _judge(
        self,
        name: str,
        parts: Mapping[str, float],
        centre: Floats,
        towards: float,
        recipe: str,
        signals: tuple[tuple[str, float], ...],
        layers: Layers,
    ) -> _Pair:
        shrinkage, scale = None, np.ones(len(centre))
        if signals:
            signal = mixed_signal([layers.signals[key] for key, _ in signals], [unit for _, unit in signals])
            tuned = self.level if len(centre) >= _ROWS_TO_TUNE else None
            shrinkage = Shrinkage.fit(signal, self.z - centre, floor=1e-9, eps=tuned)
            scale = shrinkage(signal)
        scores = scores_of(self.scoring, self.z, centre, scale)
        gammas = np.quantile(scores, 1.0 - np.minimum(self.level * _LEVELS, 0.99), method="higher")
        width = float(gammas.mean() * scale.mean())
        if self.scoring.side != "both":
            # As in `certify_family`: where one side counts, the distance from y to T on it is part of the width.
            width += float((centre - self.z).mean()) * (1.0 if self.scoring.side == "upper" else -1.0)
        handicap = _HANDICAP / np.sqrt(len(centre)) if signals else 0.0
        seconds = self.seconds.get(name, 0.0) + sum(self.seconds.get(f"scale by {key}", 0.0) for key, _ in signals)
        return _Pair(f"{name} / {recipe}", parts, towards, signals, shrinkage, width, width * (1.0 + handicap), seconds)

    def _fit_stack(self, blend: Mapping[str, float], meta: Floats, roots: Floats, chosen: list[_Pair]) -> Stack:
        """Fit what the chosen pairs need on all rows; scales stay with the honest errors, of the rows screened."""
        parts = {name for pair in chosen for name in pair.parts}
        scales = {key for pair in chosen for key, _ in pair.signals if key in self.scales}
        if any(pair.towards_window for pair in chosen):
            scales.add("window")
        if scales or any(key == "spread" for pair in chosen for key, _ in pair.signals):
            parts |= {name for name, weight in blend.items() if weight > 0.0}
        kept = [name for name in blend if name in parts]
        ratio = len(self.all_z) / len(self.z)
        estimate = ratio * sum(self.seconds[name] for name in kept) / len(self.folds)
        enough = ratio == 1.0 or estimate < self.clock.left()
        X, z = (self.matrix, self.all_z) if enough else (self.table, self.z)
        fitted = fit_together([self.predictors[name] for name in kept], X, [z] * len(kept), n_jobs=self.n_jobs)
        used = {name: scale for name, scale in self.scales.items() if name in scales}
        goals = [self.z if scale.of_target else roots for scale in used.values()]
        learnt = fit_together([scale.model for scale in used.values()], meta, goals, n_jobs=self.n_jobs)
        return Stack(
            self.reader,
            {name: Averaged([*self.kept[name], model]) for name, model in zip(kept, fitted, strict=True)},
            np.array([blend[name] for name in kept]),
            self.location,
            self.unit,
            dict(zip(used, learnt, strict=True)),
        )
