"""The code blocks of a Markdown page, executed in order as its reader would."""

import contextlib
import doctest
import io
import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Libraries that a page shows and the tests do not install. Sections that import them run where they are installed.
OPTIONAL = ("torch", "xgboost")
LANGUAGES = ("python", "sh", "text")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A block: its language ("text" if it states none), its code, and its line on the page."""

    language: str
    code: str
    line: int


def text_of(page):
    """Return the text of a page of docs, by its name; a line break is a space."""
    return " ".join((DOCS / f"{page}.md").read_text("utf-8").split())


def blocks_of(page):
    """Return the blocks of Python, of shell commands and of what they print; not the directives of Sphinx."""
    text = page.read_text("utf-8")
    found = [Block(at[1] or "text", at[2], text.count("\n", 0, at.start()) + 2) for at in FENCE.finditer(text)]
    return [block for block in found if block.language in LANGUAGES]


def run_python(block, names, page):
    """Execute a block among the names of the blocks before, and return what it prints; examples with >>> are tested."""
    printed = io.StringIO()
    if ">>>" not in block.code:
        with contextlib.redirect_stdout(printed):
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(page), "exec"), names)  # our own page
        return printed.getvalue()
    test = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line)
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=printed.write, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, printed.getvalue()
    return ""


def commands_of(block):
    """Return the arguments of every line that starts with pacband; comments are left out."""
    lines = block.code.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("pacband ")]


def shows(printed, text):
    """Return whether a text is all that was printed; … stands for anything, and spaces may differ."""
    parts = (re.escape(" ".join(part.split())) for part in text.split("…"))
    return re.fullmatch(r"\s?.*?\s?".join(parts), " ".join(printed.split())) is not None


def section_of(page, block):
    """Return the number of the section of a page that a block is in."""
    lines = page.read_text("utf-8").splitlines()[: block.line]
    return sum(line.startswith("## ") for line in lines)


def sections_without_library(page, without=()):
    """Return the sections that import a library of `OPTIONAL` that is not installed, or one of `without`."""
    return {
        section_of(page, block)
        for block in blocks_of(page)
        for name in {*OPTIONAL, *without}
        if re.search(rf"^(?:import|from) {name}\b", block.code, re.MULTILINE)
        and (name in without or find_spec(name) is None)
    }


def run_page(page, run, *, without=()):
    """Execute the blocks of a page. `run` runs a command; a block of text must be part of what was printed before it.

    Sections that import a library of `without` are left out.
    """
    names, printed = {"__name__": "__main__"}, ""
    lacking = sections_without_library(page, without)
    for block in blocks_of(page):
        if section_of(page, block) in lacking:
            continue
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            printed = run_python(block, names, page)
        elif block.language == "sh":
            done = [(command, run(*command)) for command in commands_of(block)]
            for command, result in done:
                assert result.returncode == 0, (where, command, result.stderr)
            printed = "".join(result.stdout for _, result in done)
        else:
            assert shows(printed, block.code), (where, block.code, printed)
