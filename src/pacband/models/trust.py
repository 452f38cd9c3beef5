"""Objects that pacband cannot check: saved and loaded only if the user names their types.

If the class of an object is not declared (`pacband.models.declarations`), skops writes the object, as data that names
types. Rebuilding it may run code of the packages of these types, and pacband cannot check it. The same holds for
declared kinds whose state another package reads. So the user who saves must name these types, the manifest of the file
lists them, and the user who loads must name them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any
from zipfile import ZIP_STORED

from pacband.core.extras import require
from pacband.exceptions import InvalidInput, UntrustedTypes
from pacband.models.declarations import KINDS
from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["Trust", "UntrustedTypes", "names_of"]

# In earlier versions of skops, a file could call functions that were not listed: methods and operators before 0.12
# (CVE-2025-54412, CVE-2025-54413), any function of numpy.random before 0.15.
_OLDEST_SKOPS = (0, 15)


class Trust:
    """The types that the user trusts, and the objects of these types in a file.

    Parameters
    ----------
    trusted : sequence of str or type
        The types that the user trusts, or their full names.
    files : sequence of bytes, optional
        For loading: the objects that skops wrote.

    Attributes
    ----------
    needed : set of str
        The types that must be trusted to load the saved model.
    """

    def __init__(self, trusted: Iterable[str | type] = (), files: Sequence[bytes] | None = None) -> None:
        self.names = names_of(trusted)
        self.files = list(files or ())
        self._loading = files is not None
        self.needed: set[str] = set()

    def require(self, kind: Kind) -> None:
        """Raise unless the user trusts this kind, whose state another package reads."""
        if kind.name not in self.names:
            if self._loading:
                raise Unsound(f"it contains a {kind.name}, which its manifest does not name")
            raise InvalidInput(
                f"the model cannot be saved: it contains a {kind.name}, which its own package reads without a check. "
                f"Save it with trusted=[{kind.name!r}]; loading it needs the same trusted."
            )
        self.needed.add(kind.name)

    def write(self, value: Any, why: str = "") -> dict[str, Any]:
        """Write an object by skops, and return its entry. `why` states why it cannot be written as declared data."""
        name = _name(type(value))
        if callable(value) and not hasattr(value, "predict") and hasattr(value, "__qualname__"):
            raise InvalidInput(
                f"the model cannot be saved: it contains the function {value.__qualname__}, which would have to be run "
                "from the file. Make it an estimator, or use one of numpy's functions of one argument."
            )
        if name not in self.names:
            raise InvalidInput(
                f"the model cannot be saved: {why or f'it contains a {name}, which pacband cannot check'}. Save "
                f"it with trusted=[{name!r}]; loading it needs the same trusted."
            )
        skops = _skops()
        try:
            data: bytes = skops.dumps(value, compression=ZIP_STORED)
            types = {name, *skops.get_untrusted_types(data=data)}
        except Exception as error:  # estimators of other packages may raise any error
            raise InvalidInput(f"the model cannot be saved: {type(error).__name__}: {error}") from error
        for needed in sorted(types):
            if not _importable(needed):
                raise InvalidInput(
                    f"the model cannot be saved: it contains {needed}, which cannot be imported by that name. "
                    "Functions and classes must be defined at the top level of a module."
                )
        self.needed |= types
        self.files.append(data)
        return {"kind": "trusted", "file": len(self.files) - 1}

    def read(self, entry: dict[str, Any]) -> Any:
        """Return an object that skops wrote. The user has trusted its types; skops checks this again."""
        place = entry.get("file")
        if entry.keys() != {"kind", "file"} or entry["kind"] != "trusted" or type(place) is not int:
            raise Unsound("an object has a kind that this version of pacband does not know")
        if not 0 <= place < len(self.files):
            raise Unsound("an object refers to a file that does not exist")
        skops = _skops()
        try:
            return skops.loads(self.files[place], trusted=sorted(self.names))
        except Exception as error:  # a class that has moved or a damaged array may raise any error
            raise Unsound(f"skops cannot load an object: {type(error).__name__}") from error


def names_of(trusted: Iterable[str | type]) -> set[str]:
    """Return the full names of types that the user trusts."""
    if isinstance(trusted, (str, bool)) or not all(isinstance(item, (str, type)) for item in trusted):
        raise InvalidInput(f"trusted must be a list of names of types, got {trusted!r}.")
    return {item if isinstance(item, str) else _name(item) for item in trusted}


def _name(kind: type) -> str:
    """Return the full name of a type, or the public name if its kind has one."""
    for known in KINDS.values():
        if known.needs_trust and known.class_name == kind.__name__ and kind.__module__.startswith(f"{known.module}."):
            return known.name
    return f"{kind.__module__}.{kind.__qualname__}"


def _skops() -> Any:
    skops, skops_io = (require(name, purpose="a model with trusted types") for name in ("skops", "skops.io"))
    if tuple(map(int, re.findall(r"\d+", skops.__version__)[:2])) < _OLDEST_SKOPS:
        raise InvalidInput(
            f"models with trusted types need skops {'.'.join(map(str, _OLDEST_SKOPS))} or newer, because "
            "earlier versions let a crafted file run code; this is "
            f"{skops.__version__}: pip install --upgrade skops."
        )
    return skops_io


def _importable(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if not module:
        return False
    try:
        return hasattr(import_module(module), attribute)
    except ImportError:
        # A method is named by its class.
        outer, _, kind = module.rpartition(".")
        try:
            return bool(outer) and hasattr(getattr(import_module(outer), kind, None), attribute)
        except ImportError:
            return False
