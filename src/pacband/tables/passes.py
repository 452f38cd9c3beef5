"""Progress of the passes over a table in an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pacband.core.progress import Progress

__all__ = ["Reporting", "report_passes"]

# Makes a function that passes over a table report its passes.
Reporting: TypeAlias = Callable[[Callable[[Any], Any]], Callable[[Any], Any]]


def report_passes(progress: Progress | None, n_parts: int) -> Reporting:
    """Return a wrapper that makes a scan report its passes. Each part takes at least two."""
    passes = 0

    def reporting(scan: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def scanned(requests: Any) -> Any:
            nonlocal passes
            answers = scan(requests)
            passes += 1
            if progress is not None:
                progress(passes, max(2 * n_parts, passes))
            return answers

        return scanned

    return reporting
