"""Calibration rows must not be training rows: what is refused, and what a model that was fitted elsewhere shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from pacband.candidates.members import Member
from pacband.certification.reused_rows import refuse_copies, refuse_reused_rows
from pacband.checks.frames import drop_columns, id_columns
from pacband.checks.screening import LEVEL
from pacband.checks.training import check_seen
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import as_numbers
from pacband.core.row_hashes import Fingerprints, row_fingerprints
from pacband.core.row_repeats import chance_of_repeats

__all__ = ["fingerprints", "refuse_copied_rows", "refuse_seen_rows", "warn_of_training_rows"]


def fingerprints(X: Any, y: Any) -> Fingerprints:
    """Return the fingerprints of training rows, or an empty array if the container is of an unknown kind."""
    found = row_fingerprints(X, y)
    return np.empty(0, dtype=np.uint64) if found is None else found


def refuse_seen_rows(
    training: Fingerprints | None,
    X: Any,
    y: Any,
    fitted: tuple[Any, Any] | None = None,
) -> None:
    """Raise if calibration rows are training rows, beyond those that agree by chance.

    `fitted` are the rows given to `fit`.
    """
    calibration = row_fingerprints(X, y)
    if training is not None and calibration is not None and np.isin(calibration, training).any():
        refuse_reused_rows(training, calibration, (X, y), fitted=fitted)


def refuse_copied_rows(
    training: Fingerprints, fitted: tuple[Any, Any], calibration: tuple[Any, Any], table: tuple[Any, Any]
) -> None:
    """Raise if one table was split, and more calibration rows are copies of training rows than chance explains.

    `training` are the fingerprints of `fitted`; the others are pairs (X, y).
    """
    _refuse_copies(training, calibration, table)
    if ids := id_columns(table[0]):
        # A copy of a row may have a number of its own.
        rows, fresh, whole = ((drop_columns(X, ids), y) for X, y in (fitted, calibration, table))
        _refuse_copies(fingerprints(*rows), fresh, whole)


def _refuse_copies(training: Fingerprints, calibration: tuple[Any, Any], table: tuple[Any, Any]) -> None:
    fresh = row_fingerprints(*calibration)
    if fresh is not None and np.isin(fresh, training).any():
        refuse_copies(training, fresh, chance_of_repeats(table))


def warn_of_training_rows(members: Mapping[str, Member], X: Any, y: Any) -> None:
    """Warn if a model that was fitted elsewhere shows signs of having been fitted on these rows."""
    for member in members.values():
        if not hasattr(member.predictor, "fit"):
            continue
        model = member.predictor.estimator if isinstance(member.predictor, FrozenEstimator) else member.predictor
        last = model[-1] if hasattr(model, "named_steps") else model
        finding = check_seen(last, as_numbers("y", y), as_numbers("prediction", member.predict(X)))
        if finding is not None and finding.p_value <= LEVEL / len(members):
            warn_of_findings([finding])
            return
