"""One warning for all findings of a screen, at the line of the user's code that asked for the promise."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from pathlib import Path

from pacband.checks.finding import Finding
from pacband.exceptions import PromiseWarning

__all__ = ["warn_of_findings"]

_PACKAGE = str(Path(__file__).parents[1])


def warn_of_findings(findings: Iterable[Finding]) -> None:
    """Issue one `PromiseWarning` for the findings, if there are any."""
    found = tuple(findings)
    if not found:
        return
    sentences = " ".join(finding.sentences for finding in found)
    warnings.warn(PromiseWarning(f"the promise may not hold: {sentences}", found), stacklevel=_stack_level())


def _stack_level() -> int:
    """Return the level of the first caller outside of pacband."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    # Level 1 is the function that warns, and this one is below it.
    return level
