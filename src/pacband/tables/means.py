"""What a family compares its candidates by, over a table in an engine: the same means as for arrays, to the last bit.

Each function takes the number of rows that were certified and raises if the table has another number of rows now.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import narwhals as nw

from pacband.scores.expressions import all_of, distances, fails, finite, fixed_terms, number, scale_part
from pacband.scores.means import fixed_mean, fixed_unit
from pacband.selection import check_unchanged
from pacband.tables.asks import Answers, Ask, ask_rows, count_rows
from pacband.tables.table import Table

__all__ = ["count_unanswered", "mean_offsets", "mean_scales"]

K = TypeVar("K")


def mean_scales(table: Table, n_rows: int) -> dict[str, float]:
    """Return the mean of σ̂ of every candidate; 1 for a candidate without a scale."""
    parts = {
        (name, k): [scale_part(table.rule, column) for column in part]
        for name, columns in table.candidates.items()
        for k, part in enumerate(columns.scale)
    }
    means = _exact_means(table, parts, n_rows)
    return {
        name: sum(means[name, k] for k in range(len(columns.scale))) / len(columns.scale) if columns.scale else 1.0
        for name, columns in table.candidates.items()
    }


def mean_offsets(table: Table, n_rows: int) -> dict[str, float]:
    """Return the mean distance from y to T(x) towards the side that is bounded; zero if both sides are."""
    if table.rule.side == "both":
        return dict.fromkeys(table.candidates, 0.0)
    sign = 1.0 if table.rule.side == "upper" else -1.0
    means = _exact_means(table, {name: distances(columns) for name, columns in table.candidates.items()}, n_rows)
    return {name: mean * (1.0 if math.isinf(mean) else sign) for name, mean in means.items()}


def count_unanswered(table: Table, n_rows: int) -> dict[str, int]:
    """Return how many rows of every candidate have a prediction that counts as an infinite error."""
    if table.rule.nonfinite == "raise":
        return dict.fromkeys(table.candidates, 0)
    asks = {
        name: count_rows(fails(all_of([finite(number(column)) for column in columns.prediction])))
        for name, columns in table.candidates.items()
    }
    answers = _ask(table.frame, list(asks.values()), n_rows)
    return {name: answers[ask] for name, ask in asks.items()}


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the mean of a column needs: the sums of its coarse and fine parts, and the number of its values."""

    coarse: Ask
    fine: Ask
    n_values: Ask

    @classmethod
    def of(cls, column: nw.Expr, unit: float) -> Self:
        coarse, fine = fixed_terms(column, unit)
        return cls(Ask(coarse), Ask(fine), count_rows(finite(column)))


def _exact_means(table: Table, values: Mapping[K, list[nw.Expr]], n_rows: int) -> dict[K, float]:
    """Return the exact mean over each list of columns, nulls left out; infinite if nothing is left.

    The first pass finds the largest value, which sets the unit of the fixed-point sums; the second pass sums.
    """
    if not values:
        return {}
    numbered = enumerate(value for part in values.values() for value in part)
    frame = table.frame.select(**{f"v{k}": value for k, value in numbered})
    columns = map(nw.col, frame.collect_schema().names())
    parts = {key: [next(columns) for _ in part] for key, part in values.items()}
    ends = {key: [Ask(column, end) for column in part for end in ("min", "max")] for key, part in parts.items()}
    found = _ask(frame, [ask for asks in ends.values() for ask in asks], n_rows)
    units = {key: fixed_unit(max(abs(found[ask]) for ask in asks)) for key, asks in ends.items()}
    sums = {key: [_Sums.of(column, units[key]) for column in part] for key, part in parts.items()}
    asks = [ask for part in sums.values() for one in part for ask in (one.coarse, one.fine, one.n_values)]
    found = _ask(frame, asks, n_rows)
    means = {}
    for key, part in sums.items():
        n_values = sum(found[one.n_values] for one in part)
        coarse, fine = sum(found[one.coarse] for one in part), sum(found[one.fine] for one in part)
        means[key] = fixed_mean(coarse, fine, units[key], n_values) if n_values else math.inf
    return means


def _ask(frame: nw.LazyFrame[Any], asks: list[Ask], n_rows: int) -> Answers:
    answers = ask_rows(frame, asks)
    check_unchanged(n_rows, answers.n_rows)
    return answers
