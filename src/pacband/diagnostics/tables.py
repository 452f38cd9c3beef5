"""Diagnose a table in files: all rows of a small table, or some rows of a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pacband.certification.terms import Terms
from pacband.checks.columns import identifies_rows
from pacband.checks.copies import bits_without_ids
from pacband.checks.frames import plain_column
from pacband.core.checks import check_probability
from pacband.diagnostics.arrays import diagnose_rows, judge_rows
from pacband.diagnostics.checks import ScoredRows, run_checks, scored_rows
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.draws import ROWS, Draws
from pacband.exceptions import InvalidInput
from pacband.scores import as_prediction
from pacband.scores.columns import Columns
from pacband.selection import Request
from pacband.tables.columns import as_frame, check_columns, read_predicted, read_values, refuse_inexact
from pacband.tables.connection import quoted
from pacband.tables.other_columns import other_names
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
    gauge: Any = "max",
    draws: Draws | None = None,
) -> Diagnosis:
    """Look for properties of the rows of a DuckDB relation that break the promise; see `diagnose`.

    In a table with more than 200,000 rows, each check uses about 100,000 of them: the first rows, rows drawn from the
    whole table, or rows that agree in all columns but the target. The diagnosis states which rows each check used.
    Memory does not grow with the table. It grows with `training`, a relation with the same inputs and target, because
    all its rows are compared; or the inputs of a model, in their order, and the fingerprints of its training rows.
    Draws other than rows are made in memory, and so are scores with another gauge than the maximum.

    Parameters
    ----------
    inputs : sequence of str
        The columns that rows are compared by, and that are tried for labels and dates. By default all other columns; a
        table of training rows needs only some of them.
    """
    level = check_probability("level", level)
    terms = Terms.create(
        eps=eps, delta=delta, side=side, min_scale=min_scale, nonfinite=nonfinite, gauge=gauge, draws=draws
    )
    used = [*columns.all, *terms.draws.columns]
    given = list(inputs) or other_names(relation.columns, used)
    model_inputs = training[0] if isinstance(training, tuple) else []
    names = list(dict.fromkeys((*used, *given, *model_inputs)))
    found: Any = as_frame(relation)
    refuse_inexact(found, check_columns(found, columns.numeric, *names), columns.numeric)
    compared, fitted = given, None
    if isinstance(training, tuple):
        compared, fitted = training
    elif training is not None:
        compared, fitted = _read_training(training, columns, given, by_default=not inputs)
    if terms.draws.kind != ROWS or terms.scoring.gauge != "max" or not is_large(relation):
        values = fetch_whole(relation, names)
        if terms.draws.columns:
            terms = replace(terms, draws=terms.draws.bind(*(values[name] for name in terms.draws.columns)))
        return diagnose_rows(
            terms,
            read_values(values, columns.target),
            *read_predicted(values, columns),
            X=_compared(values, compared, training),
            columns={name: plain_column(values[name]) for name in given},
            groups=None if columns.group is None else values[columns.group],
            training=fitted,
            level=level,
        )
    wanted = relation.project(", ".join(map(quoted, names)))
    frame: Any = as_frame(wanted)
    table = Table.of(frame, frame.collect_schema(), terms.scoring, {"": columns})
    n_rows = TableScan(table)({"": Request()})[""].n_samples
    first, drawn = fetch_sample(wanted, names, n_rows)

    def scored(values: Mapping[str, Any], words: str, rows: Any = None) -> ScoredRows:
        y = read_values(values, columns.target)
        y_pred, scale = read_predicted(values, columns)
        return scored_rows(
            terms.scoring,
            **judge_rows(terms, terms.draws.sample(len(y)), y, y_pred, scale),
            y=y,
            y_pred=as_prediction(terms.scoring, y_pred, y.shape),
            scale=scale,
            X=_compared(values, compared, training),
            columns={name: plain_column(values[name]) for name in given},
            groups=None if columns.group is None else values[columns.group],
            numbers=rows,
            words=words,
        )

    # Copies of a row that have numbers of their own must be in one class.
    shared = [name for name in given if not identifies_rows(plain_column(first.values[name]))]
    alike = fetch_class(wanted, names, list(dict.fromkeys((*columns.predicted, *shared))) or names, n_rows)
    return run_checks(
        scored(drawn.values, drawn_words(len(drawn.rows)), drawn.rows),
        neighbours=scored(first.values, first_words(len(first.rows))),
        copies=None if alike is None else scored(alike[0], class_words(len(alike[0][names[0]]), alike[1])),
        n_rows=n_rows,
        level=level,
        eps=terms.eps,
        training=fitted,
    )


def _read_training(
    training: Any, columns: Columns, given: Sequence[str], *, by_default: bool
) -> tuple[list[str], tuple[Any, Any]]:
    """Return the inputs by which rows are compared with training rows, and these rows. Raise if there are none."""
    frame: Any = as_frame(training)
    compared = [name for name in given if name in frame.collect_schema()] if by_default else list(given)
    if not compared:
        raise InvalidInput("the training rows have no column in common with the rows but the target: name the inputs.")
    check_columns(frame, columns.target, *compared)
    seen = fetch_whole(training, list(dict.fromkeys((*columns.target, *compared))))
    return compared, (_matrix(seen, compared), read_values(seen, columns.target))


def _compared(values: Mapping[str, Any], names: Sequence[str], training: Any) -> Any:
    """Return the inputs in a form in which they can be compared with training rows, if there are any."""
    if not names:
        return None
    if training is not None:
        return _matrix(values, names)
    return bits_without_ids([plain_column(values[name]) for name in names])


def _matrix(columns: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the inputs as a matrix: of floats if all inputs are numbers, so that 1 equals 1.0, otherwise of texts."""
    matrix = np.column_stack([np.asarray(columns[name], dtype=object) for name in names])
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        return matrix.astype(str)
