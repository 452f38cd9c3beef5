"""Write plain values and arrays as JSON and raw bytes. `pacband.models.values` reads them.

A number, a text, a boolean or None is written as itself. Any other value is a JSON list whose first entry names its
type: ``["list", …]``, ``["array", 3]``, ``["object", 7]``. All arrays are in one block of bytes, one after the other. A
table states the type, order and shape of each array, so that every size is known before anything is read. Objects are
described in `pacband.models.objects`. A file names no function, class or module of Python, except the names on the
lists of `pacband.models.names`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pacband.exceptions import InvalidInput
from pacband.models.names import DTYPES, FUNCTIONS, SCALARS, SPARSE, TYPES
from pacband.models.values import LARGEST

__all__ = ["Arrays", "encode"]


class Arrays:
    """Collect the arrays of a model. An array that is used several times is written once."""

    def __init__(self) -> None:
        self.table: list[list[Any]] = []
        self.parts: list[bytes] = []
        self._known: dict[int, tuple[int, Any]] = {}

    def add(self, array: Any) -> int:
        """Add an array of numbers, and return its place in the table."""
        if id(array) not in self._known:
            # The memory order is kept: it decides the order of sums, and so the last digit of predictions.
            columns = array.ndim > 1 and array.strides[0] < array.strides[-1] and not array.flags.c_contiguous
            code = array.dtype.newbyteorder("<")
            order = "F" if columns else "C"
            self._known[id(array)] = len(self.table), array
            self.table.append([f"{code.kind}{code.itemsize}", order, list(array.shape)])
            self.parts.append(np.asarray(array, dtype=code).tobytes(order))  # type: ignore[arg-type]
        return self._known[id(array)][0]


def encode(value: Any, arrays: Arrays, add_object: Callable[[Any], int]) -> Any:
    """Return a value as JSON. `add_object` adds an object to the table of objects, and returns its place."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        if abs(value) >= LARGEST:
            raise InvalidInput(f"the model cannot be saved: it contains an integer of {value.bit_length()} bits.")
        return value
    if kind is float:
        return value if math.isfinite(value) else ["float", str(value)]
    again = partial(encode, arrays=arrays, add_object=add_object)
    if kind in (list, tuple):
        return [kind.__name__, *map(again, value)]
    if kind is dict:
        return ["dict", *([again(key), again(item)] for key, item in value.items())]
    if kind is slice:
        return ["slice", again(value.start), again(value.stop), again(value.step)]
    if kind in SCALARS:
        return ["scalar", SCALARS[kind], again(value.item())]
    if kind is np.ndarray:
        return _encode_array(value, arrays, again)
    if kind is np.random.RandomState:
        name, key, position, has_gauss, gauss = value.get_state(legacy=True)
        if name == "MT19937":
            return [
                "random",
                arrays.add(np.array(key, dtype="<u4")),
                int(position),
                int(has_gauss),
                again(float(gauss)),
            ]
    for name, function in FUNCTIONS.items():
        if value is function or _is_same_partial(value, function):
            return ["function", name]
    for name, known in TYPES.items():
        if value is known:
            return ["type", name]
    if isinstance(value, np.dtype) and (value.kind in "OU" or value.str[1:] in DTYPES):
        return ["dtype", value.str.lstrip("<|=")]
    for name, matrix in SPARSE.items():
        if kind is matrix:
            # scipy uses these integer types when it rebuilds the matrix.
            wide = max((*value.shape, value.nnz)) >= 2**31
            places = [part.astype(np.int64 if wide else np.int32) for part in (value.indices, value.indptr)]
            parts = [arrays.add(part) for part in (value.data.copy(), *places)]
            return ["sparse", name, *parts, list(map(int, value.shape)), bool(value.has_sorted_indices)]
    return ["object", add_object(value)]


def _encode_array(array: Any, arrays: Arrays, again: Callable[[Any], Any]) -> Any:
    if array.dtype.kind == "U":
        return ["texts", list(array.shape), array.ravel().tolist()]
    if array.dtype.kind == "O":
        return ["objects", list(array.shape), *map(again, array.ravel())]
    if array.dtype.newbyteorder("<").str[1:] not in DTYPES:
        raise InvalidInput(f"the model cannot be saved: it contains an array of {array.dtype}.")
    return ["array", arrays.add(array)]


def _is_same_partial(value: Any, known: Any) -> bool:
    return (
        type(value) is partial
        and type(known) is partial
        and (value.func, value.args, value.keywords) == (known.func, known.args, known.keywords)
    )
