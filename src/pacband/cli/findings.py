"""What the checks of rows find, printed on stderr in the words of the command line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pacband.cli.console import print_message
from pacband.cli.shell_words import cure_in_shell_words

if TYPE_CHECKING:
    from pacband.checks import Finding

__all__ = ["collect_findings", "print_findings"]


@contextmanager
def collect_findings() -> Iterator[list[Finding]]:
    """Yield a list that takes the findings of every `PromiseWarning` in the block. Other warnings are shown."""
    from pacband.exceptions import PromiseWarning

    found: list[Finding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", PromiseWarning)
        show_others = warnings.showwarning

        def show(message: Any, *place: Any, **options: Any) -> None:
            if isinstance(message, PromiseWarning):
                found.extend(message.findings)  # type: ignore[arg-type]
            else:
                show_others(message, *place, **options)

        warnings.showwarning = show
        yield found


def print_findings(findings: list[Finding], *, strict: bool) -> None:
    """Print the findings, if there are any. With `strict`, end with exit code 1 then."""
    for finding in findings:
        print_message(cure_in_shell_words(f"Warning: {finding.sentences}"))
    if findings and strict:
        print_message("pacband: the promise may not hold, and --strict was given. Nothing was written.")
        sys.exit(1)
