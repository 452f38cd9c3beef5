"""Is every row a new draw? A check for rows that repeat in every column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.checks.columns import without_ids
from pacband.checks.cures import copies_cure
from pacband.checks.finding import Finding, Kind
from pacband.checks.frames import drop_columns, id_columns
from pacband.core.arrays import Numbers
from pacband.core.labels import factorize
from pacband.core.row_hashes import Fingerprints, equal_pairs, mix_columns, row_fingerprints, table_bits
from pacband.core.row_repeats import chance_of_repeats

__all__ = ["COPIES", "bits_without_ids", "check_copies", "column_bits", "find_originals", "may_repeat"]

COPIES = "duplicated rows"
# At most so many different rows that come so often are states of a system rather than copies.
_STATES, _OFTEN = 3, 5
# Columns are not independent: so many times more rows agree by chance than if they were.
_FACTOR = 10.0
# Fewer rows do not show whether a column is continuous.
_FEWEST_ROWS = 100


def check_copies(target: Numbers, others: Sequence[Any], *, complete: bool) -> Finding | None:
    """Check whether whole rows repeat more often than chance explains.

    Coarse values make rows agree by chance. `chance_of_repeats` bounds how often, from the rows that agree in almost
    everything. If a column is continuous, rows never agree by chance. Rows in one of a few states, such as those of a
    machine at rest, are no copies.

    Parameters
    ----------
    target : array
        y.
    others : sequence of arrays or tables
        All other columns, without those that identify rows (`columns.without_ids`): a copy may have a new number.
    complete : bool
        Whether these are all columns of a table. If columns may be missing, rows are reported only if they never agree
        by chance.
    """
    n = len(target)
    if n < _FEWEST_ROWS:
        return None
    # Fingerprints are of float32. Of many rows, some agree after rounding; copies agree before it.
    y, rest = mix_columns(_exact_bits(target)), mix_columns([bits for one in others for bits in _exact_bits(one)])
    whole = mix_columns([y, rest])
    _, times = np.unique(whole, return_counts=True)
    repeated = n - len(times)
    p_value = 1.0
    if repeated and not (np.count_nonzero(times > 1) <= _STATES and times.max() >= _OFTEN):
        chance = chance_of_repeats((column_bits(others), column_bits([target])))
        if chance is not None and (complete or chance.rate == 0.0):
            everything = n * (n - 1) / 2
            # If y and the rest are independent, and coarse, this many pairs agree in both.
            both = 0.0 if chance.rate == 0.0 else _FACTOR * equal_pairs(y) * equal_pairs(rest) / everything
            by_chance = max(chance.rate * everything, both) + chance.spare
            p_value = 0.0 if equal_pairs(whole) > by_chance else 1.0
    where = (
        "every column that does not number the rows"
        if complete
        else "target, prediction and scale; other columns were not looked at"
    )
    return Finding(
        code=Kind.COPIES,
        check=COPIES,
        seen=f"{repeated} of {n} rows repeat another row in {where}",
        p_value=p_value,
        effect="A repeated row is one draw and not two: there are fewer independent rows than it seems.",
        advice=copies_cure(),
    )


def column_bits(columns: Iterable[Any]) -> Fingerprints:
    """Return columns of different types as one table of 8 bytes a cell, which the functions on rows accept."""
    return np.column_stack([bits for column in columns for bits in _rounded_bits(column)])


def bits_without_ids(columns: Sequence[npt.NDArray[Any]]) -> Fingerprints:
    """Return the bits of the columns that do not identify rows; no column if all do."""
    kept = without_ids(columns)
    return column_bits(kept) if kept else np.empty((len(columns[0]), 0), dtype=np.uint64)


def may_repeat(target: Numbers) -> bool:
    """Return whether some rows have equal targets. If none have, no row repeats, and the whole check is not needed."""
    ordered = np.sort(target if target.ndim == 1 else target[:, 0])
    return bool((ordered[1:] == ordered[:-1]).any())


def _exact_bits(column: Any) -> list[Fingerprints]:
    """Return bits that are equal if, and only if, cells are: of float64 for numbers."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "fib":
        return _rounded_bits(column)
    # Adding zero turns −0.0 into 0.0.
    exact = column.astype(np.float64).reshape(len(column), -1) + 0.0
    return [np.ascontiguousarray(exact[:, j]).view(np.uint64) for j in range(exact.shape[1])]


def _rounded_bits(column: Any) -> list[Fingerprints]:
    found = table_bits(column, column)
    return [] if found is None else found[0]


def find_originals(X: Any, y: Any, units: npt.NDArray[Any] | None = None) -> npt.NDArray[np.intp]:
    """Return the numbers of the rows that are no copies of earlier rows, or of earlier rows of their unit, in order.

    A copy of a row may have a number of its own, so columns that identify rows are not compared.
    """
    prints = np.asarray(row_fingerprints(drop_columns(X, id_columns(X)), y))
    if units is not None:
        prints = mix_columns([prints, factorize(units)[1].astype(np.uint64)])
    _, first = np.unique(prints, return_index=True)
    return np.sort(first)
