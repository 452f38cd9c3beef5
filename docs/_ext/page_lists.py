"""The list "On this page" stands only where it helps: elsewhere its room is for the code."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

# The title of a page and two more entries show nothing that the page does not.
FEWEST = 4


def needs_list(page: str, entries: str) -> bool:
    """Return whether a page has a list of its sections. Examples are read from the top, and their code is wide."""
    return entries.count("<li>") >= FEWEST and not (page.startswith("gallery/") and page != "gallery/index")


def _leave_out(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if not needs_list(page, str(context.get("toc", ""))):
        context["secondary_sidebar_items"] = []


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after the theme has chosen its lists."""
    app.connect("html-page-context", _leave_out, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
