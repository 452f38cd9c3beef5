"""What readers of screens miss: a name for the buttons that open a part of the navigation, and lists of references."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def _name_buttons(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Wrap the function with which the theme writes the navigation."""
    write = context.get("generate_toctree_html")
    if write is None:
        return

    def write_with_names(*arguments: Any, **options: Any) -> Any:
        tree = write(*arguments, **options)
        for summary in tree.find_all("summary") if hasattr(tree, "find_all") else ():
            summary["aria-label"] = "Pages below"
        return tree

    context["generate_toctree_html"] = write_with_names


def _name_references(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Make the references of a docstring the items of their list. Sphinx gives them a role that is withdrawn."""
    if body := context.get("body"):
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after the theme."""
    app.connect("html-page-context", _name_references)
    app.connect("html-page-context", _name_buttons, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
