"""The page of the command line, written from the `--help` of every command: it cannot differ from the commands."""

from __future__ import annotations

from click.testing import CliRunner
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pacband.cli import COMMANDS, pacband


def help_text(*command: str) -> str:
    """Return what `pacband … --help` prints."""
    # As wide as in a window of 80 columns or more.
    shown = CliRunner().invoke(pacband, [*command, "--help"], prog_name="pacband", terminal_width=78)
    if shown.exit_code != 0:
        raise RuntimeError(f"pacband {' '.join(command)} --help failed: {shown.output}")
    return shown.output


class CommandPages(SphinxDirective):
    """One section for every command, with its help."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        lines = []
        for command in ((), *((name,) for name in COMMANDS)):
            # Its columns are lines of their own: they scroll, and do not wrap.
            start = [f"## {' '.join(('pacband', *command))}", "", "```{code-block} text", ":class: help", ""]
            lines += [*start, *help_text(*command).splitlines(), "```", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-pages", CommandPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
