"""What every kind of certificate can do: convert itself to JSON, and save itself."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pacband.core.documents import document_digest, write_document
from pacband.exceptions import InvalidInput
from pacband.scores import Gauge, Share

__all__ = [
    "SCHEMA",
    "SCHEMA_VERSION",
    "Portable",
    "decode",
    "decode_gauge",
    "encode",
    "encode_gauge",
    "refuse_existing",
]

SCHEMA = "pacband/certificate"
SCHEMA_VERSION = 1


class Portable(ABC):
    """A value that converts to JSON and back. It is saved completely or not at all."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-ready values, as `save` writes them."""

    @classmethod
    @abstractmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a certificate from `to_dict`."""

    @abstractmethod
    def stated(self) -> dict[str, Any]:
        """Return what the certificate states: `to_dict` without the words and numbers that follow from the others."""

    @property
    def digest(self) -> str:
        """A SHA-256 of what it states. Monitors and successors identify a certificate by it.

        The promise in words and the numbers that follow from the others are left out, so that the digest stays the same
        if a later pacband words the promise differently.
        """
        return document_digest(SCHEMA, SCHEMA_VERSION, self.stated())

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> Path:
        """Write the certificate to a JSON file, atomically: a crash leaves the old file or the new one.

        `pacband.load` accepts only the bytes that were written: do not edit or reformat the file.

        Parameters
        ----------
        path : path
            The file.
        overwrite : bool
            Whether an existing file is replaced. If not, it is refused, because a certificate that is issued again and
            again until it looks good is void: its δ is for one choice that was made beforehand.
        """
        if not overwrite:
            refuse_existing(path)
        return write_document(path, SCHEMA, SCHEMA_VERSION, self.to_dict())


def refuse_existing(path: str | os.PathLike[str]) -> None:
    """Raise if there is a file with content at this path, which may be a certificate that was issued before."""
    if os.path.isfile(path) and os.path.getsize(path):
        raise InvalidInput(
            f"{os.fspath(path)} exists. If it is a certificate of the same rows, do not issue one after another until "
            "the bound looks good: the confidence 1 − δ is for one choice, made before looking at the scores. "
            "Save to another file, or pass overwrite=True to replace this one."
        )


def encode(value: Any) -> Any:
    """Return the value for JSON: tuples become lists, and infinite floats become words, because JSON has none."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return [encode(item) for item in value] if isinstance(value, tuple) else value


def decode(value: Any) -> Any:
    """Undo `encode`."""
    if value in ("Infinity", "-Infinity"):
        return float(value)
    return tuple(decode(item) for item in value) if isinstance(value, list) else value


def encode_gauge(gauge: Gauge) -> Any:
    """Return a gauge for JSON."""
    return {"share": gauge.share, "of": encode(gauge.of)} if isinstance(gauge, Share) else encode(gauge)


def decode_gauge(content: Any) -> Any:
    """Undo `encode_gauge`."""
    return Share(content["share"], of=decode(content["of"])) if isinstance(content, dict) else decode(content)
