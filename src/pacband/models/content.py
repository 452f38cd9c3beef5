"""The content of a model file: a JSON document of objects, and one block of bytes with their arrays.

Reading is safe: the document must be JSON of the expected form, the sizes of the arrays must add up to the size of the
block before an array is made, and every object is rebuilt from checked data (`pacband.models.objects`).
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from pacband.exceptions import InvalidInput
from pacband.models.names import DTYPES
from pacband.models.objects import TrustedObjects, Writer, read_objects
from pacband.models.trust import Trust
from pacband.models.values import Pool, Unsound, decode

__all__ = ["read_content", "write_content", "write_plainly"]

# Arrays of texts may take this many times the size of the document in memory, in addition to a fixed amount.
_TEXTS_TIMES = 8


def write_content(value: Any, trust: Trust) -> tuple[bytes, bytes]:
    """Return a value, and all objects in it, as a document and a block of arrays.

    The result is read and written once more, and must be the same. So a model that could not be loaded is refused when
    it is saved.

    Raises
    ------
    InvalidInput
        If an object is of no declared kind and not trusted, or does not match the declaration of its kind.
    """
    document, block = write_plainly(value, trust)
    if not trust.needed:
        try:
            again = write_plainly(read_content(document, block, trust), trust)
        except Unsound as error:
            raise InvalidInput(f"the model cannot be saved, because it could not be loaded again: {error}.") from None
        if again != (document, block):
            raise InvalidInput("the model cannot be saved, because loading would change it.")
    return document, block


def read_content(document: bytes, block: bytes, trust: Trust) -> Any:
    """Return the value of a document, or raise `Unsound` if something does not match its declaration."""
    try:
        parsed = json.loads(
            document.decode("ascii"), parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_names
        )
    except (ValueError, RecursionError):
        raise Unsound("its document is not the JSON that pacband writes") from None
    if not isinstance(parsed, dict) or parsed.keys() != {"arrays", "objects", "value"}:
        raise Unsound("its document must have exactly the parts arrays, objects and value")
    arrays = Pool(_read_arrays(parsed["arrays"], block))
    arrays.room_for_texts += _TEXTS_TIMES * len(document)
    with warnings.catch_warnings():
        # scikit-learn gave its warnings when the model was fitted.
        warnings.simplefilter("ignore")
        objects = read_objects(parsed["objects"], arrays, trust)
    return decode(parsed["value"], arrays, objects)


def write_plainly(value: Any, trust: TrustedObjects) -> tuple[bytes, bytes]:
    """Return a value as a document and a block of arrays, without a check that it can be loaded."""
    writer = Writer(trust)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = writer.value(value)
    except RecursionError:
        raise InvalidInput("the model cannot be saved: its objects are nested too deeply.") from None
    document = {"arrays": writer.arrays.table, "objects": writer.objects, "value": node}
    return json.dumps(document, separators=(",", ":")).encode("ascii"), b"".join(writer.arrays.parts)


def _read_arrays(table: Any, block: bytes) -> list[Any]:
    """Return the arrays, each with its own memory. Checks all sizes against the block before it makes an array."""
    if not isinstance(table, list):
        raise Unsound("its table of arrays is not a list")
    places, start = [], 0
    for entry in table:
        if not isinstance(entry, list) or len(entry) != 3 or entry[0] not in DTYPES or entry[1] not in ("C", "F"):
            raise Unsound("an array has an unknown type")
        code, order, shape = entry
        if not isinstance(shape, list) or len(shape) > 4 or not all(type(k) is int and 0 <= k < 2**48 for k in shape):
            raise Unsound("an array has an invalid shape")
        dtype, count = np.dtype(f"<{code}"), math.prod(shape)
        places.append((dtype, order, tuple(shape), start, count))
        start += count * dtype.itemsize
    if start != len(block):
        raise Unsound("the arrays do not fill their block of bytes exactly")
    return [_read_array(block, *place) for place in places]


def _read_array(block: bytes, dtype: Any, order: Any, shape: Sequence[int], start: int, count: int) -> Any:
    flat = np.frombuffer(block, dtype, count, start)
    if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise Unsound("a boolean is neither 0 nor 1")
    found = flat.reshape(shape, order=order).copy(order)
    return found if found.dtype.isnative else found.astype(dtype.newbyteorder("="))


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found
