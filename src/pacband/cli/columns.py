"""The columns that a command reads: those certified, or others in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacband.cli.console import print_message

if TYPE_CHECKING:
    from pacband.certificate import Promise
    from pacband.scores.columns import Columns

__all__ = ["certified_columns", "warn_of_other_columns"]


def certified_columns(basis: Promise, **named: Any) -> Columns:
    """Return the columns of labelled rows that options name; by default those certified. Warn if they are others."""
    from pacband.tables.known_columns import labelled_columns

    columns = labelled_columns(basis, **named)
    warn_of_other_columns(basis, columns)
    return columns


def warn_of_other_columns(basis: Promise, columns: Columns) -> None:
    """Print a warning if columns have other names than those certified."""
    from pacband.tables.mismatches import describe_other_columns

    if other := describe_other_columns(basis, columns):
        print_message(f"Warning: {other}")
