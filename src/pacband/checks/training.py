"""Was a fitted model calibrated on its own training rows? Signs that the model itself gives away.

pacband cannot see which rows a model was fitted on elsewhere. Two signs are cheap and nearly certain, and neither finds
every such case: the errors of a least-squares fit sum to zero on its training rows, and a forest keeps its out-of-bag
predictions in the order of its training rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pacband.checks.finding import Finding, Kind
from pacband.checks.tails import normal_tail
from pacband.checks.transforms import centred_ranks
from pacband.core.arrays import Numbers

__all__ = ["SEEN", "check_seen"]

SEEN = "rows that the model was fitted on"
# The sum of errors on training rows is zero up to rounding, as a share of the sum of their sizes.
_ROUNDING = 1e-9
_FEWEST_ROWS = 30


def check_seen(estimator: Any, target: Numbers, prediction: Numbers) -> Finding | None:
    """Check whether the rows are likely to be those that the estimator was fitted on; None if it gives no sign.

    The sum of n independent errors is that small with a probability of about 1e-9·√n.
    """
    if target.ndim != 1 or prediction.shape != target.shape or len(target) < _FEWEST_ROWS:
        return None
    errors = np.subtract(target, prediction, dtype=np.float64)
    if not np.isfinite(errors).all():
        return None
    n = len(errors)
    total = float(np.abs(errors).sum())
    if abs(math.fsum(errors)) <= _ROUNDING * total and len(np.unique(errors)) > n / 2:
        return _finding("the errors sum to zero, as those of a least-squares fit on its own rows", 1e-9 * math.sqrt(n))
    kept = getattr(estimator, "oob_prediction_", None)
    if kept is None or np.shape(kept) != (n,):
        return None
    ours, theirs = centred_ranks(prediction.astype(np.float64)), centred_ranks(np.asarray(kept, dtype=np.float64))
    if ours is None or theirs is None:
        return None
    correlation = float(ours @ theirs) / math.sqrt(float(ours @ ours) * float(theirs @ theirs))
    return _finding(
        "the predictions follow, row by row, the out-of-bag predictions of the training rows: rank correlation "
        f"{correlation:.2f}",
        normal_tail(correlation * math.sqrt(n - 1)),
    )


def _finding(seen: str, p_value: float) -> Finding:
    return Finding(
        code=Kind.SIGNS_OF_TRAINING,
        check=SEEN,
        seen=seen,
        p_value=p_value,
        effect="The model has probably seen these rows: its errors on them are too small, and so is the bound.",
        advice="Calibrate on rows that the model has not seen. Pass training=(X, y) to have them compared.",
    )
