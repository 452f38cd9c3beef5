"""The fingerprint as a narwhals expression: the arithmetic of `pacband.selection.fingerprint`, on any engine."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from pacband.scores.expressions import finite
from pacband.selection.fingerprint import CUT

__all__ = ["fingerprint_terms"]


def fingerprint_terms(value: str, unit: Any, *, signed: bool) -> nw.Expr:
    """Return ±⌊u(q)⌋ of `pacband.selection.fingerprint` for a column of scores, as integers."""
    scaled = nw.col(value) * unit
    square = scaled * scaled
    # What is not finite is cut off as well. Another check finds out whether there is any.
    below = nw.when((square <= CUT) & finite(square)).then(square).otherwise(nw.lit(CUT, nw.Float64))
    cut = below.floor().cast(nw.Int64)
    return nw.when(nw.col(value) < 0.0).then(nw.lit(0, nw.Int64) - cut).otherwise(cut) if signed else cut
