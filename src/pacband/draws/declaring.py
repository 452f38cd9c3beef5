"""Draws of the kind that a certificate states, with other rows."""

from __future__ import annotations

from typing import Any

from pacband.draws.declared import Draws, Rows, Spaced, Units
from pacband.draws.kinds import DrawKind, SpacedDraws, UnitDraws, WeightedDraws
from pacband.draws.weighted import Weighted

__all__ = ["declare"]


def declare(kind: DrawKind, *values: Any) -> Draws:
    """Return draws of a kind; `values` are labels or weights, or the names of their columns.

    Examples
    --------
    >>> declare(SpacedDraws(24, 0.001)).kind
    SpacedDraws(gap=24, mixing=0.001)
    """
    if isinstance(kind, UnitDraws):
        (labels,) = values
        return Units(labels, kind.within, name=kind.unit, random_state=kind.seed)
    if isinstance(kind, WeightedDraws):
        importance = values if kind.interval else values[0]
        return Weighted(importance, at_most=kind.at_most, random_state=kind.seed, interval_delta=kind.interval_delta)
    if isinstance(kind, SpacedDraws):
        beta = kind.mixing
        return Spaced(kind.gap, None if beta is None else lambda gap: beta)
    return Rows()
