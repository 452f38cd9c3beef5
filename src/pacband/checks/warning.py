"""Warnings about a promise, one for all findings of a screen, at the line of the user's code that asked for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from pacband.checks.finding import Finding
from pacband.core.callers import caller_level
from pacband.exceptions import PromiseWarning

__all__ = ["warn_of_findings", "warn_of_promise"]


def warn_of_findings(findings: Iterable[Finding]) -> None:
    """Issue one `PromiseWarning` for the findings, if there are any."""
    found = tuple(findings)
    if not found:
        return
    sentences = " ".join(finding.sentences for finding in found)
    warn_of_promise(f"the promise may not hold: {sentences}", found)


def warn_of_promise(message: str, findings: tuple[Finding, ...] = ()) -> None:
    """Issue a `PromiseWarning`."""
    warnings.warn(PromiseWarning(message, findings), stacklevel=caller_level())
