"""Names for computed columns that no column of a table has."""

from __future__ import annotations

from typing import Any

__all__ = ["free_names"]


def free_names(relation: Any, count: int) -> list[str]:
    """Return so many names that no column of a relation has: they are longer than all its names.

    If two columns of a SELECT have one name, DuckDB silently renames the second.
    """
    longest = max(map(len, relation.columns))
    return [f"{'_' * longest}_{k}" for k in range(count)]
