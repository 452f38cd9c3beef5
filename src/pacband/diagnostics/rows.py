"""Was the model fitted on some of the rows? A check against the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.certification.reused_rows import read_training, refuse_reused_rows
from pacband.checks import Finding
from pacband.checks.finding import Kind
from pacband.core.row_hashes import row_fingerprints
from pacband.exceptions import InvalidInput, ReusedData

__all__ = ["check_overlap", "overlap_finding"]


def check_overlap(X: Any, y: Any, training: Any) -> Finding | None:
    """Check whether more calibration rows (x, y) are training rows than repeated rows explain."""
    seen, fitted = read_training(training, "(X, y)")
    if fitted is not None and np.ndim(X) == 2 and np.ndim(fitted[0]) == 2 and np.shape(X)[1] != np.shape(fitted[0])[1]:
        raise InvalidInput(
            "X and the X of training must have the same number of columns, got "
            f"{np.shape(X)[1]} and {np.shape(fitted[0])[1]}."
        )
    fresh = row_fingerprints(X, y)
    if fresh is None:
        return None
    shared = int(np.isin(fresh, seen).sum())
    try:
        refuse_reused_rows(seen, fresh, (X, y), fitted=fitted)
    except ReusedData:
        p_value = 0.0
    else:
        p_value = 1.0
    return overlap_finding(shared, len(fresh), p_value)


def overlap_finding(shared: int, n_draws: int, p_value: float, draws: str = "rows") -> Finding:
    """Return what is found if the model was fitted on some of the rows, or of other draws."""
    return Finding(
        code=Kind.TRAINING_ROWS,
        check="overlap with training",
        seen=f"{shared} of {n_draws} calibration {draws} are training {draws} as well",
        p_value=p_value,
        effect=f"The model was fitted on these {draws}: its errors on them are too small, and so is the bound.",
        advice=f"Calibrate on {draws} that neither the predictor nor the scale has seen: split before fitting.",
    )
