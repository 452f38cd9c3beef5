"""The columns that a command reads: those certified, or others in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pacband.cli.console import print_message

if TYPE_CHECKING:
    from pacband.certificate import Promise
    from pacband.scores.columns import Columns

__all__ = ["certified_columns", "warn_of_other_columns", "warn_of_other_target", "warn_of_other_unit"]


def certified_columns(basis: Promise, *, unit: str | None = None, **named: Any) -> Columns:
    """Return the columns of labelled rows that options name; by default those certified. Warn if they are others."""
    from pacband.tables.known_columns import labelled_columns

    columns = labelled_columns(basis, **named)
    warn_of_other_columns(basis, columns, unit)
    return columns


def warn_of_other_columns(basis: Promise, columns: Columns, unit: str | None = None) -> None:
    """Print a warning if columns have other names than those certified."""
    from pacband.tables.mismatches import describe_other_columns

    _warn(describe_other_columns(basis, columns, unit))


def warn_of_other_target(certified: Sequence[str], target: Sequence[str]) -> None:
    """Print a warning if the target columns of a model have other names than in its fit."""
    from pacband.tables.mismatches import describe_others

    _warn(describe_others({"target": (tuple(certified), tuple(target))}))


def warn_of_other_unit(basis: Promise, unit: str | None) -> None:
    """Print a warning if the column of units has another name than the certified one."""
    from pacband.tables.mismatches import describe_other_unit

    _warn(describe_other_unit(basis, unit))


def _warn(other: str | None) -> None:
    if other is not None:
        print_message(f"Warning: {other}")
