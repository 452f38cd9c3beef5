"""Warnings, and log messages of libraries, in one line on stderr each, without the place in the source code."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pacband.cli.console import print_message
from pacband.cli.shell_words import in_shell_words

__all__ = ["plain_warnings"]


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print every warning once, and every log message, in one line each while a command runs."""
    shown: set[object] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        # Several steps of a command may check the same option, and several batches of a file have the same column.
        column = getattr(message, "column", None)
        warned = str(message) if column is None else (type(message), column)
        if warned not in shown:
            shown.add(warned)
            print_message(f"Warning: {in_shell_words(str(message))}")

    class Log(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print_message(f"{record.levelname.capitalize()}: {record.getMessage()}")

    # Log messages that no other handler takes, such as matplotlib's about its settings.
    before, logging.lastResort = logging.lastResort, Log(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
            yield
    finally:
        logging.lastResort = before
