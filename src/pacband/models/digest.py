"""`model_digest`: the SHA-256 that identifies a model, whichever certificate is beside it.

A model file of pacband also holds its certificate, its training fingerprints and the versions of libraries. Its digest
is that of the predictors and scales alone, so that a model keeps its digest when it is certified again. Tables of
objects and arrays refer to each other by place. Here every reference is replaced by the digest of what it refers to, so
the digest does not depend on the places, and can be computed from a file without rebuilding the model.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from pacband.core.zip_files import begins_as_zip
from pacband.exceptions import CertificateError, InvalidInput
from pacband.models.archive import SCHEMA, Archive, read_archive
from pacband.models.kind import Kind

__all__ = ["archive_digest", "members_digest", "model_digest"]

# The parts of a model that predict.
_PARTS = ("names", "predictors", "scales")
# In the manifest of every model file of pacband.
_MARK = SCHEMA.encode()


def model_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 that identifies the model in a file, as `AboutModel.digest` states it.

    For a model file of pacband, it is the digest of the predictors and scales in it. The certificate of `pacband fit`,
    and of an estimator with `about`, states it as well, unless the model was saved with `trusted` types. For any other
    file, it is the SHA-256 of its bytes, as ``sha256sum`` prints it. The file is not executed.

    Parameters
    ----------
    path : path
        The file of the model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.onnx"
    >>> _ = path.write_bytes(b"abc")
    >>> model_digest(path)
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    """
    if os.path.isdir(path):
        raise InvalidInput(f"a model must be one file, got the directory {os.fspath(path)}.")
    if not begins_as_zip(path):
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    data, source = Path(path).read_bytes(), os.fspath(path)
    if _MARK not in data:
        # Other libraries write zip files too.
        return sha256(data).hexdigest()
    archive = read_archive(data, source)
    return archive_digest(archive, source)


def archive_digest(archive: Archive, source: str) -> str:
    """Return the digest of the model in an archive, without rebuilding the model."""
    try:
        return _digest(archive.model, archive.arrays, archive.objects)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise CertificateError(f"{source} is damaged: its objects do not make a model.") from None


def members_digest(members: Mapping[str, Any]) -> str | None:
    """Return the digest of fitted members; None if they cannot be written as data, as functions cannot."""
    from pacband.models.content import write_plainly

    parts = {
        "names": list(members),
        "predictors": [member.predictor for member in members.values()],
        "scales": [member.scale for member in members.values()],
    }
    try:
        document, block = write_plainly(parts, _Declared())
    except InvalidInput:
        return None
    return _digest(document, block, ())


class _Declared:
    """Allows every declared kind, because nothing is loaded; refuses what only skops can write."""

    def require(self, kind: Kind) -> None:
        """Allow this kind."""

    def write(self, value: Any, why: str = "") -> dict[str, Any]:
        """Raise: this object is of no declared kind."""
        raise InvalidInput(f"{why or type(value).__name__} cannot be written as data.")

    def read(self, entry: dict[str, Any]) -> Any:
        """Raise: nothing is read."""
        raise InvalidInput("nothing is read to compute a digest.")


def _digest(document: bytes, block: bytes, files: Sequence[bytes]) -> str:
    """Return the digest of the parts that predict, in the document and the arrays of a model file."""
    parsed = json.loads(document)
    places = _References(_array_digests(parsed["arrays"], block), files)
    for entry in parsed["objects"]:
        places.add(entry)
    kind, *pairs = parsed["value"]
    parts = dict(pairs)
    if kind != "dict":
        raise ValueError(kind)
    return _hash({name: places.resolve(parts[name]) for name in _PARTS})


class _References:
    """Replaces references to arrays and objects by their digests; see `pacband.models.encode` for the forms."""

    def __init__(self, arrays: list[str], files: Sequence[bytes]) -> None:
        self.arrays, self.files, self.objects = arrays, files, list[str]()

    def add(self, entry: dict[str, Any]) -> None:
        """Add the digest of the next object. It refers to earlier objects only."""
        if entry["kind"] == "trusted":
            self.objects.append(_hash(["trusted", sha256(self.files[entry["file"]]).hexdigest()]))
            return
        parts = {part: {name: self.resolve(node) for name, node in entry[part].items()} for part in _OBJECT_PARTS}
        self.objects.append(_hash({"kind": entry["kind"], **parts}))

    def resolve(self, node: Any) -> Any:
        """Return a value as JSON that refers to nothing by its place."""
        if not isinstance(node, list):
            return node
        kind, *rest = node
        if kind == "object":
            return [kind, self.objects[rest[0]]]
        if kind in _ARRAYS:
            first, last = _ARRAYS[kind]
            return [kind, *rest[:first], *(self.arrays[k] for k in rest[first:last]), *rest[last:]]
        if kind == "dict":
            return [kind, *([self.resolve(key), self.resolve(item)] for key, item in rest)]
        if kind in ("list", "tuple", "slice"):
            return [kind, *map(self.resolve, rest)]
        if kind == "objects":
            return [kind, rest[0], *map(self.resolve, rest[1:])]
        return node


_OBJECT_PARTS = ("parameters", "state")
# Where the places of arrays stand after the name of the form.
_ARRAYS = {"array": (0, 1), "sparse": (1, 4), "random": (0, 1)}


def _array_digests(table: Any, block: bytes) -> list[str]:
    """Return the digest of every array: of its type, order and shape, and its bytes."""
    found, start = [], 0
    for code, order, shape in table:
        # A code is a letter and the number of bytes, such as f8.
        size = math.prod(shape) * int(code[1:])
        piece = sha256(block[start : start + size]).hexdigest()
        found.append(_hash([code, order, shape, piece]))
        start += size
    return found


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()
