"""Some rows of a large table, the same each time: the first rows, rows drawn at random, and all rows of a class.

A row is drawn by a hash of its number: a polynomial of degree 3 over the integers modulo the prime 2³¹ − 1. Its
coefficients come from a seed. Any four rows are drawn independently of each other. Numpy and SQL draw the same rows,
with any number of threads. Two copies of a row are seldom both drawn in this way; `fetch_class` keeps them together, by
a hash of their contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import blocks
from pacband.tables.columns import refuse_empty

__all__ = [
    "SAMPLE",
    "SEED",
    "WHOLE",
    "SampledRows",
    "draw_rows",
    "class_words",
    "drawn_words",
    "fetch_class",
    "fetch_sample",
    "fetch_whole",
    "first_words",
    "hash_rows",
    "hash_sql",
    "is_large",
]

# A table of at most WHOLE rows is read whole. Of a larger one, the first SAMPLE rows and about SAMPLE others are read.
WHOLE, SAMPLE = 200_000, 100_000
SEED = 0

_PRIME = (1 << 31) - 1
_COEFFICIENTS = [int(value) for value in np.random.default_rng(SEED).integers(1, _PRIME, 4)]


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Columns of some rows, in row order.

    Attributes
    ----------
    rows : array of int
        The numbers of the rows, from 0.
    values : mapping of str to array
        The columns.
    """

    rows: npt.NDArray[np.int64]
    values: dict[str, Any]

    def where(self, kept: npt.NDArray[np.bool_]) -> SampledRows:
        """Return the rows for which `kept` is true."""
        return SampledRows(self.rows[kept], {name: column[kept] for name, column in self.values.items()})


def draw_rows(n_rows: int, size: int | None = None) -> npt.NDArray[np.int64]:
    """Return the numbers of about `size` rows out of `n_rows`, in increasing order.

    Examples
    --------
    >>> drawn = draw_rows(1_000_000)
    >>> len(drawn), drawn[:3].tolist()
    (99850, [5, 6, 12])
    """
    limit = _limit(n_rows, SAMPLE if size is None else size)
    found = []
    for part in blocks(n_rows):
        rows = np.arange(part.start, part.stop, dtype=np.int64)
        found.append(rows[hash_rows(rows) < limit])
    return np.concatenate(found)


def drawn_words(n_drawn: int) -> str:
    """Describe rows that were drawn."""
    return f"{n_drawn:,} rows drawn with seed {SEED}"


def first_words(n_first: int) -> str:
    """Describe the first rows."""
    return f"the first {n_first:,} rows"


def class_words(n_rows: int, n_classes: int) -> str:
    """Describe the rows of one class."""
    return f"{n_rows:,} rows, 1 class in {n_classes:,} by a hash of all columns but the target,"


def fetch_whole(relation: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return these columns of a DuckDB relation as numpy arrays, or raise if it has no rows."""
    values = dict(relation.project(_list_sql(names)).fetchnumpy())
    refuse_empty(values)
    return values


def is_large(relation: Any) -> bool:
    """Whether a DuckDB relation has more than `WHOLE` rows."""
    ((n_rows,),) = relation.limit(WHOLE + 1).aggregate("count(*)").fetchall()
    return int(n_rows) > WHOLE


def fetch_sample(relation: Any, names: Sequence[str], n_rows: int) -> tuple[SampledRows, SampledRows]:
    """Return the first `SAMPLE` rows of a DuckDB relation, and about `SAMPLE` rows drawn from all."""
    # DuckDB takes Row for row.
    number = "row" + "_" * sum(name.casefold().startswith("row") for name in names)
    row, limit = _list_sql([number]), _limit(n_rows, SAMPLE)
    numbered = relation.project(f"row_number() over () - 1 as {row}, {_list_sql(names)}")
    found = dict(numbered.filter(f"{row} < {SAMPLE} or {hash_sql(row)} < {limit}").fetchnumpy())
    rows = np.asarray(found.pop(number), dtype=np.int64)
    order = np.argsort(rows, kind="stable")
    both = SampledRows(rows[order], {name: column[order] for name, column in found.items()})
    return both.where(both.rows < SAMPLE), both.where(hash_rows(both.rows) < limit)


def fetch_class(
    relation: Any, names: Sequence[str], by: Sequence[str], n_rows: int
) -> tuple[dict[str, Any], int] | None:
    """Return about `SAMPLE` rows of a DuckDB relation: with a row, all rows that agree with it in the columns `by`.

    Rows are put into classes by a hash of these columns. Returns one class, and the number of classes. Returns None if
    the class is empty or has more than `WHOLE` rows, because the columns have few different values.
    """
    n_classes = -(-n_rows // SAMPLE)
    own = relation.filter(f"hash({_list_sql(by)}) % {n_classes} = 0").limit(WHOLE + 1)
    found = dict(own.project(_list_sql(names)).fetchnumpy())
    return (found, n_classes) if 0 < len(found[names[0]]) <= WHOLE else None


def _list_sql(names: Sequence[str]) -> str:
    """Return columns as a list for SQL. The import is here because drawing rows of arrays does not need DuckDB."""
    from pacband.tables.connection import quoted

    return ", ".join(map(quoted, names))


def _limit(n_rows: int, size: int) -> int:
    """Return the number below which the hashes of about `size` rows lie."""
    return min(_PRIME, -(-_PRIME * size // n_rows))


def hash_rows(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the hashes of row numbers. `hash_sql` is the same in SQL."""
    x = rows % _PRIME
    value = np.full_like(x, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        # Products are at most 2⁶².
        value = (value * x + coefficient) % _PRIME
    return value


def hash_sql(row: str) -> str:
    """Return SQL for the hash of a row number, as `hash_rows` computes it."""
    x = f"({row} % {_PRIME})"
    value = str(_COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        value = f"(({value} * {x} + {coefficient}) % {_PRIME})"
    return value
