"""Fit many models at once, on all rows or fold by fold, with results that do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import ThreadpoolController

from pacband.candidates.smooth import SmoothProcess
from pacband.core.arrays import Floats
from pacband.scale.crossfit import Folds

__all__ = [
    "FoldFit",
    "Rounds",
    "fit_folds",
    "fit_together",
    "is_boosting",
    "n_parallel",
    "one_openmp_thread",
    "rows_to_tune",
    "shorten_process",
]

_CONTROLLER = ThreadpoolController()
# A table with fewer cells is boosted in one thread: two take up to 1.8 times as long there, and less from here on.
_MANY_CELLS = 300_000


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The predictions of a fold by a model that was fitted to other rows; and that model, if it is boosting.

    Only the fits of boosting are used again, as parts of an average. Others, such as forests, would fill the memory.
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
        for path, part in [("", model), *model.get_params().items()]:
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
    process = _last_step(model)
    if not isinstance(process, SmoothProcess):
        return None
    short, times = process.shorten(n_rows)
    return make_pipeline(*model[:-1], short) if isinstance(model, Pipeline) else short, times


def rows_to_tune(model: Any, n_rows: int) -> int:
    """Return from how many of the rows a smooth process learns its lengths; 0 for other models."""
    process = _last_step(model)
    return min(process.n_tune, n_rows) if isinstance(process, SmoothProcess) else 0


def n_parallel(model: Any, X: Floats, n_jobs: int | None) -> int:
    """Return how many fits of a model to such a table run at the same time."""
    return int(effective_n_jobs(n_jobs)) if _runs_in_threads(model, X) else 1


def fit_together(models: Sequence[Any], X: Floats, targets: Sequence[Floats], *, n_jobs: int | None) -> list[Any]:
    """Return a clone of each model, fitted to its own target."""
    tasks = [_Task(model, X, target) for model, target in zip(models, targets, strict=True)]
    return [fitted for fitted, _ in _run(tasks, n_jobs)]


def fit_folds(model: Any, X: Floats, y: Floats, folds: Folds, *, n_jobs: int | None) -> list[FoldFit]:
    """Fit a clone of the model to the training rows of each fold, and predict the test rows of that fold.

    Unlike `pacband.scale.crossfit.cross_predict`, this takes some of the folds, runs them in threads and returns the
    fits.
    """
    kept = is_boosting(model)
    tasks = [_Task(model, X[train], y[train], X[test]) for train, test in folds]
    return [FoldFit(predictions, fitted if kept else None) for fitted, predictions in _run(tasks, n_jobs)]


@dataclass(frozen=True, eq=False)
class _Task:
    """A model, the rows to fit it to, and rows to predict."""

    model: Any
    X: Floats
    y: Floats
    unseen: Floats | None = None

    def prepare(self) -> Callable[[], tuple[Any, Any]]:
        """Fit all steps of a pipeline but the last, and return what fits the last one."""
        model, rows, unseen = clone(self.model), self.X, self.unseen
        if isinstance(model, Pipeline):
            rows = model[:-1].fit_transform(rows, self.y)
            unseen = None if unseen is None else model[:-1].transform(unseen)
        return lambda: (model, _fit(_last_step(model), rows, self.y, unseen))


def _run(tasks: Sequence[_Task], n_jobs: int | None) -> list[tuple[Any, Any]]:
    """Run every task: smooth processes and boosting on large tables in parallel threads, the others one by one.

    Forests and neighbours have threads of their own. Boosting has OpenMP threads, which wait for each other in a busy
    loop: on a machine with other work it is many times faster to give each fit a single one. The same is true of the
    threads of linear algebra, whose number belongs to the process. The parallel parts of scikit-learn change the
    warning filters of the process while they run. A model with such parts (forests, column transformers, boosting with
    categories) must therefore not run in parallel threads: the first steps of a pipeline are fitted before.
    """
    found: list[Any] = [None] * len(tasks)
    parallel = [k for k, task in enumerate(tasks) if _runs_in_threads(task.model, task.X)]
    with _CONTROLLER.limit(limits=1, user_api="blas"), ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        prepared = [tasks[k].prepare() for k in parallel]
        for k, result in zip(parallel, pool.map(lambda finish: finish(), prepared), strict=True):
            found[k] = result
        for k in set(range(len(tasks))) - set(parallel):
            found[k] = tasks[k].prepare()()
    return found


def _runs_in_threads(model: Any, X: Floats) -> bool:
    """Whether fits of a model to such a table are quicker side by side: on small ones, Python itself takes the time."""
    final = _last_step(model)
    if isinstance(final, SmoothProcess):
        return True
    return is_boosting(final) and X.size >= _MANY_CELLS and _regressor(final).categorical_features is None


def _regressor(model: Any) -> Any:
    return getattr(model, "regressor", model)


def _last_step(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _fit(model: Any, X: Floats, y: Floats, unseen: Floats | None) -> Floats | None:
    """Fit the model, and return its predictions of unseen rows."""
    # The limit belongs to the thread that sets it, so every task sets its own.
    with one_openmp_thread():
        model.fit(X, y)
        if hasattr(model, "estimators_") and hasattr(model, "n_jobs"):
            # Threads would add up the trees in any order, and the last digit would depend on it.
            model.set_params(n_jobs=None)
        return None if unseen is None else np.asarray(model.predict(unseen), dtype=np.float64)
