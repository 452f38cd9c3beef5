"""Is every row a new draw? Checks for duplicated rows and for rows on which the model was fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import poisson

from pacband.certification.reused_rows import refuse_reused_rows
from pacband.core.arrays import Floats, Numbers
from pacband.core.row_hashes import Fingerprints, equal_pairs, row_fingerprints
from pacband.diagnostics.diagnosis import Finding
from pacband.exceptions import InvalidInput, ReusedData

__all__ = ["check_duplicates", "check_overlap", "joint_print"]


def check_duplicates(target: Numbers, columns: Floats, X: Any) -> Finding | None:
    """Check whether whole rows repeat more often than coarse values explain.

    By chance, about (pairs with equal targets)·(pairs with equal other columns)/(all pairs) pairs agree in both. Rows
    were copied if there are more such pairs, and if most rows that agree in all other columns agree in the target too.
    """
    rest = row_fingerprints(columns, columns) if X is None else row_fingerprints(X, columns)
    targets = row_fingerprints(target, target)
    if rest is None or targets is None or len(rest) < 2:
        return None
    whole = row_fingerprints(rest, targets)
    assert whole is not None  # they are arrays
    n = len(whole)
    pairs, alike = equal_pairs(whole), equal_pairs(rest)
    expected = alike * equal_pairs(targets) / (n * (n - 1) / 2)
    copied = pairs > alike - pairs
    return Finding(
        check="duplicated rows",
        seen=f"{n - len(np.unique(whole))} of {n} rows repeat another row in every given column",
        p_value=float(poisson.sf(pairs - 1, expected)) if pairs and copied else 1.0,
        effect="A repeated row is one draw and not two: there are fewer independent rows than it seems.",
        advice="Remove the repeated rows, and find their cause: a join, a retry, files that overlap.",
    )


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
        check="overlap with training",
        seen=f"{shared} of {len(fresh)} calibration rows are training rows as well",
        p_value=p_value,
        effect="The model was fitted on these rows: its errors on them are too small, and so is the bound.",
        advice="Calibrate on rows that neither the predictor nor the scale has seen: split before fitting.",
    )


def joint_print(columns: Iterable[Any]) -> Fingerprints | None:
    """Return one fingerprint a row for several columns; None if there are no columns.

    Two rows have equal fingerprints if they agree in every column. The columns may have different types.
    """
    whole: Fingerprints | None = None
    for column in columns:
        whole = row_fingerprints(column, column) if whole is None else row_fingerprints(whole, column)
        assert whole is not None  # they are arrays
    return whole
