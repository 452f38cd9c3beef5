"""Plain values and arrays as JSON and raw bytes, and back.

A number, a text, a truth value or None stands for itself. All else is a JSON list whose first entry says what it is:
``["list", …]``, ``["array", 3]``, ``["object", 7]``. Arrays lie one after the other in one block of bytes; a table says
the type, order and shape of each, so that every size is known before anything is read. Objects are described in
`pacband.models.objects`. Nothing in a file names a function, a class or a module of Python, but for the entries of the
closed lists below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn.utils.validation import check_array

from pacband.exceptions import InvalidInput
from pacband.scale.base import _dense
from pacband.scale.parzen import _nothing

__all__ = ["DTYPES", "Arrays", "Unsound", "decode", "encode", "refuse"]

# The types of arrays and scalars, as they lie in the file: of fixed width, little end first.
DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")
_SCALARS = {np.dtype(f"<{code}").type: code for code in DTYPES}
# What a parameter such as the `dtype` of an encoder may be.
_TYPES: dict[str, Any] = {"float": float, "int": int, "bool": bool, "str": str, "object": object} | {
    np.dtype(code).name: np.dtype(code).type for code in DTYPES
}
_SPARSE = {
    "csr": csr_array, "csc": csc_array, "csr_matrix": csr_matrix, "csc_matrix": csc_matrix,
}  # fmt: skip
_UFUNCS = (
    "abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh",
    "deg2rad", "degrees", "exp", "exp2", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "negative",
    "positive", "rad2deg", "radians", "reciprocal", "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc",
)  # fmt: skip


def _scores() -> dict[str, Callable[..., Any]]:
    from sklearn import feature_selection as selection

    names = ("f_regression", "r_regression", "mutual_info_regression", "f_classif", "chi2", "mutual_info_classif")
    return {f"sklearn.{name}": getattr(selection, name) for name in names}


# The functions that a file may ask for, by their names here. How boosting checks numbers beside categories is a partial
# of scikit-learn's check, and is made here anew.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"numpy.{name}": getattr(np, name) for name in _UFUNCS},
    **_scores(),
    "pacband.dense": _dense,
    "pacband.nothing": _nothing,
    "sklearn.check_floats": partial(check_array, dtype=[np.float64], ensure_all_finite=False),
}
_DEEPEST = 40
_LARGEST = 2**64
_LONGEST_TEXTS = 1 << 20


class Unsound(ValueError):
    """What a file holds is not what is declared; the message says what, with nothing but names of ours in it."""


def refuse(rule: str) -> None:
    """Raise `Unsound`."""
    raise Unsound(rule)


class Arrays:
    """Arrays on their way into a file: each once, however many hold it."""

    def __init__(self) -> None:
        self.table: list[list[Any]] = []
        self.parts: list[bytes] = []
        self._known: dict[int, tuple[int, Any]] = {}

    def add(self, array: Any) -> int:
        """Return the place of an array of numbers in the table."""
        if id(array) not in self._known:
            # Whether rows or columns lie together decides how sums are taken, and so their last digit.
            columns = array.ndim > 1 and array.strides[0] < array.strides[-1] and not array.flags.c_contiguous
            code = array.dtype.newbyteorder("<")
            order = "F" if columns else "C"
            self._known[id(array)] = len(self.table), array
            self.table.append([f"{code.kind}{code.itemsize}", order, list(array.shape)])
            self.parts.append(np.asarray(array, dtype=code).tobytes(order))  # type: ignore[arg-type]
        return self._known[id(array)][0]


def encode(value: Any, arrays: Arrays, add_object: Callable[[Any], int]) -> Any:
    """Return a value as JSON; what is not plain goes to `add_object`, which returns its place."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        if abs(value) >= _LARGEST:
            raise InvalidInput(f"the model cannot be saved: it holds an integer of {value.bit_length()} bits.")
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
    if kind in _SCALARS:
        return ["scalar", _SCALARS[kind], again(value.item())]
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
    for name, function in _FUNCTIONS.items():
        if value is function or _is_same_partial(value, function):
            return ["function", name]
    for name, known in _TYPES.items():
        if value is known:
            return ["type", name]
    if isinstance(value, np.dtype) and (value.kind in "OU" or value.str[1:] in DTYPES):
        return ["dtype", value.str.lstrip("<|=")]
    for name, matrix in _SPARSE.items():
        if kind is matrix:
            # As scipy will make them again.
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
        raise InvalidInput(f"the model cannot be saved: it holds an array of {array.dtype}.")
    return ["array", arrays.add(array)]


def _is_same_partial(value: Any, known: Any) -> bool:
    return (
        type(value) is partial
        and type(known) is partial
        and (value.func, value.args, value.keywords) == (known.func, known.args, known.keywords)
    )


def decode(node: Any, arrays: list[Any], objects: list[Any], depth: int = 0) -> Any:
    """Return the value of a JSON node; arrays and objects are those read before."""
    if not isinstance(node, list):
        if isinstance(node, dict) or (isinstance(node, int) and abs(node) >= _LARGEST):
            refuse("a value is neither plain nor a list")
        return node
    if depth > _DEEPEST:
        refuse(f"values are nested deeper than {_DEEPEST}")
    tag, *rest = node if node else [None]
    reader = _READERS.get(tag) if isinstance(tag, str) else None
    if reader is None:
        raise Unsound("a value is of no known type")
    return reader(rest, arrays, objects, depth + 1)


def _many(rest: list[Any], arrays: list[Any], objects: list[Any], depth: int) -> list[Any]:
    return [decode(node, arrays, objects, depth) for node in rest]


def _read_tuple(*place: Any) -> tuple[Any, ...]:
    return tuple(_many(*place))


def _read_dict(rest: list[Any], arrays: list[Any], objects: list[Any], depth: int) -> dict[Any, Any]:
    found = {}
    for pair in rest:
        if not isinstance(pair, list) or len(pair) != 2:
            refuse("an entry of a dict is no pair")
        key = decode(pair[0], arrays, objects, depth)
        if type(key) not in (str, int, float, bool, type(None), *_SCALARS) or key in found:
            refuse("a key of a dict is not plain, or there twice")
        found[key] = decode(pair[1], arrays, objects, depth)
    return found


def _read_slice(*place: Any) -> slice:
    ends = _many(*place)
    if len(ends) != 3 or not all(type(end) in (int, str, type(None)) for end in ends):
        refuse("a slice has other than three plain ends")
    return slice(*ends)


def _read_float(rest: list[Any], *_: Any) -> float:
    if rest not in (["nan"], ["inf"], ["-inf"]):
        refuse("a float is none")
    return float(rest[0])


def _read_scalar(rest: list[Any], arrays: list[Any], objects: list[Any], depth: int) -> Any:
    if len(rest) != 2 or rest[0] not in DTYPES:
        refuse("a scalar is of no known type")
    value = decode(rest[1], arrays, objects, depth)
    dtype = np.dtype(f"<{rest[0]}")
    if type(value) is not {"f": float, "b": bool}.get(dtype.kind, int):
        refuse("a scalar does not fit its type")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        refuse("a scalar does not fit its type")
    return dtype.type(value)


def _read_array(rest: list[Any], arrays: list[Any], *_: Any) -> Any:
    return arrays[_place(rest, arrays)]


def _read_object(rest: list[Any], _: Any, objects: list[Any], __: int) -> Any:
    return objects[_place(rest, objects)]


def _place(rest: list[Any], of: list[Any]) -> int:
    if len(rest) != 1 or type(rest[0]) is not int or not 0 <= rest[0] < len(of):
        refuse("a reference leads to nothing that was read before")
    return int(rest[0])


def _shape(shape: Any, n_items: int) -> tuple[int, ...]:
    if (
        not isinstance(shape, list)
        or len(shape) > 4
        or not all(type(size) is int and 0 <= size < 2**48 for size in shape)
    ):
        refuse("a shape is none")
    if math.prod(shape) != n_items:
        refuse("an array has more or fewer entries than its shape")
    return tuple(shape)


def _read_texts(rest: list[Any], *_: Any) -> Any:
    if len(rest) != 2 or not isinstance(rest[1], list) or not all(type(text) is str for text in rest[1]):
        refuse("an array of texts holds others")
    texts = np.array(rest[1], dtype=str)
    if texts.nbytes > _LONGEST_TEXTS + 64 * sum(map(len, rest[1])):
        # All entries take the room of the longest.
        refuse("an array of texts holds one that is far longer than the others")
    return texts.reshape(_shape(rest[0], len(rest[1])))


def _read_objects(rest: list[Any], arrays: list[Any], objects: list[Any], depth: int) -> Any:
    items = _many(rest[1:], arrays, objects, depth)
    if not all(type(item) in (str, int, float, bool, type(None), np.ndarray, *_SCALARS) for item in items):
        refuse("an array of objects holds others than plain ones")
    found = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        found[k] = item
    return found.reshape(_shape(rest[0] if rest else None, len(items)))


def _read_random(rest: list[Any], arrays: list[Any], objects: list[Any], depth: int) -> Any:
    if len(rest) != 4 or type(rest[1]) is not int or rest[2] not in (0, 1):
        refuse("a random state is none")
    key, gauss = arrays[_place(rest[:1], arrays)], decode(rest[3], arrays, objects, depth)
    # Beyond its end the generator would read what is not its own.
    if key.dtype != np.dtype("<u4") or key.shape != (624,) or not 0 <= rest[1] <= 624 or type(gauss) is not float:
        refuse("a random state is none")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, rest[1], rest[2], gauss))
    return state


def _named(names: Mapping[str, Any]) -> Callable[..., Any]:
    def read(rest: list[Any], *_: Any) -> Any:
        if len(rest) != 1 or not isinstance(rest[0], str) or rest[0] not in names:
            refuse("a name is on no list of ours")
        return names[rest[0]]

    return read


def _read_dtype(rest: list[Any], *_: Any) -> Any:
    if len(rest) != 1 or not isinstance(rest[0], str):
        refuse("a dtype is none")
    name = rest[0]
    if name not in (*DTYPES, "O") and not (
        name.startswith("U") and name[1:].isascii() and name[1:].isdigit() and len(name) < 6
    ):
        refuse("a dtype is on no list of ours")
    return np.dtype(name if name == "O" else f"<{name}")


def _read_sparse(rest: list[Any], arrays: list[Any], *_: Any) -> Any:
    if len(rest) != 6 or rest[0] not in _SPARSE or type(rest[5]) is not bool:
        refuse("a sparse matrix is none")
    data, indices, indptr = (arrays[_place([place], arrays)] for place in rest[1:4])
    shape = rest[4]
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(size) is int and 0 <= size < 2**31 for size in shape)
    ):
        refuse("a sparse matrix has no shape")
    if any(part.ndim != 1 or part.dtype.kind != "i" for part in (indices, indptr)) or indices.dtype != indptr.dtype:
        refuse("a sparse matrix has no indices")
    if data.ndim != 1 or data.dtype.kind not in "fiub" or indices.dtype.itemsize < 4 or len(data) != len(indices):
        refuse("a sparse matrix has no data")
    rows, columns = shape if rest[0].startswith("csr") else shape[::-1]
    if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        refuse("a sparse matrix has rows that do not end")
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        refuse("a sparse matrix has entries beyond its columns")
    matrix = _SPARSE[rest[0]]((data, indices, indptr), shape=tuple(shape))
    if bool(matrix.has_sorted_indices) != rest[5]:
        refuse("a sparse matrix is in another order than it says")
    return matrix


_READERS: dict[str, Callable[..., Any]] = {
    "list": _many,
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
    "function": _named(_FUNCTIONS),
    "type": _named(_TYPES),
    "dtype": _read_dtype,
    "sparse": _read_sparse,
}
