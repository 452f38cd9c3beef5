"""Run all checks on rows with known scores. The checks share one level by Holm's method.

The checks of a large table use some of its rows: neighbouring rows for serial dependence, rows that agree in all
columns but the target for copies, and rows drawn from the whole table for all other checks. If the table is sound, each
p-value is valid for the rows that its check used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.checks import Finding
from pacband.checks.columns import without_ids
from pacband.checks.copies import check_copies
from pacband.checks.frames import columns_of_frame
from pacband.checks.order import check_order
from pacband.checks.scored import ScoredDraws
from pacband.checks.screening import check_columns, check_times, explain, in_order_of_draws
from pacband.core.arrays import Floats, Numbers, as_numbers, check_lengths
from pacband.core.frozen import FrozenMap
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.diagnostics.rows import check_overlap
from pacband.diagnostics.shape import check_dominance, check_groups, check_scale, check_ties
from pacband.scores import ScoreRule, spread_of

__all__ = ["ScoredRows", "run_checks", "scored_rows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredRows:
    """Rows in the order in which they were drawn, with their scores.

    Attributes
    ----------
    scores, target : array
        Scores and y.
    errors : array or None
        Signed errors, summed over outputs; None for own scores.
    predicted : array
        T(x) and σ̂(x), in columns.
    scale : array or None
        σ̂, its mean over a pair or over outputs.
    X, groups
        As in `diagnose`.
    columns : mapping of str to array
        Columns that may hold labels or dates.
    violated : array of bool or None
        Which rows exceed their bound; None if there are too few rows for a bound.
    bound : float or None
        The bound, if all rows have the same.
    one_row_a_draw : bool
        Whether every row is a draw of its own. The rows of a unit are not, and may repeat.
    series : bool
        Whether the rows must be in the order of time.
    numbers : array of int or None
        The row numbers in the table; None if these are all rows, or the first ones.
    words : str
        A description of these rows, if they are not all rows of the table.
    """

    scores: Floats
    target: Numbers
    errors: Floats | None
    predicted: Floats
    scale: Floats | None
    X: Any
    groups: Any
    columns: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    violated: npt.NDArray[np.bool_] | None = None
    bound: float | None = None
    one_row_a_draw: bool = True
    series: bool = False
    numbers: npt.NDArray[np.int64] | None
    words: str

    @property
    def scored(self) -> ScoredDraws:
        """What the checks of order and labels look at."""
        return ScoredDraws(slice(0, len(self.scores)), self.scores, self.errors, None)


def scored_rows(
    rule: ScoreRule,
    scores: Floats,
    y: Any,
    y_pred: Any,
    scale: Any,
    *,
    X: Any = None,
    groups: Any = None,
    columns: Mapping[str, npt.NDArray[Any]] | None = None,
    violated: npt.NDArray[np.bool_] | None = None,
    bound: float | None = None,
    numbers: npt.NDArray[np.int64] | None = None,
    words: str = "",
) -> ScoredRows:
    """Return rows with known scores, ready for the checks. Raise if lengths differ."""
    target, prediction = as_numbers("y", y), as_numbers("y_pred", y_pred)
    check_lengths(y=scores, X=X)
    spread = spread_of(rule, scale, target.shape).block(slice(None))
    with np.errstate(invalid="ignore"):
        errors = np.subtract(target, prediction, dtype=np.float64)
    signed = not rule.own and bool(np.isfinite(errors).all())
    return ScoredRows(
        scores=scores,
        target=target,
        errors=None if not signed else errors if errors.ndim == 1 else errors.sum(axis=1),
        predicted=_columns(prediction, *spread),
        scale=_columns(*spread).mean(axis=1) if spread else None,
        X=X,
        groups=groups,
        columns=columns or {},
        violated=violated,
        bound=bound,
        numbers=numbers,
        words=words,
    )


def run_checks(
    rows: ScoredRows,
    *,
    neighbours: ScoredRows | None = None,
    copies: ScoredRows | None = None,
    n_rows: int,
    level: float,
    eps: float,
    training: Any = None,
) -> Diagnosis:
    """Run all checks: serial dependence also on `neighbours`, copies on `copies`, and all others on `rows`."""
    together = rows if neighbours is None else neighbours
    alike = together if copies is None else copies
    found = [*_check_order(rows, neighbours), *((rows, finding) for finding in _check_columns(rows))]
    if rows.series:
        found.append((rows, check_times(rows.columns)))
    if alike.one_row_a_draw:
        found.append((alike, _check_copies(alike)))
    found += [(rows, check_dominance(rows.scores)), (rows, check_ties(rows.scores, rows.bound))]
    if training is not None:
        known = together if rows.X is None else rows
        found.append((known, check_overlap(known.X, known.target, training)))
    if rows.groups is not None:
        found.append((rows, check_groups(rows.scores, rows.groups, rows.violated, eps)))
    if rows.scale is not None:
        found.append((rows, check_scale(rows.scores, rows.scale)))
    made = [(used, finding) for used, finding in found if finding is not None]
    return Diagnosis(
        findings=tuple(explain(_holm([finding for _, finding in made], level))),
        p_values=FrozenMap({finding.name: finding.p_value for _, finding in made}),
        level=level,
        n_rows=n_rows,
        rows_used=FrozenMap({finding.name: used.words for used, finding in made if used.words}),
    )


def _check_order(rows: ScoredRows, neighbours: ScoredRows | None) -> list[tuple[ScoredRows, Finding | None]]:
    """Check the order of rows; of a large table, dependence is looked for among neighbours and among drawn rows."""
    found = _order_of(rows)
    if found is None:
        return []
    dependence, drift = found
    near = None if neighbours is None else _order_of(neighbours, partial_sums=False)
    if neighbours is None or near is None:
        return [(rows, dependence), (rows, drift)]
    # Two checks of one kind share the level.
    used, best = min((rows, dependence), (neighbours, near[0]), key=lambda pair: pair[1].p_value)
    return [(used, best.at(min(1.0, 2.0 * best.p_value))), (rows, drift)]


def _order_of(rows: ScoredRows, *, partial_sums: bool = True) -> tuple[Finding, Finding] | None:
    if not in_order_of_draws(rows.target, rows.predicted[:, 0]):
        return None
    ranks = rows.scored.ranks()
    return check_order(
        ranks,
        rows.scored.values(),
        partial_sums=partial_sums,
        rows=rows.numbers,
        whole=None if rows.numbers is not None else lambda: (ranks, len(rows.scores)),
    )


def _check_columns(rows: ScoredRows) -> list[Finding]:
    gaps = rows.numbers is not None
    return check_columns(rows.columns, rows.scored, rows.scored.ranks(), gaps=gaps) if rows.columns else []


def _check_copies(rows: ScoredRows) -> Finding | None:
    return check_copies(rows.target, [rows.predicted, *_shared_by_copies(rows.X)], complete=rows.X is not None)


def _shared_by_copies(X: Any) -> list[Any]:
    """Return the inputs without columns that identify rows. Bits of columns (`column_bits`) have none."""
    others = columns_of_frame(X)
    if others is not None:
        return without_ids(others(slice(0, len(X))).values())
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != np.uint64:
        return without_ids(X.T)
    return [] if X is None else [X]


def _holm(findings: list[Finding], level: float) -> list[Finding]:
    """Return the significant findings: sorted p-values are compared with level/k, level/(k − 1) and so on."""
    ranked = sorted(findings, key=lambda finding: finding.p_value)
    for i, finding in enumerate(ranked):
        if finding.p_value > level / (len(ranked) - i):
            return ranked[:i]
    return ranked


def _columns(*parts: Any) -> Floats:
    return np.column_stack([np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in parts])
