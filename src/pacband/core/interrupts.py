"""Interrupts (Ctrl-C) that compiled code loses."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["keep_interrupts"]


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise at the end of the block what a signal has raised in it, unless the block lets it through itself.

    Python raises a KeyboardInterrupt wherever it is, and compiled code often clears all exceptions where it expects
    one: numpy does so while it reads the type of a buffer, as boosting makes it do for every tree. Such an interrupt is
    lost, or becomes another error.
    """
    raised: list[BaseException] = []
    before: dict[int, Any] = {}

    def handle(number: int, frame: Any) -> None:
        try:
            before[number](number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    # Only the main thread can set handlers, and only it runs them.
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before |= {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    try:
        for number in before:
            signal.signal(number, handle)
        yield
    except Exception:  # what compiled code makes of an interrupt may be any error
        if not raised:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if raised:
        raise raised[-1]
