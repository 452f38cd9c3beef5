"""The report of a model with raw rows in files: the model predicts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pacband.core.progress import Progress
from pacband.diagnostics.rows import overlap_finding
from pacband.reporting.document import Report
from pacband.reporting.tables import report_table
from pacband.tables.model_rows import ModelTable
from pacband.tables.predicted import PredictedTable, predicted_table

__all__ = ["report_model"]


def report_model(
    table: ModelTable,
    *,
    features: Sequence[str] | None = None,
    progress: Progress = lambda done, total: None,
    **options: Any,
) -> Report:
    """Make the report of a model with the rows of a table; see `report_table`. By default its inputs are the features.

    If the model was fitted on some of the rows, or of their units, the report lists this as a finding.
    """
    with predicted_table(table, progress) as predicted:
        report = report_table(
            table.model.certificate_,
            predicted.relation,
            predicted.columns,
            features=list(table.kinds) if features is None else features,
            draws=table.draws,
            **options,
        )
        return _with_overlap(report, table, predicted)


def _with_overlap(report: Report, table: ModelTable, predicted: PredictedTable) -> Report:
    """Return the report with a finding, if the model was fitted on some of the rows or units."""
    of_rows, basis = report.summary.of_rows, table.model.certificate_.basis
    if of_rows is None or not (predicted.seen.reused or predicted.seen_units):
        return report
    if predicted.seen_units:
        finding = overlap_finding(predicted.seen_units, of_rows.rows.n_rows, 0.0, basis.draws.counted)
    else:
        finding = overlap_finding(predicted.seen.n_rows, table.count(), 0.0)
    diagnosis = of_rows.diagnosis.with_finding(finding)
    return Report(replace(report.summary, of_rows=replace(of_rows, diagnosis=diagnosis)))
