"""Figures, and a report that people can read, sign and share.

Numbers first (`rows`, `summary`), then a figure from the numbers (`figures`), then a page or Markdown from both
(`page`). `terminal` prints certificates and plans. README.md in this folder is for maintainers.

Each public name loads its module when it is first used, so that a terminal needs no figures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacband.reporting.document import Report, report
    from pacband.reporting.figures.acceptance import plot_acceptance
    from pacband.reporting.figures.band import plot_band
    from pacband.reporting.figures.family import plot_family
    from pacband.reporting.figures.plan_map import plot_plan
    from pacband.reporting.figures.scores import plot_scores
    from pacband.reporting.figures.slices import plot_slices
    from pacband.reporting.figures.tube import plot_tube

__all__ = [
    "Report",
    "plot_acceptance",
    "plot_band",
    "plot_family",
    "plot_plan",
    "plot_scores",
    "plot_slices",
    "plot_tube",
    "report",
]

_HOMES = {
    "Report": "document",
    "plot_acceptance": "figures.acceptance",
    "plot_band": "figures.band",
    "plot_family": "figures.family",
    "plot_plan": "figures.plan_map",
    "plot_scores": "figures.scores",
    "plot_slices": "figures.slices",
    "plot_tube": "figures.tube",
    "report": "document",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pacband.reporting' has no attribute {name!r}")
    return getattr(import_module(f"pacband.reporting.{_HOMES[name]}"), name)
