"""Columns from users as numpy arrays: which ones are accepted, and clear errors for the others."""

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
    "Indices",
    "Numbers",
    "as_numbers",
    "blocks",
    "check_lengths",
    "check_same_rows",
    "name_rows",
    "refuse_large_integers",
    "refuse_nonfinite",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any]
Indices: TypeAlias = npt.NDArray[np.intp]

# float64 represents every integer up to this size exactly. Arrays, tables and files share this limit.
EXACT = 2**53

# Number of rows in a block: a few float64 blocks of this length fit into the cache of one processor core.
_BLOCK = 1 << 14


def as_numbers(name: str, value: Any, *, scalar: bool = False, empty: bool = False, runs: bool = False) -> Numbers:
    """Return `value` as an array of real numbers of shape (n,) or (n, k), with n ≥ 1 (n ≥ 0 with `empty`).

    Accepts lists, numpy arrays, and the series and frames of every library that narwhals supports. Missing values
    become NaN. A numeric dtype is kept, so that nothing is copied; callers compute in float64. A single column (n, 1)
    becomes (n,). With `scalar`, a single number is accepted as well, of shape (); with `runs`, also (n, H, k).
    """
    array = _to_array(name, value)
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} must be numeric, got dtype {array.dtype}.")
    if array.ndim == 0 and scalar:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in ((1, 2, 3) if runs else (1, 2)):
        shapes = "(n,), (n, k) or (n, H, k)" if runs else "(n,) or (n, k)"
        cure = "" if array.ndim else " Put a single number into a list: [15.0]."
        raise InvalidInput(f"{name} must have shape {shapes}, got {array.shape}.{cure}")
    if array.size == 0 and not empty:
        raise InvalidInput(f"{name} is empty: at least one sample is needed, got shape {array.shape}.")
    return array


def _to_array(name: str, value: Any) -> Numbers:
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value  # the usual case; the rest of this function handles all others
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
        if array.dtype.kind == "O" and any(isinstance(item, (np.datetime64, np.timedelta64)) for item in array.flat):
            # float() takes the number of seconds, minutes or years, each in its own unit.
            raise InvalidInput(f"{name} must be numeric, got times or durations: convert them to one unit first.")
        # numpy converts a list of integers and floats, or of integers of both signs, to floats.
        converted = not isinstance(value, np.ndarray) and array.dtype == np.float64 and (np.abs(array) >= EXACT).any()
        _check_exact(name, value if converted else array)
        # Decimals, None and mixed columns are arrays of objects.
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
        # A nullable column has no numpy dtype. As float64, its nulls are NaN.
        wider = native.dtype in (nw.Int128, nw.UInt128)
        return native.cast(nw.Float64).to_numpy() if wider or native.is_null().any() else native.to_numpy()
    if isinstance(native, nw.DataFrame):
        return native.to_numpy()
    return value


def _check_exact(name: str, value: Any) -> None:
    if _beyond_float(value):
        refuse_large_integers(name)


def _beyond_float(value: Any) -> bool:
    """Return whether an exact number (an integer, a decimal, a fraction) exceeds `EXACT`.

    Floats of at most 64 bits never do. A wider float does if its conversion to float64 changes it.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        if value.dtype.kind in "iu" and value.dtype.itemsize == 8 and value.size:
            return int(value.max()) > EXACT or int(value.min()) < -EXACT
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            large = value[np.isfinite(value) & (np.abs(value) > EXACT)]
            with np.errstate(over="ignore"):
                return bool((large != large.astype(np.float64)).any())
        return False
    if hasattr(value, "as_py"):  # a pyarrow scalar
        value = value.as_py()
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value) > EXACT
    if isinstance(value, Rational):
        fraction: Any = value
        return bool(abs(fraction) > EXACT)
    if isinstance(value, np.ndarray):
        return any(map(_beyond_float, value.flat))
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and any(map(_beyond_float, value))


def refuse_large_integers(name: str) -> NoReturn:
    """Raise for a column with integers that float64 cannot represent."""
    raise InvalidInput(f"{name} has integers beyond 2**53, where float64 rounds integers: subtract an offset first.")


def check_lengths(**columns: Any) -> None:
    """Raise unless all columns have as many rows as the first one. A column that is None is skipped.

    Examples
    --------
    >>> check_lengths(y=[1.0, 2.0], groups=["a"])
    Traceback (most recent call last):
        ...
    pacband.exceptions.InvalidInput: y and groups must have one length, got 2 and 1.
    """
    lengths = {
        name: column.shape[0] if hasattr(column, "shape") else len(column)
        for name, column in columns.items()
        if column is not None
    }
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise InvalidInput(f"{first} and {name} must have one length, got {lengths[first]} and {length}.")


def check_same_rows(**columns: Any) -> None:
    """Raise if row labels or column names show that columns do not match by position.

    Columns with a pandas index must have the same index. Frames with the same column names must have them in the same
    order. In a tuple of columns, each column is checked.
    """
    parts = [(name, part) for name, column in columns.items() for part in _flatten(column)]
    indexes = [
        (name, part.index)
        for name, part in parts
        if hasattr(part, "index") and not callable(part.index) and hasattr(part.index, "equals")
    ]
    for name, index in indexes[1:]:
        if not indexes[0][1].equals(index):
            raise InvalidInput(
                f"{_name_both(indexes[0][0], name)} must have the same index, got different ones: align them, or pass "
                ".to_numpy() of both to match rows by position."
            )
    frames = [(name, names) for name, part in parts if (names := _column_names(part))]
    for name, names in frames[1:]:
        first, order = frames[0]
        if names != order and set(names) == set(order):
            raise InvalidInput(
                f"{_name_both(first, name)} must have their columns in the same order, got {order} and {names}."
            )


def _name_both(first: str, second: str) -> str:
    return f"{first} and {second}" if first != second else f"both parts of {first}"


def _column_names(column: Any) -> list[Any]:
    names = getattr(column, "column_names", getattr(column, "columns", None))
    return [] if names is None or callable(names) else list(names)


def _flatten(column: Any) -> Iterator[Any]:
    if isinstance(column, tuple):
        for part in column:
            yield from _flatten(part)
    else:
        yield column


def _describe(value: Any) -> str:
    return f"{type(value).__name__} of shape {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value)[:80]


def refuse_nonfinite(name: str, array: Floats) -> None:
    """Raise if a number is NaN or infinite, and name its row."""
    finite = np.isfinite(array)
    if not finite.all():
        raise InvalidInput(f"{name} must be finite: it is NaN or infinite in {name_rows(~finite)}.")


def name_rows(bad: npt.NDArray[np.bool_], most: int = 3) -> str:
    """Return the number of marked rows and the first few of them: '5 rows, the first 2, 17, 40 (counting from 0)'."""
    rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
    if len(rows) == 1:
        return f"1 row, row {rows[0]} (counting from 0)"
    shown = ", ".join(str(row) for row in rows[:most])
    return f"{len(rows)} rows, the first {shown} (counting from 0)"


def blocks(n_rows: int, width: int = 1, *, size: int | None = None) -> Iterator[slice]:
    """Yield consecutive slices that cover all rows; rows of more numbers than one (`width`) make smaller blocks.

    With `size`, a block has so many rows.
    """
    size = max(1, _BLOCK // width) if size is None else size
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
