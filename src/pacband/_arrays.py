"""User columns as numpy arrays: what is accepted, and what is refused with its rule and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.exceptions import InvalidInput

__all__ = ["EXACT", "Floats", "Numbers", "as_numbers", "blocks", "check_same_rows", "name_rows", "refuse_large_integers"]

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any]

# An integer of at most this size is a float64 of its own, on every way in: arrays, tables, files.
EXACT = 2**53

# Rows worked on at a time: a few float64 blocks of this length fit in a core's own cache.
_BLOCK = 1 << 14


def as_numbers(name: str, value: Any, *, scalar: bool = False, empty: bool = False) -> Numbers:
    """Return `value` as an array of real numbers of shape (n,) or (n, k), with n ≥ 1 (n ≥ 0 with `empty`).

    Lists, numpy arrays and the series and frames of any library narwhals knows are accepted; missing values
    become NaN. The dtype is kept where it is numeric, so that nothing is copied: callers compute in float64.
    A single column (n, 1) becomes (n,). With `scalar`, a lone number is accepted as well, of shape ().
    """
    array = _to_array(name, value)
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} must be numeric, got dtype {array.dtype}.")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and _beyond_float(array):
        refuse_large_integers(name)
    if array.ndim == 0 and scalar:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InvalidInput(f"{name} must have shape (n,) or (n, k), got {array.shape}.")
    if array.size == 0 and not empty:
        raise InvalidInput(f"{name} is empty: at least one sample is needed, got shape {array.shape}.")
    return array


def _to_array(name: str, value: Any) -> Numbers:
    if isinstance(value, np.ma.MaskedArray):
        return np.ma.filled(value.astype(np.float64), np.nan)
    if not isinstance(value, np.ndarray):
        value = _from_series(value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and any(isinstance(item, (str, bytes)) for item in array.flat):
            return array.astype(str)
        # Decimals, None and mixed columns arrive as objects.
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError):
        hint = " Pass what its predict(X) returns." if hasattr(value, "predict") else ""
        raise InvalidInput(f"{name} must be numeric and rectangular, got {_describe(value)}.{hint}") from None


def _from_series(value: Any) -> Any:
    if isinstance(value, (list, tuple, int, float)):
        return value
    import narwhals as nw

    native = nw.from_native(value, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series) and (native.dtype.is_numeric() or native.dtype == nw.Boolean):
        # A nullable column has no numpy dtype of its own; as float64 its nulls are NaN.
        return native.cast(nw.Float64).to_numpy() if native.is_null().any() else native.to_numpy()
    if isinstance(native, nw.DataFrame):
        return native.to_numpy()
    return value


def _beyond_float(array: Numbers) -> bool:
    return int(array.max()) > EXACT or int(array.min()) < -EXACT


def refuse_large_integers(name: str) -> NoReturn:
    """Raise for a column with integers that float64 cannot hold."""
    raise InvalidInput(f"{name} has integers beyond 2**53, which float64 cannot tell apart: subtract an offset first.")


def check_same_rows(**columns: Any) -> None:
    """Refuse pandas columns whose indexes differ: it is not said whether rows match by position or by index."""
    known = {
        name: column.index
        for name, column in columns.items()
        if hasattr(column, "index") and not callable(column.index) and hasattr(column.index, "equals")
    }
    names = list(known)
    for name in names[1:]:
        if not known[names[0]].equals(known[name]):
            raise InvalidInput(
                f"{names[0]} and {name} must have the same index, got different ones: align them, or pass "
                ".to_numpy() of both to match rows by position."
            )


def _describe(value: Any) -> str:
    return f"{type(value).__name__} of shape {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value)[:80]


def name_rows(bad: npt.NDArray[np.bool_], most: int = 3) -> str:
    """Say which rows a mask marks: '5 rows, the first 2, 17, 40 (counting from 0)'."""
    rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
    if len(rows) == 1:
        return f"1 row, row {rows[0]} (counting from 0)"
    shown = ", ".join(str(row) for row in rows[:most])
    return f"{len(rows)} rows, the first {shown} (counting from 0)"


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield consecutive slices that cover the rows."""
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))
