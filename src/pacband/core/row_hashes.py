"""64-bit fingerprints of rows, for tables of any library.

Equal rows have equal fingerprints. A number is rounded to float32 first, so that a float32 copy of a table has the same
fingerprints. A text is replaced by its canonical text first (`pacband.core.cells`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.cells import canonical, number

__all__ = [
    "Fingerprints",
    "equal_pairs",
    "mix_bits",
    "mix_columns",
    "number_bits",
    "row_bits",
    "row_fingerprints",
    "table_bits",
]

Fingerprints: TypeAlias = npt.NDArray[np.uint64]


def row_fingerprints(X: Any, y: Any) -> Fingerprints | None:
    """Return one fingerprint for every row (x, y), or None if the type of a table is unknown.

    Equal rows have equal fingerprints. Two rows that differ by more than the rounding to float32 have equal
    fingerprints with probability 2⁻⁶⁴.
    """
    bits = table_bits(X, y)
    return None if bits is None else mix_columns([*bits[0], *bits[1]])


def row_bits(X: Any, y: Any) -> tuple[Fingerprints, Fingerprints] | None:
    """Return X and y with 8 bytes a cell, or None if the type of a table is unknown.

    All functions of this module accept the result in place of X and y.
    """
    bits = table_bits(X, y)
    return None if bits is None else (np.column_stack(bits[0]), np.column_stack(bits[1]))


def table_bits(X: Any, y: Any) -> tuple[list[Fingerprints], list[Fingerprints]] | None:
    """Return the bits of every column of X and of every column of y, or None if the type of a table is unknown."""
    try:
        found = [_bits(column) for column in _columns(X)], [_bits(column) for column in _columns(y)]
    except (TypeError, ValueError):
        return None
    return found if found[0] and found[1] and len(found[0][0]) == len(found[1][0]) else None


def equal_pairs(prints: Fingerprints) -> int:
    """Return how many pairs of rows have equal fingerprints."""
    _, counts = np.unique(prints, return_counts=True)
    return int(np.sum(counts * (counts - 1)) // 2)


def mix_columns(columns: list[Fingerprints]) -> Fingerprints:
    """Return one fingerprint a row for several columns of bits."""
    state = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        state = mix_bits(state ^ column)
    return state


def mix_bits(state: Fingerprints) -> Fingerprints:
    """Apply the splitmix64 finalizer once."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


def number_bits(value: float) -> np.uint64:
    """Return the bits of a cell with this number."""
    return np.uint64(_float_bits(np.array([value]))[0])


def _columns(table: Any) -> Iterator[npt.NDArray[Any]]:
    if hasattr(table, "tocoo"):
        yield _sparse_column(table.tocoo())
        return
    if not isinstance(table, (np.ndarray, list, tuple)):
        import narwhals as nw

        frame = nw.from_native(table, allow_series=True, eager_only=True)
        series = frame.iter_columns() if isinstance(frame, nw.DataFrame) else [frame]
        yield from (column.to_numpy() for column in series)
        return
    array = np.asarray(table)
    if array.ndim == 3:  # runs: the numbers of all steps make the row
        array = array.reshape(len(array), -1)
    if array.ndim not in (1, 2):
        raise ValueError(array.shape)
    yield from (array[:, j] for j in range(array.shape[1])) if array.ndim == 2 else [array]


def _sparse_column(table: Any) -> Fingerprints:
    """Return one column for a whole sparse table: the sum modulo 2⁶⁴ of the mixed positions and values of each row."""
    filled = table.data != 0
    cells = mix_bits(mix_bits(table.col[filled].astype(np.uint64)) ^ _bits(table.data[filled]))
    column = np.zeros(table.shape[0], dtype=np.uint64)
    np.add.at(column, table.row[filled], cells)
    return column


def _bits(column: npt.NDArray[Any]) -> Fingerprints:
    if column.dtype == np.uint64:
        return column
    if column.dtype.kind in "fiub":
        return _float_bits(column)
    texts, codes = np.unique(np.array([_text(cell) for cell in column], dtype=object).astype(str), return_inverse=True)
    return np.array([_text_bits(text) for text in texts], dtype=np.uint64)[codes]


def _float_bits(column: npt.NDArray[Any]) -> Fingerprints:
    with np.errstate(over="ignore"):
        # Adding zero turns −0.0 into 0.0, so that both have the same bits.
        rounded = np.ascontiguousarray(column, dtype=np.float64).astype(np.float32) + np.float32(0.0)
    rounded[np.isnan(rounded)] = np.nan
    return rounded.view(np.uint32).astype(np.uint64)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if cell is None else str(cell)


def _text_bits(text: str) -> int:
    """Return the bits of a text: those of a number if the text is the canonical text of one, otherwise a hash."""
    spelled = canonical(text)
    value = math.nan if spelled is None else number(spelled)
    # "007" is read as 7 in a column of numbers, but it is not the canonical text of 7.
    if value is not None and (spelled in (None, "true", "false") or canonical(repr(value)) == spelled):
        return int(number_bits(value))
    return int.from_bytes(blake2b(str(spelled).encode(), digest_size=8).digest(), "little")
