"""Workers: programs beside this one that fit models. Where Python itself takes the time, threads only wait in turn."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar

from joblib import effective_n_jobs

__all__ = ["Workers"]

Argument = TypeVar("Argument")
Result = TypeVar("Result")

# A search fits a model to five folds: this program takes one of them, and more workers would mostly have nothing to do.
_MOST_WORKERS = 4
# A worker that gets nothing to do for so many seconds ends, such as one whose program was killed.
_IDLE_SECONDS = 60.0
# Each has one thread, so that all together use the cores once.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Workers:
    """The threads, and the programs beside this one, that a search may use.

    Parameters
    ----------
    n_jobs : int or None
        How many fits run at the same time, as in joblib.

    A worker needs seconds to import what fits a model. Nothing waits for it: what comes before is fitted here. The
    workers end with the ``with`` block.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.n_threads = int(effective_n_jobs(n_jobs))
        self._n_workers = min(self.n_threads - 1, _MOST_WORKERS)
        self._pool: Any = None
        self._ready: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def start(self) -> None:
        """Start the workers, and do not wait for them. Where the system allows none, this program fits all models."""
        if self._n_workers and self._pool is None:
            try:
                # Unlike the pool of the standard library, it does not run the user's script in every worker.
                from joblib.externals.loky import ProcessPoolExecutor

                self._pool = ProcessPoolExecutor(
                    self._n_workers, timeout=_IDLE_SECONDS, initializer=_begin, env=_ONE_THREAD
                )
                self._ready = self._pool.submit(_begin)
            except (OSError, ImportError, NotImplementedError):
                self._end()

    @property
    def n_programs(self) -> int:
        """How many programs can fit a model now, this one included."""
        ready = self._ready is not None and self._ready.done() and self._ready.exception() is None
        return 1 + self._n_workers if ready else 1

    def run(self, function: Callable[[Argument], Result], tasks: Sequence[Argument]) -> list[Result]:
        """Return what the function makes of each task. Each program takes the next one when it is done with another.

        What a worker has not finished when it is killed, by a system without memory for instance, is done here. An
        interrupt (Ctrl-C) ends the workers.
        """
        found: dict[int, Result] = {}
        waiting, pool, lost = iter(range(len(tasks))), self._pool, list[int]()

        def run_here() -> None:
            for k in waiting:
                found[k] = function(tasks[k])

        def run_beside() -> None:
            for k in waiting:
                try:
                    found[k] = pool.submit(function, tasks[k]).result()
                except BrokenExecutor:
                    lost.append(k)

        with ThreadPoolExecutor(_MOST_WORKERS) as lanes:
            beside = [lanes.submit(run_beside) for _ in range(min(self.n_programs, len(tasks)) - 1)]
            try:
                run_here()
                for lane in beside:
                    lane.result()
            except KeyboardInterrupt:
                self._end()
                raise
            finally:
                # After an error, nothing more begins.
                list(waiting)
        if lost:
            self._end()
            found |= {k: function(tasks[k]) for k in lost}
        return [found[k] for k in range(len(tasks))]

    def _end(self) -> None:
        pool, self._pool, self._ready = self._pool, None, None
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)


def _begin() -> None:
    """Prepare a worker: an interrupt is for the program that started it, and importing is what takes the time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import sklearn.ensemble  # noqa: F401
