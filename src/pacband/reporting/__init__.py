"""See it: figures, and a report people can read, sign and share.

Numbers first (`rows`, `bins`, `numbers`, `alternatives`, `summary`), then figures from the numbers (`drawing`,
`figures`, `style`, `svg`, `pictures`), then a page, Markdown or JSON from both (`page`, `document`). `terminal` shows
certificates and plans on a terminal. Each name arrives with its first use, so that a terminal needs no figures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacband.reporting.document import Report, report
    from pacband.reporting.figures import plot_band, plot_family, plot_plan, plot_scores, plot_slices

__all__ = ["Report", "plot_band", "plot_family", "plot_plan", "plot_scores", "plot_slices", "report"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pacband.reporting' has no attribute {name!r}")
    home = "figures" if name.startswith("plot_") else "document"
    return getattr(import_module(f"pacband.reporting.{home}"), name)
