"""The content of a model file: a JSON document of objects, and the block of bytes that their arrays lie in."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from pacband.exceptions import InvalidInput
from pacband.models.names import DTYPES
from pacband.models.objects import Writer, read_objects
from pacband.models.trust import Trust
from pacband.models.values import Pool, Unsound, decode

__all__ = ["read_content", "write_content"]

# Arrays of texts take so many times the room of the document, and a little.
_TEXTS_TIMES = 8


def write_content(value: Any, trust: Trust) -> tuple[bytes, bytes]:
    """Return a value, and all objects in it, as a document and a block of arrays.

    What was written is read again and written again: it must be the same, so that whatever could not be read is seen by
    who saves and not by who loads.

    Raises
    ------
    InvalidInput
        If an object is of no declared kind and not trusted, or is not what its kind declares.
    """
    document, block = _written(value, trust)
    if not trust.needed:
        try:
            again = _written(read_content(document, block, trust), trust)
        except Unsound as error:
            raise InvalidInput(f"the model cannot be saved, for it could not be loaded: {error}.") from None
        if again != (document, block):
            raise InvalidInput("the model cannot be saved, for it would not be loaded as it is.")
    return document, block


def read_content(document: bytes, block: bytes, trust: Trust) -> Any:
    """Return the value of a document; `Unsound` where anything in it is not what is declared."""
    try:
        parsed = json.loads(document.decode("ascii"), parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Unsound("its document is no JSON of ours") from None
    if not isinstance(parsed, dict) or parsed.keys() != {"arrays", "objects", "value"}:
        raise Unsound("its document has other parts than arrays, objects and a value")
    arrays = Pool(_arrays(parsed["arrays"], block))
    arrays.room_for_texts += _TEXTS_TIMES * len(document)
    with warnings.catch_warnings():
        # What scikit-learn has to say of a fit, it said then.
        warnings.simplefilter("ignore")
        objects = read_objects(parsed["objects"], arrays, trust)
    return decode(parsed["value"], arrays, objects)


def _written(value: Any, trust: Trust) -> tuple[bytes, bytes]:
    writer = Writer(trust)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = writer.value(value)
    except RecursionError:
        raise InvalidInput("the model cannot be saved: it is nested too deep.") from None
    document = {"arrays": writer.arrays.table, "objects": writer.objects, "value": node}
    return json.dumps(document, separators=(",", ":")).encode("ascii"), b"".join(writer.arrays.parts)


def _arrays(table: Any, block: bytes) -> list[Any]:
    """Return the arrays, each with memory of its own; their sizes are compared with the block before any is made."""
    if not isinstance(table, list):
        raise Unsound("there is no table of arrays")
    places, start = [], 0
    for entry in table:
        if not isinstance(entry, list) or len(entry) != 3 or entry[0] not in DTYPES or entry[1] not in ("C", "F"):
            raise Unsound("an array is of no known type")
        code, order, shape = entry
        if not isinstance(shape, list) or len(shape) > 4 or not all(type(k) is int and 0 <= k < 2**48 for k in shape):
            raise Unsound("an array has no shape")
        dtype, count = np.dtype(f"<{code}"), math.prod(shape)
        places.append((dtype, order, tuple(shape), start, count))
        start += count * dtype.itemsize
    if start != len(block):
        raise Unsound("the arrays are larger or smaller than their block")
    return [_array(block, *place) for place in places]


def _array(block: bytes, dtype: Any, order: Any, shape: Sequence[int], start: int, count: int) -> Any:
    flat = np.frombuffer(block, dtype, count, start)
    if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise Unsound("a truth value is neither")
    found = flat.reshape(shape, order=order).copy(order)
    return found if found.dtype.isnative else found.astype(dtype.newbyteorder("="))


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found
