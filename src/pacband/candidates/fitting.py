"""Fit many models at once, on all rows or fold by fold, with results that do not depend on the number of threads."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.workers import Workers
from pacband.core.arrays import Floats
from pacband.core.blas_threads import one_blas_thread
from pacband.core.interrupts import keep_interrupts
from pacband.scale.crossfit import Folds

__all__ = [
    "FoldFit",
    "Rounds",
    "compare_costs",
    "fit_folds",
    "fit_together",
    "is_boosting",
    "n_parallel",
    "one_openmp_thread",
    "shorten_process",
]

_CONTROLLER = ThreadpoolController()
# A table with fewer cells is boosted in one thread: two take up to 1.8 times as long there, and less from here on.
_MANY_CELLS = 300_000


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The predictions of a fold by a model that was fitted to other rows; and that model, if it is boosting.

    Only the fits of boosting are used again, as parts of an average. Others, such as forests, would fill the memory,
    and take long to come from another program.
    """

    predictions: Floats
    model: Any


def one_openmp_thread() -> Any:
    """Return a context in which the calling thread uses a single OpenMP thread."""
    return _CONTROLLER.limit(limits=1, user_api="openmp")


def is_boosting(model: Any) -> bool:
    """Whether a model is histogram boosting, perhaps of a transformed target."""
    return isinstance(_regressor(model), HistGradientBoostingRegressor)


@dataclass(frozen=True)
class Rounds:
    """The rounds of a fit: it takes a fixed time, and then as long for each tree.

    Attributes
    ----------
    name : str
        The parameter that limits their number.
    count : int
        Their number.
    """

    name: str
    count: int

    @classmethod
    def of(cls, model: Any) -> Rounds | None:
        """Return the rounds of boosting or of a forest, perhaps within a pipeline; else None."""
        for path, part in _parts(model):
            for kind, name in _ROUNDS.items():
                if isinstance(part, kind):
                    return cls(f"{path}__{name}".lstrip("_"), getattr(part, name))
        return None

    def limit(self, model: Any, count: int) -> Any:
        """Return a clone of the model with so many rounds."""
        return clone(model).set_params(**{self.name: count})


# Classes with rounds, and the parameter of their number.
_ROUNDS = {
    HistGradientBoostingRegressor: "max_iter",
    ExtraTreesRegressor: "n_estimators",
    RandomForestRegressor: "n_estimators",
}


def shorten_process(model: Any, n_rows: int) -> tuple[Any, float] | None:
    """Return a smooth process with a shorter fit, and how many times as long its own takes; None for other models."""
    for path, part in _parts(model):
        if isinstance(part, SmoothProcess):
            short, times = part.shorten(n_rows)
            return clone(model).set_params(**{path: short}) if path else short, times
    return None


def compare_costs(model: Any, n_rows: int) -> tuple[type, float] | None:
    """Return the kind of a model, and a number that grows with the time of its fit; None if the kind is not known.

    A process learns from some of the rows, and its time grows with their number, at least to the power 1.5. The time of
    boosting has a fixed part, and a part that grows with the number of trees and their depth.
    """
    last = _regressor(_last_step(model))
    if isinstance(last, SmoothProcess):
        return SmoothProcess, min(last.n_tune, n_rows) ** 1.5
    if is_boosting(last):
        return HistGradientBoostingRegressor, (last.max_iter * math.log2(last.max_leaf_nodes or n_rows)) ** 0.25
    return None


def n_parallel(model: Any, X: Floats, workers: Workers) -> int:
    """Return how many fits of a model to such a table run at the same time."""
    if _suits_programs(model, X) and workers.n_programs > 1:
        return workers.n_programs
    return workers.n_threads if _suits_threads(model, X) else 1


def fit_together(models: Sequence[Any], X: Floats, targets: Sequence[Floats], *, workers: Workers) -> list[Any]:
    """Return a clone of each model, fitted to its own target."""
    none = X[:0]
    tasks = [_Fit(model, X, target, none, keep=True) for model, target in zip(models, targets, strict=True)]
    return [fit.model for fit in _run(tasks, workers)]


def fit_folds(model: Any, X: Floats, y: Floats, folds: Folds, *, workers: Workers) -> list[FoldFit]:
    """Fit a clone of the model to the training rows of each fold, and predict the test rows of that fold.

    Unlike `pacband.scale.crossfit.cross_predict`, this takes some of the folds, runs them side by side and returns the
    fits.
    """
    keep = is_boosting(model)
    return _run([_Fit(model, X[train], y[train], X[test], keep) for train, test in folds], workers)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A model, the rows to fit it to, rows to predict, and whether the fit itself is wanted."""

    model: Any
    X: Floats
    y: Floats
    unseen: Floats
    keep: bool

    def prepare(self) -> Callable[[], FoldFit]:
        """Fit all steps of a pipeline but the last, and return what fits the last one."""
        model, rows, unseen = clone(self.model), self.X, self.unseen
        if isinstance(model, Pipeline):
            rows = model[:-1].fit_transform(rows, self.y)
            unseen = model[:-1].transform(unseen) if len(unseen) else unseen

        def finish() -> FoldFit:
            return FoldFit(_fit(_last_step(model), rows, self.y, unseen), model if self.keep else None)

        return finish

    def complete(self) -> FoldFit:
        """Fit all steps."""
        return self.prepare()()


def _run(tasks: Sequence[_Fit], workers: Workers) -> list[FoldFit]:
    """Run every task: some in programs side by side or in parallel threads, the others one by one.

    Forests and neighbours have threads of their own. Boosting has OpenMP threads, which wait for each other in a busy
    loop: on a machine with other work it is many times faster to give each fit a single one. The same is true of the
    threads of linear algebra, whose number belongs to the process. The parallel parts of scikit-learn change the
    warning filters of the process while they run. A model with such parts (forests, column transformers, boosting with
    categories) must therefore not run in parallel threads: the first steps of a pipeline are fitted before. The threads
    of one forest can still leave no filters at all behind them, so the filters are restored.
    """
    beside = {k for k, task in enumerate(tasks) if _suits_programs(task.model, task.X) and workers.n_programs > 1}
    threads = {k for k, task in enumerate(tasks) if _suits_threads(task.model, task.X)} - beside
    found: dict[int, FoldFit] = {}
    with (
        keep_interrupts(),
        warnings.catch_warnings(),
        one_blas_thread(),
        ThreadPoolExecutor(workers.n_threads) as pool,
    ):
        prepared = [tasks[k].prepare() for k in threads]
        found |= zip(threads, pool.map(lambda finish: finish(), prepared), strict=True)
        found |= zip(beside, workers.run(_Fit.complete, [tasks[k] for k in beside]), strict=True)
        found |= {k: task.complete() for k, task in enumerate(tasks) if k not in found}
    return [found[k] for k in range(len(tasks))]


def _suits_threads(model: Any, X: Floats) -> bool:
    """Whether fits of a model to such a table are quicker in parallel threads than one by one."""
    final = _regressor(_last_step(model))
    if isinstance(final, SmoothProcess):
        return True
    return is_boosting(final) and X.size >= _MANY_CELLS and final.categorical_features is None


def _suits_programs(model: Any, X: Floats) -> bool:
    """Whether fits of a model to such a table are quicker in programs side by side than in threads.

    On small tables Python itself takes the time of boosting, and so it does between the steps of a process.
    """
    final = _regressor(_last_step(model))
    return isinstance(final, SmoothProcess) or (is_boosting(final) and not _suits_threads(model, X))


def _parts(model: Any) -> list[tuple[str, Any]]:
    """Return the model, under no name, and its parameters, with those of its parts, by name."""
    return [("", model), *model.get_params().items()]


def _regressor(model: Any) -> Any:
    return getattr(model, "regressor", model)


def _last_step(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _fit(model: Any, X: Floats, y: Floats, unseen: Floats) -> Floats:
    """Fit the model, and return its predictions of unseen rows, if there are any."""
    # The limit belongs to the thread that sets it, so every task sets its own.
    with one_openmp_thread():
        model.fit(X, y)
        if hasattr(model, "estimators_") and hasattr(model, "n_jobs"):
            # Threads would add up the trees in any order, and the last digit would depend on it.
            model.set_params(n_jobs=None)
        return np.asarray(model.predict(unseen), dtype=np.float64) if len(unseen) else np.empty(0)
