"""What a program prints: long sentences wrap, but not within a formula; lines with columns scroll and stay tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers.python import PythonConsoleLexer
from pygments.token import Generic, Text, _TokenType
from sphinx.application import Sphinx
from unbroken import NO_BREAK, unbreak

# Of these tokens, Pygments makes the classes "-Sentence" and "-Formula" of a page.
SENTENCE, FORMULA = Text.Sentence, Text.Formula
# Between two columns there are two spaces or more.
_COLUMNS = re.compile(r"\S {2,}\S")
_WORDS = re.compile(r"[^ \n]+|[ \n]+")


class PrintedLexer(Lexer):
    """Divide a text into sentences and lines with columns."""

    name = "Printed"

    def __init__(self, **options: Any) -> None:
        # As Sphinx does: lines at the start that are empty are part of what was printed.
        super().__init__(**{"stripnl": False, **options})

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield lines with columns, formulas, and the words between them, with their places."""
        place = 0
        for line in text.splitlines(keepends=True):
            if _COLUMNS.search(line):
                yield place, Text, line
                place += len(line)
                continue
            for word in _WORDS.findall(unbreak(line)):
                end = place + len(word)
                yield place, FORMULA if NO_BREAK in word else SENTENCE, text[place:end]
                place = end


class SessionLexer(PythonConsoleLexer):
    """A session of Python: what it prints is read in the same way."""

    name = "Printed session"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield the tokens of Python, and those of what it prints."""
        printed = PrintedLexer()
        for place, kind, part in super().get_tokens_unprocessed(text):
            if kind is not Generic.Output:
                yield place, kind, part
                continue
            for start, shown, piece in printed.get_tokens_unprocessed(part):
                yield place + start, shown, piece


def setup(app: Sphinx) -> dict[str, bool]:
    """Read texts and what the examples print with it."""
    app.add_lexer("text", PrintedLexer)
    app.add_lexer("none", PrintedLexer)
    app.add_lexer("pycon", SessionLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
