"""What is saved and loaded only with the user's word: kinds that are not declared, and readers that are not ours.

An object of a kind that pacband does not declare is written by skops, as data that names types. Making it again may run
code of the packages these types belong to, and nothing in it is checked. So whoever saves names the type, the file says
so at its top, and whoever loads names it again.
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
from pacband.models.declare import Kind
from pacband.models.values import Unsound

__all__ = ["Trust", "UntrustedTypes", "names_of"]

# Earlier ones could be made to call what they did not list: methods and operators before 0.12 (CVE-2025-54412,
# CVE-2025-54413), any function of numpy.random before 0.15.
_OLDEST_SKOPS = (0, 15)


class Trust:
    """The user's word, and the objects that are saved or loaded by it.

    Parameters
    ----------
    trusted : sequence of str or type
        The names of the types that the user trusts.
    files : sequence of bytes, optional
        For loading: the objects that skops wrote.

    Attributes
    ----------
    needed : set of str
        The types that have to be trusted to load what was saved.
    """

    def __init__(self, trusted: Iterable[str | type] = (), files: Sequence[bytes] | None = None) -> None:
        self.names = names_of(trusted)
        self.files = list(files or ())
        self._loading = files is not None
        self.needed: set[str] = set()

    def allow(self, kind: Kind) -> None:
        """Raise unless this kind, whose reader is not ours, is trusted."""
        if kind.name not in self.names:
            if self._loading:
                raise Unsound(f"it holds a {kind.name}, which is not named at its top")
            raise InvalidInput(
                f"the model cannot be saved: it holds a {kind.name}, which its own package reads without checking it. "
                f"Save it with trusted=[{kind.name!r}]; whoever loads it has to trust it as well."
            )
        self.needed.add(kind.name)

    def keep(self, value: Any, why: str = "") -> dict[str, Any]:
        """Write an object by skops, and return its entry; `why` it cannot be written as declared data."""
        name = _name(type(value))
        if callable(value) and not hasattr(value, "predict") and hasattr(value, "__qualname__"):
            raise InvalidInput(
                f"the model cannot be saved: it holds the function {value.__qualname__}, which would have to be run "
                "from the file. Make it an estimator, or use one of numpy's functions of one argument."
            )
        if name not in self.names:
            raise InvalidInput(
                f"the model cannot be saved: {why or f'it holds a {name}, which pacband cannot check'}. Save "
                f"it with trusted=[{name!r}]; whoever loads it has to trust it as well."
            )
        skops = _skops()
        try:
            data: bytes = skops.dumps(value, compression=ZIP_STORED)
            types = {name, *skops.get_untrusted_types(data=data)}
        except Exception as error:  # an estimator of a third party may refuse in any way
            raise InvalidInput(f"the model cannot be saved: {type(error).__name__}: {error}") from error
        for needed in sorted(types):
            if not _importable(needed):
                raise InvalidInput(
                    f"the model cannot be saved: it holds {needed}, which cannot be imported by that name. Functions "
                    "and classes must stand in a module, under a name of their own."
                )
        self.needed |= types
        self.files.append(data)
        return {"kind": "trusted", "file": len(self.files) - 1}

    def restore(self, entry: dict[str, Any]) -> Any:
        """Return an object that skops wrote. The types in it have been trusted before; skops checks that again."""
        place = entry.get("file")
        if entry.keys() != {"kind", "file"} or entry["kind"] != "trusted" or type(place) is not int:
            raise Unsound("an object is of a kind that this pacband does not know")
        if not 0 <= place < len(self.files):
            raise Unsound("an object is in no file")
        skops = _skops()
        try:
            return skops.loads(self.files[place], trusted=sorted(self.names))
        except Exception as error:  # a class that has moved, an array that is short: it shows in any way
            raise Unsound(f"skops cannot load an object: {type(error).__name__}") from error


def names_of(trusted: Iterable[str | type]) -> set[str]:
    """Return the full names of types that the user trusts."""
    if isinstance(trusted, (str, bool)) or not all(isinstance(item, (str, type)) for item in trusted):
        raise InvalidInput(f"trusted must be a list of names of types, got {trusted!r}.")
    return {item if isinstance(item, str) else _name(item) for item in trusted}


def _name(kind: type) -> str:
    """Return the full name of a type: the public one, where its kind has one of its own."""
    for known in KINDS.values():
        if known.trusted and known.class_name == kind.__name__ and kind.__module__.startswith(f"{known.module}."):
            return known.name
    return f"{kind.__module__}.{kind.__qualname__}"


def _skops() -> Any:
    skops, skops_io = (require(name, purpose="a model of a trusted type") for name in ("skops", "skops.io"))
    if tuple(map(int, re.findall(r"\d+", skops.__version__)[:2])) < _OLDEST_SKOPS:
        raise InvalidInput(
            f"models of types that are trusted need skops {'.'.join(map(str, _OLDEST_SKOPS))} or newer, for earlier "
            f"ones let a crafted file run code; this is {skops.__version__}: pip install --upgrade 'pacband[cli]'."
        )
    return skops_io


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
