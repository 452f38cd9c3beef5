"""Columns that a command reads in place of those that were certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacband.cli.console import print_message

if TYPE_CHECKING:
    from pacband.certificate import Promise
    from pacband.scores.columns import Columns

__all__ = ["warn_of_other_columns"]


def warn_of_other_columns(basis: Promise, columns: Columns) -> None:
    """Print a warning if columns have other names than those certified."""
    from pacband.tables.mismatches import describe_other_columns

    if other := describe_other_columns(basis, columns):
        print_message(f"Warning: {other}")
