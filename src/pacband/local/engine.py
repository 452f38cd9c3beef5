"""Run local models over points: jobs from the solvers, in one thread or several, into T and σ̂."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_info, threadpool_limits

from pacband.core.arrays import Floats
from pacband.local.solvers import dense, line, lowrank, neighbors
from pacband.local.solvers.jobs import Job, Members, Model, Piece, budget, grouped

__all__ = ["Progress", "evaluate"]

Progress = Callable[[int, int], None]

_SOLVERS: dict[str, Callable[[Members, Floats, int], Iterator[Job]]] = {
    "dense": dense.jobs,
    "line": line.jobs,
    "lowrank": lowrank.jobs,
    "neighbors": neighbors.jobs,
}


def evaluate(
    models: Sequence[Model], X: Floats, *, n_jobs: int | None = None, progress: Progress | None = None
) -> list[tuple[Floats, Floats]]:
    """T(x) and σ̂(x) of every model at every row of X, sharing what the models share.

    σ̂ is raised to the rounding error of the data, ε_machine·max|y|, or the smallest normal number if that is
    larger: a residual that is smaller cannot be told from zero, and a scale must be positive.

    Parameters
    ----------
    models : sequence of Model
    X : ndarray of shape (n, n_features)
    n_jobs : int or None
        Threads, as in joblib.
    progress : callable, optional
        Called with (done, total) point-model pairs after every batch.
    """
    total = len(models) * len(X)
    predictions, variances = np.empty((2, len(models), len(X)))
    done = 0
    for members in grouped(enumerate(models), key=lambda member: member[1].solver):
        solver = members[0][1].solver
        # One dense system fills all cores, and two do not fit in the memory of one.
        threads = 1 if solver == "dense" else n_jobs
        room = budget() // effective_n_jobs(-1 if threads is None else threads)
        for pieces in _run(_SOLVERS[solver](members, X, room), threads):
            for index, rows, prediction, variance in pieces:
                predictions[index, rows] = prediction
                variances[index, rows] = variance
                done += len(prediction)
            if progress is not None:
                progress(done, total)
    return [
        (prediction * model.unit, np.maximum(np.sqrt(variance) * model.unit, model.floor))
        for model, prediction, variance in zip(models, predictions, variances, strict=True)
    ]


def _run(jobs: Iterator[Job], n_jobs: int | None) -> Iterator[list[Piece]]:
    """The results of the jobs in order; those of small systems side by side, with no threads inside."""
    first = list(islice(jobs, 2))
    workers = _workers(n_jobs) if len(first) == 2 else 1
    jobs = chain(first, jobs)
    if workers == 1:
        for job in jobs:
            yield job()
        return
    # Jobs are drawn a few at a time: a lazy list of them stays lazy.
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[list[Piece]]] = deque(pool.submit(job) for job in islice(jobs, 2 * workers))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(job) for job in islice(jobs, 1))


def _workers(n_jobs: int | None) -> int:
    """By default as many as the linear algebra library would use inside one product.

    Its threads serve large products well and batches of small factorizations not at all, so the same cores are
    given to whole jobs instead.
    """
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
