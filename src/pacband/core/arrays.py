"""User columns as numpy arrays: what is accepted, and what is refused with its rule and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from numbers import Rational
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.exceptions import InvalidInput

__all__ = [
    "EXACT",
    "Floats",
    "Numbers",
    "as_numbers",
    "blocks",
    "check_same_rows",
    "name_rows",
    "refuse_large_integers",
]

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
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value  # most of what comes; all below is for the rest
    if isinstance(value, np.ma.MaskedArray):
        known = _to_array(name, value.compressed())
        if known.dtype.kind not in "fiub":
            return known
        return np.ma.filled(value.astype(np.float64), np.nan)
    if not isinstance(value, np.ndarray):
        value = _from_series(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and any(isinstance(item, (str, bytes)) for item in array.flat):
            return array.astype(str)
        # A list of integers and floats, or of integers of both signs, may have become floats on the way.
        became = not isinstance(value, np.ndarray) and array.dtype == np.float64 and (np.abs(array) >= EXACT).any()
        _check_exact(name, value if became else array)
        # Decimals, None and mixed columns arrive as objects.
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        hint = " Pass what its predict(X) returns." if hasattr(value, "predict") else ""
        raise InvalidInput(f"{name} must be numeric and rectangular, got {_describe(value)}.{hint}") from None


def _from_series(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple, int, float)):
        return value
    import narwhals as nw

    native = nw.from_native(value, allow_series=True, pass_through=True)
    wide = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128, nw.Decimal)
    columns = [native] if isinstance(native, nw.Series) else []
    columns += native.iter_columns() if isinstance(native, nw.DataFrame) else []
    for column in columns:
        if column.dtype in wide and len(column):
            _check_exact(name, (column.min(), column.max()))
    if isinstance(native, nw.Series) and (native.dtype.is_numeric() or native.dtype == nw.Boolean):
        # A nullable column has no numpy dtype of its own; as float64 its nulls are NaN.
        wider = native.dtype in (nw.Int128, nw.UInt128)
        return native.cast(nw.Float64).to_numpy() if wider or native.is_null().any() else native.to_numpy()
    if isinstance(native, nw.DataFrame):
        return native.to_numpy()
    return value


def _check_exact(name: str, value: Any) -> None:
    if _beyond_float(value):
        refuse_large_integers(name)


def _beyond_float(value: Any) -> bool:
    """Whether some number that is stated to the last digit (an integer, a decimal, a fraction) exceeds `EXACT`.

    Floats are what they are; only those wider than float64 are compared with what float64 makes of them.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        if value.dtype.kind in "iu" and value.dtype.itemsize == 8 and value.size:
            return int(value.max()) > EXACT or int(value.min()) < -EXACT
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            large = value[np.isfinite(value) & (np.abs(value) > EXACT)]
            with np.errstate(over="ignore"):
                return bool((large != large.astype(np.float64)).any())
        return False
    if hasattr(value, "as_py"):  # a value of pyarrow's
        value = value.as_py()
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value) > EXACT
    if isinstance(value, Rational):
        stated: Any = value
        return bool(abs(stated) > EXACT)
    if isinstance(value, np.ndarray):
        return any(map(_beyond_float, value.flat))
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and any(map(_beyond_float, value))


def refuse_large_integers(name: str) -> NoReturn:
    """Raise for a column with integers that float64 cannot hold."""
    raise InvalidInput(f"{name} has integers beyond 2**53, which float64 cannot tell apart: subtract an offset first.")


def check_same_rows(**columns: Any) -> None:
    """Refuse columns that would be matched by position although their labels say otherwise.

    Indexes of pandas must be the same; frames that have the same column names must have them in the same order. A
    tuple is a pair of columns, of which each is looked at.
    """
    parts = [(name, part) for name, column in columns.items() for part in _parts(column)]
    indexes = [
        (name, part.index)
        for name, part in parts
        if hasattr(part, "index") and not callable(part.index) and hasattr(part.index, "equals")
    ]
    for name, index in indexes[1:]:
        if not indexes[0][1].equals(index):
            raise InvalidInput(
                f"{_both(indexes[0][0], name)} must have the same index, got different ones: align them, or pass "
                ".to_numpy() of both to match rows by position."
            )
    frames = [(name, names) for name, part in parts if (names := _names(part))]
    for name, names in frames[1:]:
        first, order = frames[0]
        if names != order and set(names) == set(order):
            raise InvalidInput(
                f"{_both(first, name)} must have their columns in the same order, got {order} and {names}."
            )


def _both(first: str, second: str) -> str:
    return f"{first} and {second}" if first != second else f"both parts of {first}"


def _names(column: Any) -> list[Any]:
    names = getattr(column, "column_names", getattr(column, "columns", None))
    return [] if names is None or callable(names) else list(names)


def _parts(column: Any) -> Iterator[Any]:
    if isinstance(column, tuple):
        for part in column:
            yield from _parts(part)
    else:
        yield column


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
