"""The threads of linear algebra, whose number belongs to the whole process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

__all__ = ["blas_threads", "one_blas_thread"]


class _Limit:
    """One limit for all callers: the first sets it, and the last removes it.

    With a limit for each, of two callers in different threads the one that ends last would restore what it found: one
    thread, for the rest of the process.
    """

    def __init__(self) -> None:
        self._original = 1
        self._limits: Any = None
        self.forget()

    def forget(self) -> None:
        """Start without callers: in a fork they are not there, and what they hold is never released."""
        self._lock = threading.Lock()
        self._callers = 0

    def enter(self) -> None:
        with self._lock:
            if not self._callers:
                self._original = _current()
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._callers += 1

    def leave(self) -> None:
        with self._lock:
            self._callers = max(0, self._callers - 1)  # a fork has forgotten the caller that it came from
            if not self._callers:
                self._limits.restore_original_limits()

    def original(self) -> int:
        with self._lock:
            return self._original if self._callers else _current()


_LIMIT = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMIT.forget)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let products and factorizations use one thread each, in the whole process, as long as any caller is within."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


def blas_threads() -> int:
    """Return how many threads linear algebra uses inside one product, while no caller limits them."""
    return _LIMIT.original()


def _current() -> int:
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
