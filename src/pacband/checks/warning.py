"""Warnings about a promise, one for all findings of a screen, at the line of the user's code that asked for it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from pathlib import Path

from pacband.checks.finding import Finding
from pacband.exceptions import PromiseWarning

__all__ = ["warn_of_findings", "warn_of_promise"]

_PACKAGE = str(Path(__file__).parents[1])


def warn_of_findings(findings: Iterable[Finding]) -> None:
    """Issue one `PromiseWarning` for the findings, if there are any."""
    found = tuple(findings)
    if not found:
        return
    sentences = " ".join(f"{finding.seen}. {finding.effect} {finding.advice}" for finding in found)
    warn_of_promise(f"the promise may not hold: {sentences}", found)


def warn_of_promise(message: str, findings: tuple[Finding, ...] = ()) -> None:
    """Issue a `PromiseWarning`."""
    warnings.warn(PromiseWarning(message, findings), stacklevel=_stack_level())


def _stack_level() -> int:
    """Return the level of the first caller outside of pacband."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    # Level 1 is the function that warns, and this one is below it.
    return level
