"""Fit many models at once, on all rows or fold by fold, with results that do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from pacband.core.arrays import Floats
from pacband.scale.crossfit import Folds

__all__ = ["FoldFit", "fit_folds", "fit_together", "is_boosting", "n_parallel", "one_openmp_thread"]

_CONTROLLER = ThreadpoolController()


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
    return isinstance(getattr(model, "regressor", model), HistGradientBoostingRegressor)


def n_parallel(model: Any, n_jobs: int | None) -> int:
    """Return how many fits of a model run at the same time."""
    return int(effective_n_jobs(n_jobs)) if _runs_in_threads(model) else 1


def fit_together(models: Sequence[Any], X: Floats, targets: Sequence[Floats], *, n_jobs: int | None) -> list[Any]:
    """Return a clone of each model, fitted to its own target."""
    return _run(_fit, [(model, X, target) for model, target in zip(models, targets, strict=True)], n_jobs)


def fit_folds(model: Any, X: Floats, y: Floats, folds: Folds, *, n_jobs: int | None) -> list[FoldFit]:
    """Fit a clone of the model to the training rows of each fold, and predict the test rows of that fold.

    Unlike `pacband.scale.crossfit.cross_predict`, this takes some of the folds, runs them in threads and returns the
    fits.
    """
    return _run(_fit_fold, [(model, X[train], y[train], X[test]) for train, test in folds], n_jobs)


def _run(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None) -> list[Any]:
    """Run every task, whose first entry is a model: boosting in parallel threads, the others one after another.

    Forests and neighbours have threads of their own. Boosting has OpenMP threads, which wait for each other in a busy
    loop: on a machine with other work it is many times faster to give each fit a single one. The parallel parts of
    scikit-learn change the warning filters of the process while they run. A model with such parts (forests, column
    transformers, boosting with categories) must therefore not run in parallel threads.
    """
    found: list[Any] = [None] * len(tasks)
    parallel = [k for k, task in enumerate(tasks) if _runs_in_threads(task[0])]
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        for k, result in zip(parallel, pool.map(lambda k: function(*tasks[k]), parallel), strict=True):
            found[k] = result
    for k in set(range(len(tasks))) - set(parallel):
        found[k] = function(*tasks[k])
    return found


def _runs_in_threads(model: Any) -> bool:
    return is_boosting(model) and getattr(model, "regressor", model).categorical_features is None


def _fit(model: Any, X: Floats, y: Floats) -> Any:
    # The limit belongs to the thread that sets it, so every task sets its own.
    with one_openmp_thread():
        fitted = clone(model).fit(X, y)
    final = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if hasattr(final, "estimators_") and hasattr(final, "n_jobs"):
        # Threads would add up the trees in any order, and the last digit would depend on it.
        final.set_params(n_jobs=None)
    return fitted


def _fit_fold(model: Any, X: Floats, y: Floats, unseen: Floats) -> FoldFit:
    fitted = _fit(model, X, y)
    with one_openmp_thread():
        predictions = np.asarray(fitted.predict(unseen), dtype=np.float64)
    return FoldFit(predictions, fitted if is_boosting(model) else None)
