"""The kinds of objects that a model file may hold, one file for each family of them.

Names of kinds stay for ever, and are those of the public classes: ``sklearn.Ridge``, ``pacband.Band``. An attribute
that is not declared does not exist for a model file. One that a release of scikit-learn does not have is not required,
unless it is marked with an exclamation mark.
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
from pacband.models.declare import Kind

__all__ = ["KINDS", "kind_of"]

_ROOMS = (
    composed, encoders, ensembles, foreign, histograms, linear, machines, ours, parts, preprocessing, processes,
    splines, trees,
)  # fmt: skip
KINDS: dict[str, Kind] = {kind.name: kind for room in _ROOMS for kind in room.KINDS}
_BY_CLASS: dict[str, list[Kind]] = {}
for _kind in KINDS.values():
    _BY_CLASS.setdefault(_kind.class_name, []).append(_kind)


def kind_of(value: Any) -> Kind | None:
    """Return the kind of an object; None for a subclass, and for what is of no declared kind."""
    return next((kind for kind in _BY_CLASS.get(type(value).__name__, ()) if type(value) is _class_of(kind)), None)


@cache
def _class_of(kind: Kind) -> Any:
    try:
        return kind.load()
    except (AttributeError, ImportError):
        return None
