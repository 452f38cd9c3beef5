"""Run local models: prepare them at fit, and compute T and σ̂ at points in batches, in one thread or several."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice

import numpy as np
from joblib import effective_n_jobs

from pacband.core.arrays import Floats
from pacband.core.blas_threads import blas_threads, one_blas_thread
from pacband.core.progress import Progress
from pacband.local.memory import budget
from pacband.local.model import Model
from pacband.local.shared import grouped
from pacband.local.solvers import SOLVERS
from pacband.local.solvers.solver import Batch, Piece

__all__ = ["evaluate", "prepare"]


def prepare(models: Sequence[Model]) -> None:
    """Prepare, after a fit, what the predictions of these models need. Prepares what they share once."""
    for group in grouped(models, key=lambda model: model.solver):
        SOLVERS[group[0].solver].prepare(group)


def evaluate(
    models: Sequence[Model], X: Floats, *, n_jobs: int | None = None, progress: Progress | None = None
) -> list[tuple[Floats, Floats]]:
    """Return T(x) and σ̂(x) of every model at every row of X. Models share the work that they have in common.

    σ̂ is at least the rounding error of the data, ε_machine·max|y|, and the smallest normal number.

    Parameters
    ----------
    models : sequence of Model
    X : ndarray of shape (n, n_features)
    n_jobs : int or None
        Threads, as in joblib.
    progress : callable, optional
        Called with (done, total) point-model pairs after every batch.
    """
    distinct = list({id(model): model for model in models}.values())
    prepare(distinct)  # does nothing, unless the models were just loaded or copied
    found = {id(model): np.empty((2, len(X))) for model in distinct}
    done, total = 0, len(distinct) * len(X)
    for group in grouped(distinct, key=lambda model: model.solver):
        solver = SOLVERS[group[0].solver]
        threads = n_jobs if solver.parallel else 1
        room = budget() // effective_n_jobs(-1 if threads is None else threads)
        for pieces in _run(solver.batches(group, X, room), threads):
            for model, rows, prediction, variance in pieces:
                found[id(model)][:, rows] = prediction, variance
                done += len(prediction)
            if progress is not None:
                progress(done, total)
    return [_in_units_of_y(model, *found[id(model)]) for model in models]


def _in_units_of_y(model: Model, prediction: Floats, variance: Floats) -> tuple[Floats, Floats]:
    return prediction * model.unit + model.offset, np.maximum(np.sqrt(variance) * model.unit, model.floor)


def _run(batches: Iterator[Batch], n_jobs: int | None) -> Iterator[list[Piece]]:
    """Yield the results of the batches in order, computed side by side, with no threads inside them."""
    first = list(islice(batches, 2))
    workers = _workers(n_jobs) if len(first) == 2 else 1
    batches = chain(first, batches)
    if workers == 1:
        for batch in batches:
            yield batch.solve()
        return
    # A few batches at a time: each holds a copy of its points.
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[list[Piece]]] = deque(pool.submit(batch.solve) for batch in islice(batches, 2 * workers))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(batch.solve) for batch in islice(batches, 1))


def _workers(n_jobs: int | None) -> int:
    """Return the number of threads: by default as many as the linear algebra library uses inside one product.

    Its threads speed up large products, but not batches of small factorizations. So the same cores work on whole
    batches instead.
    """
    return blas_threads() if n_jobs is None else int(effective_n_jobs(n_jobs))
