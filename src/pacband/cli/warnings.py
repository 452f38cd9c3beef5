"""Warnings, and what libraries log, as a command says them: one line on stderr, without the place in the source."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pacband.cli.console import note

__all__ = ["plain_warnings"]


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say every warning in one line."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        note(f"Warning: {message}")

    class Log(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            note(f"{record.levelname.capitalize()}: {record.getMessage()}")

    # What no other handler takes, such as what matplotlib says of its settings.
    before, logging.lastResort = logging.lastResort, Log(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
            yield
    finally:
        logging.lastResort = before
