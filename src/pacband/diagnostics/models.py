"""Diagnose raw rows under the promise of a model: the model predicts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacband.core.progress import Progress
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.diagnostics.tables import diagnose_table
from pacband.tables.model_rows import ModelTable
from pacband.tables.predicted import predicted_table

__all__ = ["diagnose_model"]


def diagnose_model(
    table: ModelTable,
    *,
    inputs: Sequence[str] = (),
    level: float = 0.01,
    progress: Progress = lambda done, total: None,
) -> Diagnosis:
    """Look for properties of raw rows that break the promise of a model; see `diagnose`.

    The promise is that of the model's certificate. Rows are compared with those that the model was fitted on.
    """
    basis: Any = table.model.certificate_.basis
    training, rule = table.model.known_training, basis.scoring
    with predicted_table(table, progress) as predicted:
        return diagnose_table(
            predicted.relation,
            predicted.columns,
            inputs=inputs,
            training=None if training is None else (list(table.kinds), training),
            level=level,
            eps=basis.eps,
            delta=basis.delta,
            side=rule.side,
            min_scale=rule.min_scale,
            nonfinite=rule.nonfinite,
            gauge=rule.gauge,
            draws=table.draws,
        )
