"""Scores and bands as narwhals expressions: the arithmetic of `pacband.scores`, on any engine.

Each is the same chain of correctly rounded operations on float64 as in numpy, so that a score has the same bits
wherever it is computed. NaN is the largest number to some engines and no number to others; whether a value may be one
is asked by `sound`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import and_, or_
from typing import Any

import narwhals as nw

from pacband.core.arrays import EXACT
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns
from pacband.scores.means import STEP

__all__ = [
    "NOT_IN_NUMPY",
    "WIDE",
    "all_of",
    "any_of",
    "at_least",
    "band",
    "beyond_exact",
    "broken",
    "count",
    "distances",
    "fixed_terms",
    "number",
    "positive",
    "scale_part",
    "score",
    "sound",
]

NOT_IN_NUMPY = (nw.Int128, nw.UInt128)
# Integers that float64 may not hold.
WIDE = (nw.Int64, nw.UInt64, *NOT_IN_NUMPY)


def number(name: str) -> nw.Expr:
    """Return a column as float64."""
    return nw.col(name).cast(nw.Float64)


def beyond_exact(name: str, dtype: Any) -> nw.Expr | None:
    """Whether a column holds an integer or a decimal beyond 2**53; None where its type has no such values."""
    if dtype in WIDE:
        value = nw.col(name)
        return (value > EXACT) | (value < -EXACT)
    # A decimal next to 2**53 rounds to it, so that one which is equal to it is taken to be beyond it.
    return number(name).abs() >= float(EXACT) if dtype == nw.Decimal else None


def scale_part(rule: ScoreRule, name: str) -> nw.Expr:
    """Return a column of σ̂, floored."""
    value = number(name)
    if rule.min_scale is None:
        return value
    floor = nw.lit(rule.min_scale, nw.Float64)
    nan = ~sound(value) & (value != math.inf) & (value != -math.inf)
    return nw.when(nan | value.is_null() | (value < rule.min_scale)).then(floor).otherwise(value)


def score(rule: ScoreRule, columns: Columns) -> nw.Expr:
    """Return the score of every row: the largest over the outputs."""
    outputs = [_score(rule, columns, k) for k in range(len(columns.target))]
    # Not nw.max_horizontal, which Dask has for columns alone. What is no number is seen to below.
    largest = _folded(outputs, lambda one, other: nw.when(one >= other).then(one).otherwise(other))
    if rule.nonfinite == "raise":
        return largest if len(outputs) == 1 else nw.when(all_of([sound(one) for one in outputs])).then(largest)
    known = all_of([*(number(name).is_finite() for name in columns.prediction), *(sound(one) for one in outputs)])
    return nw.when(known).then(largest).otherwise(nw.lit(math.inf, nw.Float64))


def _score(rule: ScoreRule, columns: Columns, output: int) -> nw.Expr:
    error = number(columns.target[output]) - number(columns.prediction[output])
    if rule.side == "lower":
        error = nw.lit(0.0, nw.Float64) - error
    parts = [scale_part(rule, part[min(output, len(part) - 1)]) for part in columns.scale]
    size = error.abs() if rule.side == "both" else error
    if len(parts) == 2:
        return size / nw.when(error > 0.0).then(parts[1]).otherwise(parts[0])
    return size / parts[0] if parts else size


def sound(value: nw.Expr) -> nw.Expr:
    """Whether a value is a finite number: false for NaN, false or null for null.

    Not by a comparison, nor by `is_nan`: the statistics of a Parquet file leave NaN out, and DuckDB, which plans by
    them, answers both for all rows at once from the smallest and the largest number.
    """
    return value.is_finite()


def positive(value: nw.Expr) -> nw.Expr:
    """Whether a scale is a finite number above zero."""
    return (value > 0.0) & sound(value)


def broken(rule: nw.Expr) -> nw.Expr:
    """Whether a rule does not hold: also where it is null."""
    held: nw.Expr = nw.when(rule).then(nw.lit(0)).otherwise(nw.lit(1))
    return held == 1


def at_least(column: str, edge: Any) -> nw.Expr:
    """Whether a score lies at or above an edge."""
    above: nw.Expr = nw.col(column) >= edge
    return above


def all_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether all conditions hold."""
    return _folded(conditions, and_)


def any_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether any condition holds."""
    return _folded(conditions, or_)


def _folded(parts: Sequence[nw.Expr], join: Callable[[nw.Expr, nw.Expr], nw.Expr]) -> nw.Expr:
    """Join expressions two by two: as deep as the logarithm of their number."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return join(_folded(parts[:half], join), _folded(parts[half:], join))


def count(condition: nw.Expr) -> nw.Expr:
    """Count the rows for which the condition is true; null is not."""
    return condition.cast(nw.Int64).sum()


def fixed_terms(value: nw.Expr, unit: float) -> tuple[nw.Expr, nw.Expr]:
    """Return the coarse and fine parts of `pacband.scores.means`, as integers; zeros where there is no number."""
    # Not every engine casts what is missing to an integer.
    scaled = nw.when(sound(value)).then(value * unit).otherwise(nw.lit(0.0, nw.Float64))
    whole = scaled.floor()
    return whole.cast(nw.Int64), ((scaled - whole) * STEP).floor().cast(nw.Int64)


def distances(columns: Columns) -> list[nw.Expr]:
    """Return T(x) − y of every output; null where it is no number."""
    differences = [number(there) - number(here) for here, there in zip(columns.target, columns.prediction, strict=True)]
    return [nw.when(sound(difference)).then(difference) for difference in differences]


def band(rule: ScoreRule, factor: Any, columns: Columns, output: int) -> tuple[nw.Expr, nw.Expr]:
    """Return the lower and upper end of one output, by the factor γ̄ rounded outwards."""
    centre = number(columns.prediction[output])
    parts = [scale_part(rule, part[min(output, len(part) - 1)]) for part in columns.scale]
    half = [factor * part for part in parts] or [factor]
    low, high = centre - half[0], centre + half[-1]
    if rule.nonfinite == "violate":
        finite = centre.is_finite()
        low = nw.when(finite).then(low).otherwise(nw.lit(-math.inf, nw.Float64))
        high = nw.when(finite).then(high).otherwise(nw.lit(math.inf, nw.Float64))
    if rule.side == "upper":
        low = nw.lit(-math.inf, nw.Float64)
    if rule.side == "lower":
        high = nw.lit(math.inf, nw.Float64)
    return low, high
