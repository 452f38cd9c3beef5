"""Was the model fitted on some of the units? New rows of such a unit are no new unit."""

from __future__ import annotations

from pacband.certification.fitted import PredictedRows
from pacband.core.labels import as_labels, factorize
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.diagnostics.rows import overlap_finding
from pacband.draws import Units

__all__ = ["with_seen_units"]


def with_seen_units(diagnosis: Diagnosis, rows: PredictedRows, counted: str) -> Diagnosis:
    """Return the diagnosis of a model's rows with a finding, if the model was fitted on some of their units.

    `counted` is what the certificate calls the units.
    """
    if not rows.seen_units or not isinstance(rows.draws, Units):
        return diagnosis
    names, _ = factorize(as_labels(rows.draws.labels))
    return diagnosis.with_finding(overlap_finding(len(rows.seen_units), len(names), 0.0, counted))
