"""Tables and figures that are computed while the pages are built, or read from the output of a script; never typed.

A file `docs/computed/NAME.py` has one or more of these functions:

- `markdown()` returns the table in Markdown: ```` ```{computed} NAME ````,
- `draw()` returns matplotlib axes and a `Caption`: ```` ```{drawn} NAME ````. The figure follows light and dark pages,
- `page()` returns a page of its own: ```` ```{printed} NAME ```` writes it to `NAME.html` and links it.
"""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from unbroken import unbreak

from pacband.core.look import default_settings, figure_of
from pacband.reporting.page.svg import inline_svg

FOLDER = Path(__file__).parents[1] / "computed"


class FromModule(SphinxDirective):
    """A directive whose argument names a module of docs/computed."""

    required_arguments = 1

    def module(self) -> ModuleType:
        """Return the module; the page is built again if the file changes."""
        if str(FOLDER) not in sys.path:
            sys.path.insert(0, str(FOLDER))
        name = self.arguments[0]
        self.env.note_dependency(str(FOLDER / f"{name}.py"))
        return import_module(name)


class Computed(FromModule):
    """A table."""

    option_spec: ClassVar[dict[str, Any]] = {"part": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the table; `:part:` names one of several."""
        part = self.options.get("part")
        text = self.module().markdown(part) if part else self.module().markdown()
        return self.parse_text_to_nodes(text)


class Drawn(FromModule):
    """A figure as inline SVG, with its caption."""

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        with default_settings():
            axes, caption = self.module().draw()
            name = f"drawn-{self.arguments[0]}".replace("_", "-")
            svg = inline_svg(figure_of(axes), name=name, title=caption.title, description=caption.description)
        html = f'<figure class="drawn">{svg}<figcaption>{escape(unbreak(caption.text))}</figcaption></figure>'
        return [nodes.raw("", html, format="html")]


class Printed(FromModule):
    """A page of its own beside the pages of the site."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the page and return the link to it; the content of the directive is its text."""
        name = f"{self.arguments[0]}.html"
        folder = Path(self.env.app.outdir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(self.module().page(), encoding="utf-8")
        depth = self.env.docname.count("/")
        text = escape(" ".join(self.content))
        return [nodes.raw("", f'<p><a href="{"../" * depth}{name}">{text}</a></p>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("computed", Computed)
    app.add_directive("drawn", Drawn)
    app.add_directive("printed", Printed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
