"""The report of a table in files: small ones are read whole; large ones are counted in the engine and sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pacband.certificate import AnyCertificate
from pacband.checks.columns import identifies_rows
from pacband.checks.copies import bits_without_ids
from pacband.core.labels import as_labels
from pacband.diagnostics.checks import ScoredRows, scored_rows
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.judging.judge import Judge
from pacband.reporting.census import TableCensus
from pacband.reporting.diagnosis import check_rows
from pacband.reporting.document import Report, report
from pacband.reporting.rows import MOST_FEATURES, Column, Features, check_shown_once, sampled_rows
from pacband.reporting.summary import Summary, has_curve, summarise_rows
from pacband.scores import ScoreRule, as_prediction, scores_of
from pacband.scores.columns import Columns
from pacband.tables.certified_draws import bound_draws
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

__all__ = ["report_table"]


def report_table(
    certificate: AnyCertificate,
    relation: Any,
    columns: Columns,
    *,
    features: Sequence[str] | None = None,
    draws: Draws | None = None,
    title: str = "How wrong can the model be?",
    command: str | None = None,
    outlook: int | None = None,
) -> Report:
    """Make the report of a certificate with the rows of a DuckDB relation.

    Counts, verdict, curve and alternatives come from all rows. Of a table with more than 200,000 rows, figures, slices
    and checks come from a sample that is named; memory does not grow with the table.

    Parameters
    ----------
    certificate, title, command, outlook
        As in `report`.
    relation : DuckDB relation
        The table. Only the columns that are needed are read.
    columns : Columns
        Which columns are y, T(x), σ̂(x) and the group.
    features : sequence of str, optional
        Columns to slice by; by default all others. The first 100 are used.
    draws : Draws, optional
        The draws that the rows make, with the name of their column; see `table_draws`. All rows are then read.
    """
    check_shown_once(certificate)
    drawn = () if draws is None else draws.columns
    core = [*columns.numeric, *([] if columns.group is None else [columns.group]), *drawn]
    given = [name for name in relation.columns if name not in core] if features is None else list(features)
    used = given[:MOST_FEATURES]
    names = list(dict.fromkeys((*core, *used)))
    frame: Any = as_frame(relation)
    refuse_inexact(frame, check_columns(frame, columns.numeric, *names), columns.numeric)
    # Engines do not compute the scores of a matrix gauge.
    if certificate.basis.scoring.gauge != "max" or draws is not None or not is_large(relation):
        values = fetch_whole(relation, names)
        y, y_pred, scale, labels, X = _read(values, columns, used, len(given))
        return report(
            certificate,
            y,
            y_pred,
            scale,
            X=X,
            groups=labels,
            draws=bound_draws(draws, values),
            title=title,
            command=command,
            outlook=outlook,
        )
    return Report(
        _summary(
            certificate,
            relation.project(", ".join(map(quoted, names))),
            columns,
            used,
            len(given),
            title=title,
            command=command,
            outlook=outlook,
        )
    )


def _summary(
    certificate: AnyCertificate,
    relation: Any,
    columns: Columns,
    used: list[str],
    n_features: int,
    *,
    title: str,
    command: str | None,
    outlook: int | None,
) -> Summary:
    """Count all rows in the engine, then look at some of them."""
    judge = Judge(certificate)
    basis = judge.basis
    basis.check_scale((None, 0, (0, 0))[len(columns.scale)])
    if len(columns.prediction) != basis.n_outputs and not basis.scoring.own:
        raise InvalidInput(
            f"this certificate bounds {basis.n_outputs} output(s), got {len(columns.prediction)} prediction column(s)."
        )
    if judge.grouped and columns.group is None:
        raise InvalidInput("this certificate promises within groups: name the group column.")
    counted = TableCensus(judge, relation, columns)
    first, drawn = fetch_sample(relation, relation.columns, counted.n_rows)

    y, y_pred, scale, labels, X = _read(drawn.values, columns, used, n_features)
    judged = judge.judge(y, y_pred, scale, labels if judge.grouped else None)
    score = judged.scores
    parts = judged.by_part(score)
    census = counted.census(lambda label: parts.get(label, score[:0]))
    rows = sampled_rows(
        certificate,
        census,
        y,
        as_prediction(basis.scoring, y_pred, y.shape),
        scale,
        all_scores=score,
        drawn_scores=score,
        labels=labels,
        features=X or Features({}, 0),
    )
    spread = scored_rows(
        basis.scoring,
        score,
        y,
        as_prediction(basis.scoring, y_pred, y.shape),
        scale,
        columns=None if X is None else X.columns,
        groups=labels,
        violated=judged.violated,
        bound=None if certificate.single is None else certificate.single.gamma,
        numbers=drawn.rows,
        words=drawn_words(len(score)),
    )
    near = _scored(judge.scoring, first.values, columns, used, first_words(len(first.rows)))
    names = relation.columns
    # Copies of a row that have numbers of their own must be in one class.
    shared = [name for name in used if not identifies_rows(_feature(first.values[name]))]
    alike = fetch_class(relation, names, list(dict.fromkeys((*columns.predicted, *shared))) or names, census.n_rows)
    copies = None
    if alike is not None:
        copies = _scored(judge.scoring, alike[0], columns, used, class_words(len(alike[0][names[0]]), alike[1]))
    return summarise_rows(
        certificate,
        rows,
        check_rows(basis, spread, near, census.n_rows, copies=copies),
        counted.ranked(score) if has_curve(certificate, census) else None,
        title=title,
        command=command,
        outlook=outlook,
    )


def _scored(rule: ScoreRule, values: Mapping[str, Any], columns: Columns, used: list[str], words: str) -> ScoredRows:
    """Return rows to be checked for what neighbours or copies have in common."""
    y, y_pred, scale, _, X = _read(values, columns, used, len(used))
    bits = None if X is None else bits_without_ids(list(X.columns.values()))
    prediction = as_prediction(rule, y_pred, y.shape)
    return scored_rows(rule, scores_of(rule, y, y_pred, scale), y, prediction, scale, X=bits, words=words)


def _read(
    values: Mapping[str, Any], columns: Columns, used: list[str], n_features: int
) -> tuple[Any, Any, Any, Any, Features | None]:
    """Return y, T, σ̂, the groups and the features as `report` takes them."""
    y_pred, scale = read_predicted(values, columns)
    labels = None if columns.group is None else as_labels(values[columns.group])
    features = Features({name: _feature(values[name]) for name in used}, n_features) if used else None
    return read_values(values, columns.target), y_pred, scale, labels, features


def _feature(column: Any) -> Column:
    """Numbers where all cells are; else texts, in which a gap is a category of its own."""
    if column.dtype.kind in "fiu":
        return np.asarray(np.ma.filled(column.astype(np.float64), np.nan))
    cells: Any = np.ma.filled(np.ma.asarray(column, dtype=object), "")
    # A cell may also be a list, a record, or bytes.
    texts = np.array([cell if type(cell) is str else str(cell) for cell in cells], dtype=str)
    try:
        return np.where(texts == "", "nan", texts).astype(np.float64)
    except ValueError:
        return np.where(texts == "", "missing", texts)
