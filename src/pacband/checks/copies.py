"""Is every row a new draw? A check for rows that repeat in every column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pacband.checks.cures import copies_cure
from pacband.checks.finding import Finding
from pacband.core.arrays import Numbers
from pacband.core.row_hashes import Fingerprints, equal_pairs, mix_columns, row_fingerprints, table_bits
from pacband.core.row_repeats import chance_of_repeats

__all__ = ["COPIES", "check_copies", "column_bits", "may_repeat"]

COPIES = "duplicated rows"


def check_copies(target: Numbers, others: Any, *, columns: str) -> Finding | None:
    """Check whether whole rows repeat more often than chance explains.

    Coarse values make rows agree by chance. `chance_of_repeats` bounds how often, from the rows that agree in almost
    everything. If a column is continuous, a single repeated row is a finding.

    Parameters
    ----------
    target : array
        y.
    others : array or table
        All other columns, or their `column_bits`.
    columns : str
        Which columns these are, in words.
    """
    rounded = row_fingerprints(others, target)
    if rounded is None or len(rounded) < 2:
        return None
    # Fingerprints are of float32. Of many rows some targets agree after rounding; copies agree before it.
    whole = mix_columns([rounded, *_exact_bits(target)])
    n = len(whole)
    repeated = n - len(np.unique(whole))
    p_value = 1.0
    if repeated and (chance := chance_of_repeats((others, target))) is not None:
        by_chance = chance.rate * n * (n - 1) / 2 + chance.spare
        p_value = 0.0 if equal_pairs(whole) > by_chance else 1.0
    return Finding(
        check=COPIES,
        seen=f"{repeated} of {n} rows repeat another row in {columns}",
        p_value=p_value,
        effect="A repeated row is one draw and not two: there are fewer independent rows than it seems.",
        advice=copies_cure(),
    )


def column_bits(columns: Iterable[Any]) -> Fingerprints:
    """Return columns of different types as one table of 8 bytes a cell, which the functions on rows accept."""
    return np.column_stack([bits for column in columns for bits in (table_bits(column, column) or ([], []))[0]])


def may_repeat(target: Numbers) -> bool:
    """Return whether some rows have equal targets. If none have, no row repeats, and the whole check is not needed."""
    ordered = np.sort(target if target.ndim == 1 else target[:, 0])
    return bool((ordered[1:] == ordered[:-1]).any())


def _exact_bits(target: Numbers) -> list[Fingerprints]:
    # Adding zero turns −0.0 into 0.0.
    exact = np.ascontiguousarray(target, dtype=np.float64).reshape(len(target), -1) + 0.0
    return [np.ascontiguousarray(exact[:, j]).view(np.uint64) for j in range(exact.shape[1])]
