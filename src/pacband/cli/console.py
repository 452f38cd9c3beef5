"""How commands print: results to stdout, messages, warnings and progress to stderr.

Names, labels and texts come from files that others wrote. A terminal obeys control characters in them, so none is
printed: `visible` is applied to all that is printed here. Rows of tables on standard output are data, and stay as
they are.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

__all__ = ["fail", "note", "print_json", "progress_bar", "say", "speak_plainly", "tell", "visible"]

# What a terminal that knows ASCII only gets instead.
PLAIN = {
    "γ̄": "gamma", "σ̂": "sigma", "ε": "eps", "δ": "delta", "−": "-", "≤": "<=", "≥": ">=", "·": "*", "×": "x",
    "⁻": "-", "⁺": "+", "ᵀ": "'", "¹": "1", "Σ": "Sigma", "ₖ": "_k", "’": "'", "–": "-", "…": "...", "→": "->",
}  # fmt: skip

# C0 but for the tab and the line feed, delete, C1, and what turns the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


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


def visible(text: str) -> str:
    r"""Return a text whose control characters are written out, as JSON writes them: ESC is ``\u001b``."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str) -> None:
    """Print a result to stdout."""
    # Not by click, which takes a terminal that knows ASCII only for one that knows more.
    try:
        print(visible(text), flush=True)
    except OSError as error:
        # A full disk, say. The system does not know the file by a name.
        error.filename = error.filename or "standard output"
        raise


def tell(value: Any) -> None:
    """Print a plan or a certificate: framed on a terminal, in plain words into a pipe."""
    if not sys.stdout.isatty():
        say(str(value))
        return
    from rich.console import Console
    from rich.segment import Segment

    from pacband.reporting.terminal import show

    class VisibleConsole(Console):
        """Every text of rich's passes here before it is laid out; rich's own colours are not in the text."""

        def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*args, **options):
                yield Segment(text if control else visible(text), style, control)

    show(value, console=VisibleConsole())


def print_json(value: Any) -> None:
    """Print a result for machines to stdout, as one JSON document."""
    say(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Print a message to stderr."""
    print(visible(text), file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """End with exit code 2 and one clear message."""
    raise click.ClickException(text)


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
