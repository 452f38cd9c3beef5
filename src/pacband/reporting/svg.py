"""A figure as inline SVG: it scales, is read aloud, follows the page's colours, and its ids are its own."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

from pacband.core.look import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["inline_svg"]

_IDS = re.compile(r'\b(id="|xlink:href="#|href="#|url\(#)([A-Za-z][^")]*)')


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Return a figure as an SVG element; `name` must be the only one of its kind on the page."""
    from matplotlib import rc_context

    text = io.StringIO()
    # Text stays text, and the same figure gets the same ids.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(
            text, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
    body = text.getvalue()
    body = body[body.index("<svg") :]
    view = re.search(r'viewBox="([^"]*)"', body)
    inner = body[body.index(">") + 1 : body.rindex("</svg>")]
    inner = re.sub(r"<metadata>.*?</metadata>\s*", "", inner, flags=re.DOTALL)
    inner = re.sub(r"<!--.*?-->\s*|<style.*?</style>\s*", "", inner, flags=re.DOTALL)
    inner = _IDS.sub(lambda match: f"{match[1]}{name}-{match[2]}", inner)
    inner = _drop_fonts(inner)
    for role, colour in COLOURS.items():
        inner = inner.replace(colour, f"var(--{role})")
    inner = re.sub(r"\n\s*", "\n", inner).strip()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'viewBox="{view[1] if view else ""}" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
        f"{inner}</svg>"
    )


def _drop_fonts(text: str) -> str:
    """Leave the family of fonts to the page."""

    def without_family(match: re.Match[str]) -> str:
        style = re.sub(r"font-family:[^;\"]*;?\s*", "", match[1])
        # The shorthand "font: bold 10px 'DejaVu Sans', …" holds the family as well.
        style = re.sub(r"font: ((?:bold|italic|\d+) )?([\d.]+px) [^;\"]*", _longhand, style)
        return f'style="{style}"'

    return re.sub(r'style="([^"]*font[^"]*)"', without_family, text)


def _longhand(match: re.Match[str]) -> str:
    weight = f"font-weight: {match[1].strip()}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}"
