"""Was the model fitted on some of the rows? A check against the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.certification.reused_rows import refuse_reused_rows
from pacband.checks import Finding
from pacband.checks.finding import Kind
from pacband.core.row_hashes import row_fingerprints
from pacband.exceptions import InvalidInput, ReusedData

__all__ = ["check_overlap"]


def check_overlap(X: Any, y: Any, training: Any) -> Finding | None:
    """Check whether more calibration rows (x, y) are training rows than repeated rows explain."""
    if not isinstance(training, tuple) or len(training) != 2:
        raise InvalidInput(f"training must be a pair (X, y) of the rows fitted on, got {type(training).__name__}.")
    if np.ndim(X) == 2 and np.ndim(training[0]) == 2 and np.shape(X)[1] != np.shape(training[0])[1]:
        raise InvalidInput(
            "X and the X of training must have the same number of columns, got "
            f"{np.shape(X)[1]} and {np.shape(training[0])[1]}."
        )
    seen, fresh = row_fingerprints(*training), row_fingerprints(X, y)
    if seen is None or fresh is None:
        return None
    shared = int(np.isin(fresh, seen).sum())
    try:
        refuse_reused_rows(seen, fresh, (X, y), fitted=training)
    except ReusedData:
        p_value = 0.0
    else:
        p_value = 1.0
    return Finding(
        code=Kind.TRAINING_ROWS,
        check="overlap with training",
        seen=f"{shared} of {len(fresh)} calibration rows are training rows as well",
        p_value=p_value,
        effect="The model was fitted on these rows: its errors on them are too small, and so is the bound.",
        advice="Calibrate on rows that neither the predictor nor the scale has seen: split before fitting.",
    )
