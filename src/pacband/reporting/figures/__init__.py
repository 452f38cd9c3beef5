"""The figures of the report, one a file: see `pacband.reporting.figures.figure` for what such a file contains."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pacband.reporting.figures.figure import Figure

__all__ = ["report_figures"]


@cache
def report_figures() -> dict[str, Figure[Any]]:
    """Return every `FIGURE` of this folder, under the name of its file."""
    modules = {found.name: import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)}
    return {name: module.FIGURE for name, module in modules.items() if hasattr(module, "FIGURE")}
