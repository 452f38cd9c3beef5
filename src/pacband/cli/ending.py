"""How a command ends: a message on stderr, the right exit code, and no temporary files left.

With ``--json``, an error is one line of JSON: ``{"error": {"kind": …, "message": …, "exit_code": 2}}``.

======  ==============================================================================================
code    meaning
======  ==============================================================================================
0       done; also if the reader of the bands closes the pipe, as `head` does
1       a promise does not hold, or the data break an assumption of the promise
2       bad input: the message states the rule and the value
70      an unexpected error; ``PACBAND_DEBUG=1`` prints the traceback
129     ended by SIGHUP, for example because the terminal was closed
130     ended by Ctrl-C
143     ended by SIGTERM
======  ==============================================================================================
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from pacband.cli.console import print_message
from pacband.cli.shell_words import in_shell_words
from pacband.core.extras import missing_extra

__all__ = ["ReaderLeft", "handle_exit"]

UNEXPECTED = 70
# `timeout` and closing terminals send a signal twice. The second signal must not interrupt the cleaning up.
PAUSE = 5.0


class ReaderLeft(Exception):
    """The reader of standard output has closed the pipe."""


@contextmanager
def handle_exit(*known: type[Exception]) -> Iterator[None]:
    """Convert whatever ends a command to one message on stderr and an exit code. Errors of `known` types end with 2."""
    with _stop_signals() as received:
        try:
            yield
        except SystemExit as error:
            # The command has printed its verdict: the signal came too late to change it.
            if received.number is None or error.code in (None, 0, 1):
                raise
            raise SystemExit(128 + received.number) from None
        except BaseException as error:
            code, message = _outcome(error, known, received)
            if code == UNEXPECTED and os.environ.get("PACBAND_DEBUG", "") not in ("", "0"):
                from traceback import format_exc

                message = format_exc().rstrip()
            if message and "--json" in sys.argv[1:]:
                message = _as_json(error, code, message)
            # Nobody reads the message if the terminal was closed.
            with suppress(OSError, ValueError):
                if message:
                    print_message(message)
            _close_output()
            raise SystemExit(code) from None


class _Terminated(KeyboardInterrupt):
    """Another signal than that of Ctrl-C, which ends a command without a result."""


@dataclass
class _Received:
    """The signal that asked this process to end, if there was one."""

    number: int | None = None
    at: float = 0.0

    def stop(self, number: int, frame: Any) -> None:
        """Raise a KeyboardInterrupt, so that everything that cleans up after Ctrl-C cleans up now."""
        now = time.monotonic()
        if self.number is None or now > self.at + PAUSE:
            self.number, self.at = number, now
            raise _Terminated


@contextmanager
def _stop_signals() -> Iterator[_Received]:
    """Catch SIGTERM and SIGHUP while a command runs.

    A handler written in Python runs between two steps of the interpreter. During a query, DuckDB runs it every few
    milliseconds, and raises a RuntimeError if the handler raises. So the signal is stored here, and the exit code does
    not depend on what the exception was converted to.
    """
    received = _Received()
    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that is ignored, as by `nohup`, stays ignored. Only the main thread can set handlers.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):
                before[number] = signal.signal(number, received.stop)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _outcome(error: BaseException, known: tuple[type[Exception], ...], received: _Received) -> tuple[int, str]:
    """Return the exit code and the message for what ended a command."""
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
        return 130, "pacband: interrupted; no file is half written."
    if isinstance(error, ReaderLeft | BrokenPipeError):
        return 0, ""
    if isinstance(error, OSError):
        return 2, f"pacband: {error.filename}: {error.strerror}" if error.filename else f"pacband: {error}"
    if isinstance(error, known):
        return 2, f"pacband: {in_shell_words(str(error))}"
    if isinstance(error, ModuleNotFoundError) and (error.name or "pacband").split(".")[0] != "pacband":
        return 2, f"pacband: {missing_extra(error.name or '')}"
    words = " ".join(str(error).split())
    return UNEXPECTED, (
        f"pacband: unexpected error, {type(error).__name__}{': ' if words else ''}{words[:500]} "
        "(no file is half written; PACBAND_DEBUG=1 prints the traceback)"
    )


def _as_json(error: BaseException, code: int, message: str) -> str:
    """Return a message as one line of JSON, for programs that asked for JSON."""
    if isinstance(error, click.ClickException):
        message = error.format_message()
    words = message.removeprefix("pacband: ")
    return json.dumps({"error": {"kind": type(error).__name__, "message": words, "exit_code": code}})


def _usage(error: click.UsageError) -> str:
    from io import StringIO

    text = StringIO()
    error.show(text)
    return text.getvalue().rstrip()


def _close_output() -> None:
    """Flush standard output now. If that fails, discard the rest: Python would fail at it again when it exits."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
