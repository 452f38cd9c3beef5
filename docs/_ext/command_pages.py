"""The page of the command line, written from the `--help` of every command: it cannot differ from the commands."""

from __future__ import annotations

import os
import subprocess
import sys

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 100


def help_text(*command: str) -> str:
    """Return what `pacband … --help` prints."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1", "PYTHONUTF8": "1"}
    line = [sys.executable, "-m", "pacband", *command, "--help"]
    return subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout


def command_names() -> list[str]:
    """Return the commands in the order in which `pacband --help` lists them."""
    _, _, listed = help_text().partition("Commands:\n")
    commands, _, _ = listed.partition("\n\n")
    return [line.split()[0] for line in commands.splitlines() if line[2] != " "]


class CommandPages(SphinxDirective):
    """One section for every command, with its help."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        lines = ["## pacband", "", "```text", *help_text().splitlines(), "```", ""]
        for name in command_names():
            lines += [f"## pacband {name}", "", "```text", *help_text(name).splitlines(), "```", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-pages", CommandPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
