"""Has the model seen these rows? Rows are compared by 64-bit fingerprints, in any kind of table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband._arrays import name_rows
from pacband.exceptions import ReusedData

__all__ = ["Fingerprints", "refuse_reused_rows", "row_fingerprints"]

Fingerprints: TypeAlias = npt.NDArray[np.uint64]


def row_fingerprints(X: Any, y: Any) -> Fingerprints | None:
    """Return one fingerprint for every row (x, y), or None where the container is unknown to us.

    Equal rows have equal fingerprints; different ones, but for a chance of 2⁻⁶⁴ a pair, do not.
    """
    try:
        columns = [*_columns(X), *_columns(y)]
    except (TypeError, ValueError):
        return None
    state = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        state = _mixed(state ^ _bits(column))
    return state


def refuse_reused_rows(training: Fingerprints | None, calibration: Fingerprints | None) -> None:
    """Raise `ReusedData` where calibration rows were used in training.

    Tables with repeated rows have some in common by chance. By Good and Turing, a fresh row is one of the training
    rows with a probability of about p, the share of training rows that are not the only one of their kind; five
    standard deviations above that are let pass. Rows may also have been repeated on purpose, so that p is taken to
    be above one half only for coarse tables, where less than a fifth of the rows are distinct. Without repeats not
    one row passes, nor does the training set itself.
    """
    if training is None or calibration is None or not len(training):
        return
    seen = np.isin(calibration, training)
    _, counts = np.unique(training, return_counts=True)
    repeated = 1.0 - int(np.count_nonzero(counts == 1)) / len(training)
    if len(counts) > len(training) / 5:
        repeated = min(repeated, 0.5)
    expected = repeated * len(calibration)
    allowed = expected + 5.0 * math.sqrt(expected * (1.0 - repeated)) + 3.0 if repeated else 0.0
    if seen.sum() > allowed or np.array_equal(np.sort(calibration), np.sort(training)):
        raise ReusedData(
            f"calibration needs rows the model has not seen: of {len(calibration)} calibration rows, these were "
            f"also used to fit it: {name_rows(seen)}."
        )


def _mixed(state: Fingerprints) -> Fingerprints:
    """One round of the splitmix64 finalizer."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


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
    if array.ndim not in (1, 2):
        raise ValueError(array.shape)
    yield from (array[:, j] for j in range(array.shape[1])) if array.ndim == 2 else [array]


def _sparse_column(table: Any) -> Fingerprints:
    """One column that stands for all of a sparse table: the sum, modulo 2⁶⁴, of a mix of the places and values."""
    filled = table.data != 0
    cells = _mixed(_mixed(table.col[filled].astype(np.uint64)) ^ _bits(table.data[filled]))
    column = np.zeros(table.shape[0], dtype=np.uint64)
    np.add.at(column, table.row[filled], cells)
    return column


def _bits(column: npt.NDArray[Any]) -> Fingerprints:
    if column.dtype == np.uint64:
        return column
    if column.dtype.kind in "fiub":
        # Adding zero makes −0.0 and 0.0 one number.
        return np.ascontiguousarray(column, dtype=np.float64).__add__(0.0).view(np.uint64)
    texts, codes = np.unique(column.astype(str), return_inverse=True)
    digests = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") for text in texts]
    return np.array(digests, dtype=np.uint64)[codes]
