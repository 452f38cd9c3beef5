"""Models written and read by skops, which rebuilds nothing but what is trusted.

Plain values, arrays and the functions of numpy and scipy are left to the judgement of skops. skops also trusts every
estimator of scikit-learn; here, of all other packages, only the types are trusted that are known to be harmless
(`pacband.models.types`), or named by the user.
"""

from __future__ import annotations

import json
import platform
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from sklearn.exceptions import InconsistentVersionWarning

from pacband import __version__
from pacband.exceptions import CertificateError, InvalidInput
from pacband.models.types import KNOWN

__all__ = ["UntrustedTypes", "dump", "names_of", "rebuild", "versions"]

# Earlier ones could be made to call what they did not list: methods and operators before 0.12 (CVE-2025-54412,
# CVE-2025-54413), any function of numpy.random before 0.15.
_OLDEST_SKOPS = (0, 15)
# The packages whose types skops judges by itself.
_LEFT_TO_SKOPS = ("builtins.", "collections.", "numpy.", "scipy.")
# What a dump may unpack to: so much, and so many times its size. What a model needs beyond is stored unpacked.
_UNPACKED_BYTES, _UNPACKED_TIMES = 64 << 20, 50

_VERSIONED = ("scikit-learn", "numpy", "scipy", "skops")


class UntrustedTypes(CertificateError):
    """A model file holds types that nobody has trusted; they are its attribute `types`."""

    def __init__(self, source: str, types: Sequence[str]) -> None:
        super().__init__(
            f"{source} holds {len(types)} type(s) that pacband does not know: {', '.join(types)}. If you trust the "
            f"packages they belong to, and the file, load it with trusted={list(types)}."
        )
        self.source = source
        self.types = tuple(types)


def versions() -> dict[str, str]:
    """Return the versions that a saved model depends on."""
    return {"pacband": __version__, "python": platform.python_version(), **{name: version(name) for name in _VERSIONED}}


def dump(parts: Any) -> bytes:
    """Return the parts of a model as skops writes them, or raise where they could not be read again."""
    skops = _skops()
    try:
        data: bytes = skops.dumps(parts, compression=ZIP_DEFLATED)
        if _declared_bytes(data) > _most_bytes(data):
            data = skops.dumps(parts, compression=ZIP_STORED)
        strange = _strange(data)
    except Exception as error:  # an estimator of a third party may refuse in any way
        raise InvalidInput(f"the model cannot be saved: {type(error).__name__}: {error}") from error
    for name in strange:
        if not _importable(name):
            raise InvalidInput(
                f"the model cannot be saved: it holds {name}, which cannot be imported by that name. Functions and "
                "classes must stand in a module, under a name of their own."
            )
    return data


def rebuild(data: bytes, source: str, saved_with: dict[str, str], trusted: Sequence[str | type] = ()) -> dict[str, Any]:
    """Return the parts of a model, once all of its types are trusted; their content is still to be checked."""
    accepted = KNOWN | names_of(trusted)
    skops = _skops()
    try:
        data = _unpacked(data)
        strange = sorted(set(_strange(data)) - accepted)
        parts: dict[str, Any] = {}
        if not strange:
            with warnings.catch_warnings():
                # One for every tree of a forest: said once, below.
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                parts = skops.loads(data, trusted=sorted(accepted))
    except Exception as error:  # a class that has moved, an array that is short: it shows in any way
        raise CertificateError(
            f"{source} cannot be rebuilt here: {type(error).__name__}: {error}. It was saved with {_said(saved_with)}; "
            f"this is {_said(versions())}."
        ) from error
    if strange:
        raise UntrustedTypes(source, strange)
    if saved_with["scikit-learn"] != version("scikit-learn"):
        warnings.warn(
            f"{source} was saved with scikit-learn {saved_with['scikit-learn']}, and this is "
            f"{version('scikit-learn')}: the model may predict otherwise than the one that was certified. Calibrate it "
            "again, or use the version it was saved with.",
            stacklevel=4,
        )
    return parts


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError:
        raise InvalidInput("model files need the package skops: pip install 'pacband[cli]'.") from None
    if tuple(map(int, re.findall(r"\d+", skops.__version__)[:2])) < _OLDEST_SKOPS:
        raise InvalidInput(
            f"model files need skops {'.'.join(map(str, _OLDEST_SKOPS))} or newer, for earlier ones let a crafted file "
            f"run code; this is {skops.__version__}: pip install --upgrade 'pacband[cli]'."
        )
    return skops.io


def _unpacked(data: bytes) -> bytes:
    """Return a dump with its files stored as they are, or raise where it would unpack to too much.

    A zip file may lie about the sizes it declares, so that each file is read to its declared size and no further.
    """
    if _declared_bytes(data) > _most_bytes(data):
        raise ValueError(f"it would unpack to {_declared_bytes(data)} bytes, more than {_most_bytes(data)}")
    buffer = BytesIO()
    with ZipFile(BytesIO(data)) as packed, ZipFile(buffer, "w", ZIP_STORED) as stored:
        for entry in {entry.filename: entry for entry in packed.infolist()}.values():
            with packed.open(entry) as file:
                stored.writestr(entry.filename, file.read(entry.file_size))
    return buffer.getvalue()


def _declared_bytes(data: bytes) -> int:
    with ZipFile(BytesIO(data)) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _most_bytes(data: bytes) -> int:
    return _UNPACKED_BYTES + _UNPACKED_TIMES * len(data)


def _strange(data: bytes) -> list[str]:
    """Return the types in a dump that are not known, whether or not skops trusts them."""
    with ZipFile(BytesIO(data)) as archive:
        schema = json.loads(archive.read("schema.json"))
    named = {name for name in _types_in(schema) if not name.startswith(_LEFT_TO_SKOPS)}
    return sorted(named.union(_skops().get_untrusted_types(data=data)) - KNOWN)


def _types_in(schema: Any) -> Iterator[str]:
    """Yield the name of every type in the description of a dump."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__class__" in node:
                yield f"{node.get('__module__')}.{node['__class__']}"
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def names_of(trusted: Iterable[str | type]) -> set[str]:
    """Return the full names of types that the user trusts."""
    if isinstance(trusted, (str, bool)) or not all(isinstance(item, (str, type)) for item in trusted):
        raise InvalidInput(f"trusted must be a list of names of types, got {trusted!r}.")
    return {item if isinstance(item, str) else f"{item.__module__}.{item.__qualname__}" for item in trusted}


def _importable(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if not module:
        return False
    try:
        return hasattr(import_module(module), attribute)
    except ImportError:
        # A method, by the name of its class.
        outer, _, kind = module.rpartition(".")
        try:
            return bool(outer) and hasattr(getattr(import_module(outer), kind, None), attribute)
        except ImportError:
            return False


def _said(saved: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in saved.items())
