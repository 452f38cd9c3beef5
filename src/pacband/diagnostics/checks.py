"""Run all checks on rows with known scores. The checks share one level by Holm's method.

The checks of a large table use some of its rows: neighbouring rows for serial dependence, rows that agree in all
columns but the target for copies, and rows drawn from the whole table for all other checks. If the table is sound, each
p-value is valid for the rows that its check used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, Numbers, as_numbers, check_lengths
from pacband.core.frozen import FrozenMap
from pacband.diagnostics.diagnosis import Diagnosis, Finding
from pacband.diagnostics.order import check_drift, check_serial_dependence
from pacband.diagnostics.rows import check_duplicates, check_overlap
from pacband.diagnostics.shape import check_dominance, check_groups, check_scale, check_ties
from pacband.exceptions import NotEnoughSamples
from pacband.planning import max_rank
from pacband.scores import ScoreRule, spread_of

__all__ = ["ScoredRows", "run_checks", "scored_rows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredRows:
    """Rows in the order in which they were drawn, with their scores.

    Attributes
    ----------
    scores, target : array
        Scores and y.
    predicted : array
        T(x) and σ̂(x), in columns.
    scale : array or None
        σ̂, its mean over a pair or over outputs.
    X, groups
        As in `diagnose`.
    numbers : array of int or None
        The row numbers in the table; None if these are all rows, or the first ones.
    words : str
        A description of these rows, if they are not all rows of the table.
    """

    scores: Floats
    target: Numbers
    predicted: Floats
    scale: Floats | None
    X: Any
    groups: Any
    numbers: npt.NDArray[np.int64] | None
    words: str


def scored_rows(
    rule: ScoreRule,
    scores: Floats,
    y: Any,
    y_pred: Any,
    scale: Any,
    *,
    X: Any = None,
    groups: Any = None,
    numbers: npt.NDArray[np.int64] | None = None,
    words: str = "",
) -> ScoredRows:
    """Return rows with known scores, ready for the checks. Raise if lengths differ."""
    target, prediction = as_numbers("y", y), as_numbers("y_pred", y_pred)
    check_lengths(y=scores, X=X)
    spread = spread_of(rule, scale, target.shape).block(slice(None))
    return ScoredRows(
        scores=scores,
        target=target,
        predicted=_columns(prediction, *spread),
        scale=_columns(*spread).mean(axis=1) if spread else None,
        X=X,
        groups=groups,
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
    delta: float,
    training: Any = None,
) -> Diagnosis:
    """Run all checks: serial dependence on `neighbours`, duplicated rows on `copies`, and all others on `rows`."""
    together = rows if neighbours is None else neighbours
    alike = together if copies is None else copies
    try:
        rank = max_rank(len(rows.scores), eps, delta)
    except NotEnoughSamples:
        rank = None
    found = [
        (together, check_serial_dependence(together.scores)),
        (rows, check_drift(rows.scores, rows.numbers)),
        (alike, check_duplicates(alike.target, alike.predicted, alike.X)),
        (rows, check_dominance(rows.scores)),
        (rows, check_ties(rows.scores, rank)),
    ]
    if training is not None:
        known = together if rows.X is None else rows
        found.append((known, check_overlap(known.X, known.target, training)))
    if rows.groups is not None:
        found.append((rows, check_groups(rows.scores, rows.groups, rank, eps)))
    if rows.scale is not None:
        found.append((rows, check_scale(rows.scores, rows.scale)))
    made = [(used, finding) for used, finding in found if finding is not None]
    return Diagnosis(
        findings=tuple(_holm([finding for _, finding in made], level)),
        p_values=FrozenMap({finding.check: finding.p_value for _, finding in made}),
        level=level,
        n_rows=n_rows,
        rows_used=FrozenMap({finding.check: used.words for used, finding in made if used.words}),
    )


def _holm(findings: list[Finding], level: float) -> list[Finding]:
    """Return the significant findings: sorted p-values are compared with level/k, level/(k − 1) and so on."""
    ranked = sorted(findings, key=lambda finding: finding.p_value)
    for i, finding in enumerate(ranked):
        if finding.p_value > level / (len(ranked) - i):
            return ranked[:i]
    return ranked


def _columns(*parts: Any) -> Floats:
    return np.column_stack([np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in parts])
