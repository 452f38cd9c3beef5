"""Is every row a draw of its own? Rows that come twice, and rows that the model was built from."""

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
    """Whether whole rows come more than once, and more often than coarse values explain.

    By chance, equal targets and equal other columns meet in about (pairs with equal targets)·(pairs equal in all
    else)/(all pairs) pairs. Where there are more, and where rows that agree in all else mostly agree in the
    target as well, rows were copied.
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
        seen=f"{n - len(np.unique(whole))} of {n} rows repeat another row in every column that was given",
        p_value=float(poisson.sf(pairs - 1, expected)) if pairs and copied else 1.0,
        effect="A row that counts twice is one draw and not two: the rows are worth fewer than they seem.",
        advice="Remove the repeats, and ask where they came from: a join, a retry, an overlap of files.",
    )


def check_overlap(X: Any, y: Any, training: Any) -> Finding | None:
    """Whether calibration rows (x, y) are among the training rows, and more of them than repeated rows explain."""
    if not isinstance(training, tuple) or len(training) != 2:
        raise InvalidInput(f"training must be a pair (X, y) of the rows fitted on, got {type(training).__name__}.")
    if np.ndim(X) == 2 and np.ndim(training[0]) == 2 and np.shape(X)[1] != np.shape(training[0])[1]:
        raise InvalidInput(
            f"X and the X of training must have as many columns, got {np.shape(X)[1]} and {np.shape(training[0])[1]}."
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
        effect="The model knows these rows: its errors on them are too small, and so is the bound.",
        advice="Calibrate on rows that neither the predictor nor the scale has seen; split before fitting.",
    )


def joint_print(columns: Iterable[Any]) -> Fingerprints | None:
    """Return one fingerprint of several columns for every row; None without any.

    Rows agree in it where they agree in every column. The columns may be of different types.
    """
    whole: Fingerprints | None = None
    for column in columns:
        whole = row_fingerprints(column, column) if whole is None else row_fingerprints(whole, column)
        assert whole is not None  # they are arrays
    return whole
