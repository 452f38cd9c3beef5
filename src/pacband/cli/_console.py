"""How commands talk: results to stdout, messages and progress to stderr, one line for what went wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

__all__ = ["ending", "fail", "note", "print_json", "progress_bar", "say", "speak_plainly", "tell"]

# What a terminal that knows ASCII only gets instead.
PLAIN = {
    "γ̄": "gamma", "σ̂": "sigma", "ε": "eps", "δ": "delta", "−": "-", "≤": "<=", "≥": ">=", "·": "*", "×": "x",
    "⁻": "-", "⁺": "+", "ᵀ": "'", "¹": "1", "Σ": "Sigma", "ₖ": "_k", "’": "'", "–": "-", "…": "...", "→": "->",
}  # fmt: skip

EXTRAS = {"dask": "dask", "distributed": "dask", "polars": "polars", "pyspark": "spark"}


def speak_plainly() -> None:
    """Let no character stop a message: what the terminal cannot show is said in ASCII."""
    import codecs

    codecs.register_error("pacband", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="pacband")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    for symbol, word in PLAIN.items():
        text = text.replace(symbol, word)
    return text.encode("ascii", "ignore").decode(), error.end


def say(text: str) -> None:
    """Print a result to stdout."""
    # Not by click, which takes a terminal that knows ASCII only for one that knows more.
    print(text, flush=True)


def tell(value: Any) -> None:
    """Print a plan or a certificate: framed on a terminal, in plain words into a pipe."""
    if not sys.stdout.isatty():
        say(str(value))
        return
    from pacband.reporting.terminal import show

    show(value)


def print_json(value: Any) -> None:
    """Print a result for machines to stdout, as one JSON document."""
    say(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Print a message to stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """End with exit code 2 and one clear message."""
    raise click.ClickException(text)


@contextmanager
def ending(*known: type[Exception]) -> Iterator[None]:
    """Turn what stops a command into one message and the right exit code; bugs keep their traceback."""
    try:
        yield
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        _stop(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        note("pacband: interrupted; nothing was written.")
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone, as `head` does: there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "pacband":
            raise
        package = (error.name or "").split(".")[0]
        extra = {"distributed": "dask", "pyspark": "spark"}.get(
            package, package if package in ("dask", "polars") else "cli"
        )
        _stop(f"this needs the package {package!r}: pip install 'pacband[{extra}]'")
    except OSError as error:
        _stop(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except known as error:
        _stop(str(error))


def _stop(message: str) -> NoReturn:
    note(f"pacband: {message}")
    sys.exit(2)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that draws a bar on a terminal, and does nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
