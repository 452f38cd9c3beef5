"""Diagnose a table in files: all rows of a small table, or some rows of a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pacband.core.checks import check_probability
from pacband.diagnostics import diagnose
from pacband.diagnostics.checks import ScoredRows, run_checks, scored_rows
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.scores import ScoreRule, scores_of
from pacband.scores.columns import Columns
from pacband.selection import Request
from pacband.tables.columns import as_frame, check_columns, read_predicted, read_values, refuse_inexact
from pacband.tables.connection import quoted
from pacband.tables.sample import (
    class_words,
    drawn_words,
    fetch_class,
    fetch_sample,
    fetch_whole,
    first_words,
    is_large,
)
from pacband.tables.scan import TableScan
from pacband.tables.table import Table

__all__ = ["diagnose_table"]


def diagnose_table(
    relation: Any,
    columns: Columns,
    *,
    inputs: Sequence[str] = (),
    training: Any = None,
    level: float = 0.01,
    eps: float = 0.05,
    delta: float = 1e-6,
    side: str = "both",
    min_scale: float | None = None,
    nonfinite: str = "raise",
) -> Diagnosis:
    """Look for properties of the rows of a DuckDB relation that break the promise; see `diagnose`.

    In a table with more than 200,000 rows, each check uses about 100,000 of them: the first rows, rows drawn from the
    whole table, or rows that agree in all columns but the target. The diagnosis states which rows each check used.
    Memory does not grow with the table. It grows with `training`, a relation with the same inputs and target, because
    all its rows are compared.
    """
    names = list(dict.fromkeys((*columns.all, *inputs)))
    found: Any = as_frame(relation)
    refuse_inexact(found, check_columns(found, columns.numeric, *names), columns.numeric)
    fitted = None
    if training is not None:
        check_columns(as_frame(training), columns.target, *inputs)
        seen = fetch_whole(training, list(dict.fromkeys((*columns.target, *inputs))))
        fitted = (_matrix(seen, inputs), read_values(seen, columns.target))
    scoring: dict[str, Any] = {"side": side, "min_scale": min_scale, "nonfinite": nonfinite}
    if not is_large(relation):
        values = fetch_whole(relation, names)
        return diagnose(
            read_values(values, columns.target),
            *read_predicted(values, columns),
            X=_matrix(values, inputs) if inputs else None,
            groups=None if columns.group is None else values[columns.group],
            training=fitted,
            level=level,
            eps=eps,
            delta=delta,
            **scoring,
        )
    level = check_probability("level", level)
    eps, delta = check_probability("eps", eps), check_probability("delta", delta)
    rule = ScoreRule.create(gauge="max", **scoring)
    wanted = relation.project(", ".join(map(quoted, names)))
    frame: Any = as_frame(wanted)
    table = Table.of(frame, frame.collect_schema(), rule, {"": columns})
    n_rows = TableScan(table)({"": Request()})[""].n_samples
    first, drawn = fetch_sample(wanted, names, n_rows)

    def scored(values: Mapping[str, Any], words: str, rows: Any = None) -> ScoredRows:
        y = read_values(values, columns.target)
        y_pred, scale = read_predicted(values, columns)
        return scored_rows(
            rule,
            scores_of(rule, y, y_pred, scale),
            y,
            y_pred,
            scale,
            X=_matrix(values, inputs) if inputs else None,
            groups=None if columns.group is None else values[columns.group],
            numbers=rows,
            words=words,
        )

    alike = fetch_class(wanted, names, list(dict.fromkeys((*columns.predicted, *inputs))), n_rows)
    return run_checks(
        scored(drawn.values, drawn_words(len(drawn.rows)), drawn.rows),
        neighbours=scored(first.values, first_words(len(first.rows))),
        copies=None if alike is None else scored(alike[0], class_words(len(alike[0][names[0]]), alike[1])),
        n_rows=n_rows,
        level=level,
        eps=eps,
        delta=delta,
        training=fitted,
    )


def _matrix(columns: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the inputs as a matrix: of floats if all inputs are numbers, so that 1 equals 1.0, otherwise of texts."""
    matrix = np.column_stack([np.asarray(columns[name], dtype=object) for name in names])
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        return matrix.astype(str)
