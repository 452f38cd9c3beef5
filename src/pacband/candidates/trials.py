"""Out-of-fold predictions of many models, in a limited time: what takes too long or fails is dropped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from pacband.candidates.fitting import FoldFit, Rounds, fit_folds, n_parallel, shorten_process
from pacband.candidates.ledger import Ledger, is_late, late
from pacband.candidates.pace import Pace
from pacband.candidates.workers import Workers
from pacband.core.arrays import Floats
from pacband.scale.crossfit import Folds

__all__ = ["FIT_ERRORS", "OutOfFold", "Task", "cross_fit_all", "estimate_seconds"]

# A trial fit takes one row of a fold in up to this many, but at least about this many rows.
_TRIAL_STEP, _TRIAL_ROWS = 8, 1000
# A trial of a model with rounds, such as trees, fits so few of them, and then this share of all, at least some, and
# not many.
_FEW_ROUNDS, _SHARE_OF_ROUNDS, _LEAST_MORE, _MOST_MORE = 2, 0.05, 8, 25
# What a fit raises if a model does not suit the rows: it is dropped.
FIT_ERRORS = (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
# With less than this share of the budget left, a trial would only delay what comes after.
_LEAST_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Task:
    """A model to cross-fit, the target to fit it to, and its name in the record of what was dropped."""

    label: str
    model: Any
    target: Floats


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The result of cross-fitting one model.

    Attributes
    ----------
    task : Task
        The model and its target.
    predictions : ndarray of shape (n,) or (n, outputs)
        The prediction of every row by a fit to the other folds.
    fits : tuple
        The fits of the folds if the model is boosting, else empty.
    seconds : float
        How long it took, with the trial.
    """

    task: Task
    predictions: Floats
    fits: tuple[Any, ...]
    seconds: float

    @cached_property
    def squared_error(self) -> float:
        """The mean squared error of the predictions, if they are of the target."""
        return float(np.mean((self.predictions - self.task.target) ** 2))


def cross_fit_all(
    tasks: Mapping[str, Task],
    table: Floats,
    folds: Folds,
    ledger: Ledger,
    *,
    kept_share: float,
    workers: Workers,
    coarser: Mapping[str, str] = MappingProxyType({}),
    needs_one: bool = False,
) -> dict[str, OutOfFold]:
    """Cross-fit every model, and return those that were not dropped. Records the drops, and every step, in `ledger`.

    Parameters
    ----------
    tasks : mapping of str to Task
        The models, in the order in which they are tried: the most useful a second first. `coarser` brings some forward.
    table : ndarray of shape (n, columns)
        The features of all models.
    folds : sequence of (train, test)
        Every row is in one test fold.
    ledger : Ledger
        The time that is left.
    kept_share : float
        A model is dropped if, by the time of a short trial, it would leave less than this share of the budget, and the
        time of the last fits.
    workers : Workers
        What fits them.
    coarser : mapping of str to str, optional
        The coarser model of its kind, for every finer one. If the coarser one is the best so far, the first finer one
        that waits is tried next.
    needs_one : bool
        Ignore the budget until one model has succeeded.

    Without a budget nothing is dropped for its time, and there are no trials. After an interrupt (Ctrl-C), nothing more
    is fitted, and what was found is returned.
    """
    found: dict[str, OutOfFold] = {}
    pace = Pace(len(folds[0][0]))
    waiting = list(tasks)
    while waiting:
        name = _next(waiting, found, coarser)
        waiting.remove(name)
        task = tasks[name]
        start = perf_counter()
        share = None if (needs_one and not found) or not ledger.limited else kept_share
        outcome: OutOfFold | str = "the search was interrupted"
        try:
            if not ledger.interrupted:
                outcome = _cross_fit(task, table, folds, ledger, share, pace.least_seconds(task.model), workers)
                if isinstance(outcome, OutOfFold):
                    pace.record(task.model, outcome.seconds)
                elif is_late(outcome):
                    pace.record(task.model, math.inf)
        except KeyboardInterrupt as error:
            # A subclass, such as that of a signal to terminate, ends the search without a result.
            if type(error) is not KeyboardInterrupt or (needs_one and not found):
                raise
            ledger.interrupt()
        except FIT_ERRORS as error:
            outcome = next(iter(str(error).splitlines()), type(error).__name__)
        if isinstance(outcome, OutOfFold):
            found[name] = outcome
        else:
            ledger.drop(task.label, perf_counter() - start, outcome)
        ledger.finish_step()
    return {name: found[name] for name in tasks if name in found}


def _next(waiting: Sequence[str], found: Mapping[str, OutOfFold], coarser: Mapping[str, str]) -> str:
    """Return the first model that waits, or the first that is finer than the best so far."""
    finer = [name for name in waiting if coarser.get(name) in found]
    if finer:
        best = min(found, key=lambda name: found[name].squared_error)
        finer = [name for name in finer if coarser[name] == best]
    return (finer or waiting)[0]


def estimate_seconds(task: Task, table: Floats, folds: Folds, *, workers: Workers) -> float:
    """Return how many seconds the fits of the folds, and one on all rows, will take, by a short trial."""
    _, seconds = _try(task, table, folds, workers)
    at_once = n_parallel(task.model, table[folds[0][0]], workers)
    return seconds * (_n_batches(folds, at_once) + 1)


def _cross_fit(
    task: Task,
    table: Floats,
    folds: Folds,
    ledger: Ledger,
    kept_share: float | None,
    least: float,
    workers: Workers,
) -> OutOfFold | str:
    """Return the out-of-fold predictions, or why there are none. They take at least about `least` seconds."""
    start = perf_counter()
    if kept_share is None:
        fits = fit_folds(task.model, table, task.target, folds, workers=workers)
    else:
        if ledger.seconds_before(kept_share + _LEAST_SHARE) <= least:
            return late("no time to try it")
        found = _fit_in_time(task, table, folds, ledger, kept_share, workers)
        if isinstance(found, str):
            return found
        fits = found
    predictions = _join(fits, folds)
    if not np.isfinite(predictions).all():
        return "it predicts NaN or infinite values"
    kept = tuple(fit.model for fit in fits if fit.model is not None)
    return OutOfFold(task, predictions, kept, perf_counter() - start)


def _fit_in_time(
    task: Task, table: Floats, folds: Folds, ledger: Ledger, kept_share: float, workers: Workers
) -> list[FoldFit] | str:
    """Return the fits of the folds, or why the time is not enough.

    A trial estimates the time of all folds, and the folds that are done correct the estimate. The last fit, on all
    rows, will take about as long as one fold.
    """
    start = perf_counter()
    fits, seconds = _try(task, table, folds, workers)
    at_once = n_parallel(task.model, table[folds[0][0]], workers)
    estimate = seconds * _n_batches(folds, at_once)
    start = start if fits else perf_counter()
    while len(fits) < len(folds):
        left = estimate * (1.0 - len(fits) / len(folds))
        if left > ledger.seconds_before(kept_share, more_last=estimate / (len(folds) - 1)):
            return late(f"too little time: about {estimate:.2g} s are needed")
        # Perhaps more workers are ready than at the beginning.
        at_once = n_parallel(task.model, table[folds[0][0]], workers)
        fits = fits + fit_folds(task.model, table, task.target, folds[len(fits) : len(fits) + at_once], workers=workers)
        estimate = (perf_counter() - start) * len(folds) / len(fits)
    ledger.reserve(estimate / (len(folds) - 1))
    return fits


def _n_batches(folds: Folds, at_once: int) -> int:
    """Return how many times so many folds are fitted at once, until all are."""
    return math.ceil(len(folds) / at_once)


def _try(task: Task, table: Floats, folds: Folds, workers: Workers) -> tuple[list[FoldFit], float]:
    """Return the fits that a trial has made, perhaps none, and the seconds that a fold is estimated to take.

    If the model has rounds, two fits with few of them show the time of one. A process is fitted to few rows in few
    steps. Any other model is fitted to one row in several; with few rows, to the whole first fold, and that fit is
    kept.
    """

    def fit_first(model: Any, step: int) -> tuple[list[FoldFit], float]:
        start = perf_counter()
        train, test = folds[0]
        fits = fit_folds(model, table, task.target, [(train[::step], test[::step])], workers=workers)
        return fits, perf_counter() - start

    process, rounds = shorten_process(task.model, len(folds[0][0])), Rounds.of(task.model)
    if process is not None:
        short, times = process
        return [], times * fit_first(short, 1)[1]
    more = 0 if rounds is None else min(max(int(_SHARE_OF_ROUNDS * rounds.count), _LEAST_MORE), _MOST_MORE)
    if rounds is None or rounds.count <= _FEW_ROUNDS + more:
        step = min(max(len(table) // _TRIAL_ROWS, 1), _TRIAL_STEP)
        fits, seconds = fit_first(task.model, step)
        return (fits, seconds) if step == 1 else ([], seconds * step)
    fixed = fit_first(rounds.limit(task.model, _FEW_ROUNDS), 1)[1]
    longer = fit_first(rounds.limit(task.model, _FEW_ROUNDS + more), 1)[1]
    each = max(longer - fixed, 0.0) / more
    return [], fixed + each * (rounds.count - _FEW_ROUNDS)


def _join(fits: list[FoldFit], folds: Folds) -> Floats:
    """Return the predictions of the folds as one array, in the order of the rows."""
    n_rows = sum(len(test) for _, test in folds)
    joined = np.zeros((n_rows, *fits[0].predictions.shape[1:]))
    for fit, (_, test) in zip(fits, folds, strict=True):
        joined[test] = fit.predictions
    return joined
