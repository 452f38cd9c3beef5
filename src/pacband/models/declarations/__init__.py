"""The kinds of objects that a model file may contain, one module for each family of classes.

The name of a kind is the name of a public class, such as ``sklearn.Ridge`` or ``pacband.Band``, and never changes. So
classes may move to other modules without breaking files. An attribute that is not declared is neither saved nor loaded.
A declared attribute may be missing, because releases of scikit-learn differ, unless an exclamation mark requires it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pacband.models.declarations import (
    composed,
    encoders,
    ensembles,
    foreign,
    histograms,
    linear,
    machines,
    ours,
    parts,
    preprocessing,
    processes,
    splines,
    trees,
)
from pacband.models.kind import Kind

__all__ = ["KINDS", "kind_of"]

_FAMILIES = (
    composed, encoders, ensembles, foreign, histograms, linear, machines, ours, parts, preprocessing, processes,
    splines, trees,
)  # fmt: skip
KINDS: dict[str, Kind] = {kind.name: kind for family in _FAMILIES for kind in family.KINDS}
_BY_CLASS: dict[str, list[Kind]] = {}
for _kind in KINDS.values():
    _BY_CLASS.setdefault(_kind.class_name, []).append(_kind)


def kind_of(value: Any) -> Kind | None:
    """Return the kind of an object, or None if its class is not declared. A subclass is not declared."""
    return next((kind for kind in _BY_CLASS.get(type(value).__name__, ()) if type(value) is _class_of(kind)), None)


@cache
def _class_of(kind: Kind) -> Any:
    try:
        return kind.load()
    except (AttributeError, ImportError):
        return None
