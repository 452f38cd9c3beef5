"""Read and check plain values: the JSON that `pacband.models.encode` writes.

Every value is checked before it is used: types and functions must be on the lists of `pacband.models.names`, sizes must
match, and references must point to arrays and objects that were read before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pacband.models.names import DTYPES, FUNCTIONS, SCALARS, SPARSE, TYPES

__all__ = ["LARGEST", "Pool", "Unsound", "decode"]

_DEEPEST = 40
LARGEST = 2**64


class Unsound(ValueError):
    """The content of a file does not match its declaration. The message contains no text from the file."""


class Pool(list[Any]):
    """The arrays of a file, and the number of bytes that arrays of texts may still take."""

    room_for_texts = 64 << 20


def decode(node: Any, arrays: Pool, objects: list[Any], depth: int = 0) -> Any:
    """Return the value of a JSON node. `arrays` and `objects` were read before."""
    if not isinstance(node, list):
        if isinstance(node, dict) or (isinstance(node, int) and abs(node) >= LARGEST):
            raise Unsound("a value is neither plain nor a list")
        return node
    if depth > _DEEPEST:
        raise Unsound(f"values are nested deeper than {_DEEPEST}")
    tag, *rest = node if node else [None]
    reader = _READERS.get(tag) if isinstance(tag, str) else None
    if reader is None:
        raise Unsound("a value has an unknown type")
    return reader(rest, arrays, objects, depth + 1)


def _read_items(rest: list[Any], arrays: Pool, objects: list[Any], depth: int) -> list[Any]:
    return [decode(node, arrays, objects, depth) for node in rest]


def _read_tuple(*place: Any) -> tuple[Any, ...]:
    return tuple(_read_items(*place))


def _read_dict(rest: list[Any], arrays: Pool, objects: list[Any], depth: int) -> dict[Any, Any]:
    found = {}
    for pair in rest:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Unsound("an entry of a dict is not a pair")
        key = decode(pair[0], arrays, objects, depth)
        if type(key) not in (str, int, float, bool, type(None), *SCALARS) or key in found:
            raise Unsound("a key of a dict is not a plain value, or occurs twice")
        found[key] = decode(pair[1], arrays, objects, depth)
    return found


def _read_slice(*place: Any) -> slice:
    ends = _read_items(*place)
    if len(ends) != 3 or not all(type(end) in (int, str, type(None)) for end in ends):
        raise Unsound("a slice does not have three plain ends")
    return slice(*ends)


def _read_float(rest: list[Any], *_: Any) -> float:
    if rest not in (["nan"], ["inf"], ["-inf"]):
        raise Unsound("a float is invalid")
    return float(rest[0])


def _read_scalar(rest: list[Any], arrays: Pool, objects: list[Any], depth: int) -> Any:
    if len(rest) != 2 or rest[0] not in DTYPES:
        raise Unsound("a scalar has an unknown type")
    value = decode(rest[1], arrays, objects, depth)
    dtype = np.dtype(f"<{rest[0]}")
    if type(value) is not {"f": float, "b": bool}.get(dtype.kind, int):
        raise Unsound("a scalar does not fit its type")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise Unsound("a scalar does not fit its type")
    return dtype.type(value)


def _read_array(rest: list[Any], arrays: Pool, *_: Any) -> Any:
    return arrays[_place(rest, arrays)]


def _read_object(rest: list[Any], _: Any, objects: list[Any], __: int) -> Any:
    return objects[_place(rest, objects)]


def _place(rest: list[Any], of: list[Any]) -> int:
    if len(rest) != 1 or type(rest[0]) is not int or not 0 <= rest[0] < len(of):
        raise Unsound("a reference does not point to an earlier entry")
    return int(rest[0])


def _shape(shape: Any, n_items: int) -> tuple[int, ...]:
    if (
        not isinstance(shape, list)
        or len(shape) > 4
        or not all(type(size) is int and 0 <= size < 2**48 for size in shape)
    ):
        raise Unsound("a shape is invalid")
    if math.prod(shape) != n_items:
        raise Unsound("an array has more or fewer entries than its shape")
    return tuple(shape)


def _read_texts(rest: list[Any], arrays: Pool, *_: Any) -> Any:
    if len(rest) != 2 or not isinstance(rest[1], list) or not all(type(text) is str for text in rest[1]):
        raise Unsound("an array of texts contains other values")
    # In numpy every entry takes as much memory as the longest one.
    arrays.room_for_texts -= 4 * len(rest[1]) * max(map(len, rest[1]), default=0)
    if arrays.room_for_texts < 0:
        raise Unsound("texts take too much memory: one is far longer than the others")
    return np.array(rest[1], dtype=str).reshape(_shape(rest[0], len(rest[1])))


def _read_objects(rest: list[Any], arrays: Pool, objects: list[Any], depth: int) -> Any:
    items = _read_items(rest[1:], arrays, objects, depth)
    if not all(type(item) in (str, int, float, bool, type(None), np.ndarray, *SCALARS) for item in items):
        raise Unsound("an array of objects contains values that are not plain")
    found = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        found[k] = item
    return found.reshape(_shape(rest[0] if rest else None, len(items)))


def _read_random(rest: list[Any], arrays: Pool, objects: list[Any], depth: int) -> Any:
    if len(rest) != 4 or type(rest[1]) is not int or rest[2] not in (0, 1):
        raise Unsound("a random state is invalid")
    key, gauss = arrays[_place(rest[:1], arrays)], decode(rest[3], arrays, objects, depth)
    # With a position beyond its end, the generator would read foreign memory.
    if key.dtype != np.dtype("<u4") or key.shape != (624,) or not 0 <= rest[1] <= 624 or type(gauss) is not float:
        raise Unsound("a random state is invalid")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, rest[1], rest[2], gauss))
    return state


def _read_name(names: Mapping[str, Any]) -> Callable[..., Any]:
    def read(rest: list[Any], *_: Any) -> Any:
        if len(rest) != 1 or not isinstance(rest[0], str) or rest[0] not in names:
            raise Unsound("a name is not on the list of allowed names")
        return names[rest[0]]

    return read


def _read_dtype(rest: list[Any], *_: Any) -> Any:
    if len(rest) != 1 or not isinstance(rest[0], str):
        raise Unsound("a dtype is invalid")
    name = rest[0]
    if name not in (*DTYPES, "O") and not (
        name.startswith("U") and name[1:].isascii() and name[1:].isdigit() and len(name) < 6
    ):
        raise Unsound("a dtype is not on the list of allowed dtypes")
    return np.dtype(name if name == "O" else f"<{name}")


def _read_sparse(rest: list[Any], arrays: Pool, *_: Any) -> Any:
    if len(rest) != 6 or rest[0] not in SPARSE or type(rest[5]) is not bool:
        raise Unsound("a sparse matrix is invalid")
    data, indices, indptr = (arrays[_place([place], arrays)] for place in rest[1:4])
    shape = rest[4]
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(size) is int and 0 <= size < 2**31 for size in shape)
    ):
        raise Unsound("a sparse matrix has an invalid shape")
    if any(part.ndim != 1 or part.dtype.kind != "i" for part in (indices, indptr)) or indices.dtype != indptr.dtype:
        raise Unsound("a sparse matrix has invalid indices")
    if data.ndim != 1 or data.dtype.kind not in "fiub" or indices.dtype.itemsize < 4 or len(data) != len(indices):
        raise Unsound("a sparse matrix has invalid data")
    rows, columns = shape if rest[0].startswith("csr") else shape[::-1]
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise Unsound("a sparse matrix has invalid row pointers")
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        raise Unsound("a sparse matrix has entries beyond its columns")
    matrix = SPARSE[rest[0]]((data, indices, indptr), shape=tuple(shape))
    if bool(matrix.has_sorted_indices) != rest[5]:
        raise Unsound("a sparse matrix is not in its stated order")
    return matrix


_READERS: dict[str, Callable[..., Any]] = {
    "list": _read_items,
    "tuple": _read_tuple,
    "dict": _read_dict,
    "slice": _read_slice,
    "float": _read_float,
    "scalar": _read_scalar,
    "array": _read_array,
    "object": _read_object,
    "texts": _read_texts,
    "objects": _read_objects,
    "random": _read_random,
    "function": _read_name(FUNCTIONS),
    "type": _read_name(TYPES),
    "dtype": _read_dtype,
    "sparse": _read_sparse,
}
