"""A figure as inline SVG, with its caption: it scales, screen readers read it, and it has the colours of the page."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pacband.core.look import COLOURS, default_settings, figure_of
from pacband.reporting.figures import report_figures
from pacband.reporting.figures.figure import Caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["InlineFigure", "draw_figures", "inline_svg"]

_IDS = re.compile(r'\b(id="|xlink:href="#|href="#|url\(#)([A-Za-z][^")]*)')


@dataclass(frozen=True)
class InlineFigure:
    """A figure on the page: its SVG, the caption under it, and the texts for the pointer as JSON."""

    svg: str
    caption: str
    hover: str


@default_settings()
def draw_figures(numbers: dict[str, Any]) -> dict[str, list[InlineFigure]]:
    """Draw every figure that has numbers; the list is empty if there is nothing to draw."""
    drawn: dict[str, list[InlineFigure]] = {}
    for name, figure in report_figures().items():
        known = numbers[name]
        parts = known if isinstance(known, tuple) else () if known is None else (known,)
        drawn[name] = [
            _inline(figure.draw(part), figure.caption(part), f"figure-{name}{k or ''}") for k, part in enumerate(parts)
        ]
    return drawn


def _inline(ax: Axes, caption: Caption, name: str) -> InlineFigure:
    svg = inline_svg(figure_of(ax), name=name, title=caption.title, description=caption.description)
    return InlineFigure(svg, caption.text, _hover(ax, caption.points))


def _hover(ax: Axes, points: tuple[tuple[float, float, str], ...]) -> str:
    """Return texts with their places, as fractions of the figure from the upper left. The SVG must be made before."""
    if not points:
        return ""
    places = (ax.transData + ax.figure.transFigure.inverted()).transform([point[:2] for point in points])
    kept = [
        [round(float(x), 3), round(1.0 - float(y), 3), text]
        for (x, y), (_, _, text) in zip(places, points, strict=True)
        if 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0
    ]
    return json.dumps(kept, ensure_ascii=False)


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Return a figure as an SVG element; its ids start with `name`, which no other figure of the page may have."""
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
    """Remove the font family: the page sets it."""

    def without_family(match: re.Match[str]) -> str:
        style = re.sub(r"font-family:[^;\"]*;?\s*", "", match[1])
        # The shorthand "font: bold 10px 'DejaVu Sans', …" contains the family as well.
        style = re.sub(r"font: ((?:bold|italic|\d+) )?([\d.]+px) [^;\"]*", _longhand, style)
        return f'style="{style}"'

    return re.sub(r'style="([^"]*font[^"]*)"', without_family, text)


def _longhand(match: re.Match[str]) -> str:
    weight = f"font-weight: {match[1].strip()}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}"
