"""Scores and bands as narwhals expressions: the arithmetic of `pacband.scores.arrays`, on any engine.

Each is the same chain of correctly rounded operations on float64 as in numpy, so that a score has the same bits
wherever it is computed. Some engines sort NaN as the largest number, others do not compare it: `finite` asks whether a
value is NaN.
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
    "count",
    "distances",
    "fails",
    "finite",
    "fixed_terms",
    "in_range",
    "largest_of",
    "number",
    "outside_range",
    "positive",
    "scale_part",
    "score",
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
    # A decimal just beyond 2**53 rounds to 2**53. So 2**53 itself counts as beyond.
    return number(name).abs() >= float(EXACT) if dtype == nw.Decimal else None


def scale_part(rule: ScoreRule, name: str) -> nw.Expr:
    """Return a column of σ̂, raised to the declared min_scale where it is smaller or missing."""
    value = number(name)
    if rule.min_scale is None:
        return value
    floor = nw.lit(rule.min_scale, nw.Float64)
    nan = ~finite(value) & (value != math.inf) & (value != -math.inf)
    return nw.when(nan | value.is_null() | (value < rule.min_scale)).then(floor).otherwise(value)


def score(rule: ScoreRule, columns: Columns) -> nw.Expr:
    """Return the score of every row: the largest over the outputs."""
    outputs = [_score(rule, columns, k) for k in range(len(columns.target))]
    # Not nw.max_horizontal, which Dask has for columns alone. The lines below take care of NaN.
    largest = largest_of(outputs)
    infinite = nw.lit(math.inf, nw.Float64)
    outside = outside_range(rule, columns.target)
    if outside is not None:
        # A score that is no number stays: it may be refused.
        known = all_of([outside, *(finite(one) for one in outputs)])
        largest = nw.when(known).then(infinite).otherwise(largest)
    if rule.nonfinite == "raise":
        return largest if len(outputs) == 1 else nw.when(all_of([finite(one) for one in outputs])).then(largest)
    known = all_of([*(finite(number(name)) for name in columns.prediction), *(finite(one) for one in outputs)])
    return nw.when(known).then(largest).otherwise(infinite)


def _score(rule: ScoreRule, columns: Columns, output: int) -> nw.Expr:
    if rule.own:
        return number(columns.target[output])
    error = number(columns.target[output]) - number(columns.prediction[output])
    if rule.side == "lower":
        error = nw.lit(0.0, nw.Float64) - error
    parts = [scale_part(rule, part[min(output, len(part) - 1)]) for part in columns.scale]
    size = error.abs() if rule.side == "both" else error
    if len(parts) == 2:
        return size / nw.when(error > 0.0).then(parts[1]).otherwise(parts[0])
    return size / parts[0] if parts else size


def finite(value: nw.Expr) -> nw.Expr:
    """Whether a value is a finite number: false for NaN, false or null for null.

    A comparison or `is_nan` would be wrong: the statistics of a Parquet file leave NaN out, and DuckDB answers both for
    all rows at once from the smallest and the largest number in them.
    """
    return value.is_finite()


def positive(value: nw.Expr) -> nw.Expr:
    """Whether a scale is a finite number above zero."""
    return (value > 0.0) & finite(value)


def largest_of(values: Sequence[nw.Expr]) -> nw.Expr:
    """Return the largest of some values, none of them NaN."""
    return _fold(values, lambda one, other: nw.when(one >= other).then(one).otherwise(other))


def fails(condition: nw.Expr) -> nw.Expr:
    """Whether a condition is false or null."""
    failed: nw.Expr = nw.when(condition).then(nw.lit(0)).otherwise(nw.lit(1))
    return failed == 1


def at_least(column: str, edge: Any) -> nw.Expr:
    """Whether a score lies at or above an edge."""
    above: nw.Expr = nw.col(column) >= edge
    return above


def all_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether all conditions hold."""
    return _fold(conditions, and_)


def any_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether any condition holds."""
    return _fold(conditions, or_)


def _fold(parts: Sequence[nw.Expr], join: Callable[[nw.Expr, nw.Expr], nw.Expr]) -> nw.Expr:
    """Join expressions in pairs, then the pairs: the result is only log₂ n deep."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return join(_fold(parts[:half], join), _fold(parts[half:], join))


def count(condition: nw.Expr) -> nw.Expr:
    """Count the rows for which the condition is true. Null is not true."""
    return condition.cast(nw.Int64).sum()


def fixed_terms(value: nw.Expr, unit: float) -> tuple[nw.Expr, nw.Expr]:
    """Return the coarse and fine parts of `pacband.scores.means`, as integers; zeros where a value is not finite."""
    # Not every engine casts a missing value to an integer.
    scaled = nw.when(finite(value)).then(value * unit).otherwise(nw.lit(0.0, nw.Float64))
    whole = scaled.floor()
    return whole.cast(nw.Int64), ((scaled - whole) * STEP).floor().cast(nw.Int64)


def distances(columns: Columns) -> list[nw.Expr]:
    """Return T(x) − y of every output; null where it is not finite."""
    pairs = zip(columns.target, columns.prediction, strict=True)
    differences = [number(prediction) - number(target) for target, prediction in pairs]
    return [nw.when(finite(difference)).then(difference) for difference in differences]


def band(rule: ScoreRule, factor: Any, columns: Columns, output: int) -> tuple[nw.Expr, nw.Expr]:
    """Return the lower and upper end of the band of one output. `factor` is γ̄ rounded outwards.

    A gauge with a matrix for each step is not evaluated here.
    """
    centre = number(columns.prediction[output])
    parts = [scale_part(rule, part[min(output, len(part) - 1)]) for part in columns.scale]
    if rule.matrices:
        # The box around the ellipsoid. An ellipsoid has one scale for all outputs.
        width = nw.lit(math.sqrt(rule.matrices[0][output][output]), nw.Float64)
        parts = [parts[0] * width if parts else width]
    half = [factor * part for part in parts] or [factor]
    low, high = centre - half[0], centre + half[-1]
    if rule.nonfinite == "violate":
        known = finite(centre)
        low = nw.when(known).then(low).otherwise(nw.lit(-math.inf, nw.Float64))
        high = nw.when(known).then(high).otherwise(nw.lit(math.inf, nw.Float64))
    if rule.side == "upper":
        low = nw.lit(-math.inf, nw.Float64)
    if rule.side == "lower":
        high = nw.lit(math.inf, nw.Float64)
    return _clipped(rule, low), _clipped(rule, high)


def _clipped(rule: ScoreRule, end: nw.Expr) -> nw.Expr:
    """Return an end of a band, or the end of the range of y that it leaves."""
    least, most = rule.clip or (None, None)
    if least is not None:
        end = nw.when(end < least).then(nw.lit(least, nw.Float64)).otherwise(end)
    if most is not None:
        end = nw.when(end > most).then(nw.lit(most, nw.Float64)).otherwise(end)
    return end


def in_range(rule: ScoreRule, value: nw.Expr) -> nw.Expr | None:
    """Whether a target lies in the declared range of y; None if it has none."""
    least, most = rule.clip or (None, None)
    limits = [*([] if least is None else [value >= least]), *([] if most is None else [value <= most])]
    return all_of(limits) if limits else None


def outside_range(rule: ScoreRule, targets: Sequence[str]) -> nw.Expr | None:
    """Whether any target of a row is a number outside of the range of y; None unless such rows count as violations."""
    if rule.clip is None or rule.outside != "violate":
        return None
    values = {name: number(name) for name in targets}
    inside = {name: in_range(rule, value) for name, value in values.items()}
    return any_of([finite(values[name]) & fails(one) for name, one in inside.items() if one is not None])
