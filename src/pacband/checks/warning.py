"""One warning for all findings of a screen, at the line of the user's code that asked for the promise."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from pacband.checks.finding import Finding
from pacband.core.callers import caller_level
from pacband.exceptions import PromiseWarning

__all__ = ["warn_of_findings"]


def warn_of_findings(findings: Iterable[Finding]) -> None:
    """Issue one `PromiseWarning` for the findings, if there are any."""
    found = tuple(findings)
    if not found:
        return
    sentences = " ".join(f"{finding.seen}. {finding.effect} {finding.advice}" for finding in found)
    warnings.warn(PromiseWarning(f"the promise may not hold: {sentences}", found), stacklevel=caller_level())
