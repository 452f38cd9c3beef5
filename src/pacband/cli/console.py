"""How commands print: results to stdout; messages and progress to stderr.

Names, labels and texts come from files that others wrote. A terminal obeys control characters in them, so everything
that is printed here passes through `visible`. Rows of tables on standard output are data and are not changed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

__all__ = [
    "fail",
    "legible",
    "print_json",
    "print_message",
    "print_saved",
    "print_result",
    "print_text",
    "progress_bar",
    "setup_console",
    "visible",
]

# Replacements for terminals that show ASCII only.
ASCII = {
    "γ̄": "gamma", "σ̂": "sigma", "ε": "eps", "δ": "delta", "β": "beta", "−": "-", "≤": "<=", "≥": ">=", "·": "*",
    "×": "x", "⁻": "-", "⁺": "+", "ᵀ": "'", "¹": "1", "Σ": "Sigma", "ₜ": "_t", "ₖ": "_k", "∞": "inf", "’": "'",
    "–": "-", "…": "...", "→": "->",
}  # fmt: skip

# An exponent: without its height it would be a part of the number before it.
_EXPONENT = re.compile("⁻?[⁰¹²³⁴-⁹]+")

# Symbols with a combining mark, and the terminals (TERM) that draw the mark as a character of its own.
_MARKED = ("γ̄", "σ̂")
_WITHOUT_MARKS = ("linux", "dumb", "vt100", "vt220", "cons25")

# C0 except the tab and the line feed, delete, C1, and what changes the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def setup_console() -> None:
    """Print in ASCII what a terminal cannot show. Without this, such a character ends the command with an error.

    A stream that the caller has closed (``>&-``) is that of the null device: nothing else may get its number.
    """
    import codecs

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)
    codecs.register_error("pacband", _to_ascii)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="pacband")


def _to_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    for symbol, word in ASCII.items():
        text = text.replace(symbol, word)
    return text.encode("ascii", "ignore").decode(), error.end


def visible(text: str) -> str:
    r"""Return a text with its control characters escaped, as in JSON: ESC is ``\u001b``."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def legible(text: str, stream: Any) -> str:
    """Return a text that this stream may print: control characters escaped, and symbols that its terminal can draw.

    A terminal that lacks combining marks gets "gamma" for "γ̄". With ``PACBAND_ASCII=1`` every
    terminal and every pipe gets ASCII.
    """
    text = visible(text)
    if not _shows_exponents(stream):
        text = _EXPONENT.sub(lambda found: f"^{unicodedata.normalize('NFKC', found[0]).replace('−', '-')}", text)
    for symbol in _spelled_out(stream):
        text = text.replace(symbol, ASCII[symbol])
    return text


def _shows_exponents(stream: Any) -> bool:
    """Whether the stream has all the characters of exponents: some encodings have ² and no ⁷."""
    try:
        "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".encode(getattr(stream, "encoding", None) or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return _spelled_out(stream) is not ASCII


def _spelled_out(stream: Any) -> Iterable[str]:
    """Return the symbols that are printed as words."""
    if os.environ.get("PACBAND_ASCII", "0") not in ("", "0"):
        return ASCII
    return _MARKED if stream.isatty() and os.environ.get("TERM") in _WITHOUT_MARKS else ()


def _print(text: str, stream: Any, colour: str | None) -> None:
    """Print a text; on a terminal, its first line has the colour."""
    if colour is not None and stream.isatty():
        from rich.console import Console
        from rich.text import Text

        first, *rest = legible(text, stream).split("\n")
        # The terminal breaks lines, not rich: a line that is copied stays whole. rich obeys NO_COLOR.
        Console(file=stream).print(Text(first, style=f"bold {colour}"), soft_wrap=True)
        if rest:
            print("\n".join(rest), file=stream, flush=True)
        return
    print(legible(text, stream), file=stream, flush=True)


def print_saved(*files: str | None) -> None:
    """Print which files were written, on stderr; ``-`` is standard output, and no file."""
    names = [file for file in files if file not in (None, "-")]
    if names:
        print_message(f"Saved {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}")


def print_text(text: str, *, colour: str | None = None) -> bool:
    """Print a text to stdout; on a terminal, its first line has the colour. Return whether somebody reads it.

    If the reader has left, as `head` does, the command goes on without output: its exit code is its result.
    """
    # Not with click.echo, which does not use the error handler of `setup_console`.
    try:
        _print(text, sys.stdout, colour)
    except BrokenPipeError:
        # The rest is discarded: Python would fail at it again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    except OSError as error:
        # For example a full disk. The system has no name for the file.
        error.filename = error.filename or "standard output"
        raise
    return True


def print_result(value: Any) -> None:
    """Print a plan or a certificate to stdout: with a frame on a terminal, as plain text to a pipe.

    There is no frame where symbols are spelled out: they would move its right side.
    """
    if not sys.stdout.isatty() or _spelled_out(sys.stdout):
        print_text(str(value))
        return
    from rich.console import Console
    from rich.segment import Segment

    from pacband.reporting.terminal import show

    class VisibleConsole(Console):
        """A console that escapes control characters. Every text passes here before rich adds its own colours."""

        def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*args, **options):
                yield Segment(text if control else visible(text), style, control)

    show(value, console=VisibleConsole())


def print_json(value: Any) -> None:
    """Print a result to stdout as one JSON document."""
    print_text(json.dumps(value, indent=2))


def print_message(text: str, *, colour: str | None = None) -> None:
    """Print a message to stderr; on a terminal, its first line has the colour."""
    _print(text, sys.stderr, colour)


def fail(text: str) -> NoReturn:
    """End the command with this message and exit code 2."""
    raise click.ClickException(text)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that draws a progress bar on a terminal and does nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
