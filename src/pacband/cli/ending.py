"""How a command ends: one line on stderr, the right exit code, and nothing left behind.

======  ==============================================================================================
code    meaning
======  ==============================================================================================
0       done; also when the reader of the output went away, as `head` does
1       a promise does not hold, or something was found that would break it
2       bad input: the message states the rule and the value
70      an error that nobody foresaw; ``PACBAND_DEBUG=1`` shows where it comes from
129     ended by SIGHUP, such as a closed terminal
130     ended by Ctrl-C
143     ended by SIGTERM
======  ==============================================================================================
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from pacband.cli.console import note

__all__ = ["ending"]

UNFORESEEN = 70
# `timeout` and closing terminals send a signal twice. The second one must not stop what the first one cleans up.
PAUSE = 5.0


@contextmanager
def ending(*known: type[Exception]) -> Iterator[None]:
    """Turn what stops a command into one message and the right exit code."""
    with _stop_signals() as received:
        try:
            yield
        except SystemExit as error:
            # A verdict that was printed stays one.
            if received.number is None or error.code in (None, 0, 1):
                raise
            raise SystemExit(128 + received.number) from None
        except BaseException as error:
            code, message = _outcome(error, known, received)
            if code == UNFORESEEN and os.environ.get("PACBAND_DEBUG", "") not in ("", "0"):
                from traceback import format_exc

                message = format_exc().rstrip()
            # After a closed terminal nobody reads the message.
            with suppress(OSError, ValueError):
                if message:
                    note(message)
            _close_output()
            raise SystemExit(code) from None


@dataclass
class _Received:
    """The signal that asked this process to end, if any did."""

    number: int | None = None
    at: float = 0.0

    def stop(self, number: int, frame: Any) -> None:
        """Unwind as after Ctrl-C, so that all that cleans up after Ctrl-C cleans up now."""
        now = time.monotonic()
        if self.number is None or now > self.at + PAUSE:
            self.number, self.at = number, now
            raise KeyboardInterrupt


@contextmanager
def _stop_signals() -> Iterator[_Received]:
    """Catch SIGTERM and SIGHUP while a command runs.

    A handler written in Python runs between two steps of the interpreter. DuckDB looks for one every few milliseconds
    of a query, whichever signal it is, and stops with a RuntimeError if the handler raises: so the signal is kept
    here, and the exit code does not depend on what the exception became on its way.
    """
    received = _Received()
    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What is ignored, as by `nohup`, stays ignored. Handlers can be set in the main thread only.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):
                before[number] = signal.signal(number, received.stop)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _outcome(error: BaseException, known: tuple[type[Exception], ...], received: _Received) -> tuple[int, str]:
    """Return the exit code and the message of what stopped a command."""
    if received.number is not None:
        name = signal.Signals(received.number).name
        return 128 + received.number, f"pacband: ended by {name}; no file is half written."
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code, ""
    if isinstance(error, click.UsageError):
        return 2, _usage(error)
    if isinstance(error, click.ClickException):
        return 2, f"pacband: {error.format_message()}"
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return 130, "pacband: interrupted; nothing was written."
    if isinstance(error, BrokenPipeError):
        return 0, ""
    if isinstance(error, ModuleNotFoundError) and (package := (error.name or "pacband").split(".")[0]) != "pacband":
        return 2, f"pacband: this needs the package {package!r}: pip install 'pacband[{_extra(package)}]'"
    if isinstance(error, OSError):
        return 2, f"pacband: {error.filename}: {error.strerror}" if error.filename else f"pacband: {error}"
    if isinstance(error, known):
        return 2, f"pacband: {error}"
    words = " ".join(str(error).split())
    return UNFORESEEN, (
        f"pacband: an error that nobody foresaw, {type(error).__name__}{': ' if words else ''}{words[:500]} "
        "(no file is half written; PACBAND_DEBUG=1 shows where it comes from)"
    )


def _usage(error: click.UsageError) -> str:
    from io import StringIO

    text = StringIO()
    error.show(text)
    return text.getvalue().rstrip()


def _extra(package: str) -> str:
    """Return the extra that brings a package."""
    extras = {"distributed": "dask", "dask": "dask", "pyspark": "spark", "py4j": "spark", "polars": "polars"}
    return extras.get(package, "cli")


def _close_output() -> None:
    """Flush standard output now. Where that fails, drop what is left: Python would fail at it again at its exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
