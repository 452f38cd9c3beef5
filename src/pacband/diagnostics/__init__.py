"""Before the promise: whether calibration rows look like independent draws from one distribution."""

from __future__ import annotations

from typing import Any

from pacband.core.arrays import check_same_rows
from pacband.core.checks import check_probability
from pacband.diagnostics.checks import run_checks, scored_rows
from pacband.diagnostics.diagnosis import Diagnosis, Finding
from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule, scores_of

__all__ = ["Diagnosis", "Finding", "diagnose"]


def diagnose(
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    X: Any = None,
    groups: Any = None,
    training: Any = None,
    level: float = 0.01,
    eps: float = 0.05,
    delta: float = 1e-6,
    side: str = "both",
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
) -> Diagnosis:
    """Look for what would break the promise of a certificate, in rows as they came.

    Checked are serial dependence and drift of the scores in row order, duplicated rows, rows shared with
    `training`, a few scores that dominate, ties, groups beyond the common bound, and a scale that does not explain the
    size of errors.

    In sound data (independent rows of one distribution; scores that are continuous, have tails no heavier than
    exponential, and do not depend on the scale) any finding at all comes up with probability `level` at most: the
    checks share it, after Holm.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`, in the order in which rows were drawn.
    X : array-like or dataframe, optional
        The inputs, to tell rows apart by.
    groups : array-like of shape (n,), optional
        A group for every row.
    training : pair (X, y), optional
        The rows that the model was built from; needs `X`.
    level : float in (0, 1)
        The probability of one or more findings in sound data.
    eps, delta : float in (0, 1)
        The promise to be made; it decides the bound that groups and ties are held against.
    side, min_scale, nonfinite, gauge
        As in `certify`.

    Returns
    -------
    Diagnosis
        Its findings say what was seen, how sure it is, what it does to the promise, and what to do.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal(1000)
    >>> pacband.diagnose(noise, np.zeros(1000)).sound
    True
    >>> for i in range(1, 1000):
    ...     noise[i] += 0.6 * noise[i - 1]
    >>> [finding.check for finding in pacband.diagnose(noise, np.zeros(1000)).findings]
    ['serial dependence']
    """
    level = check_probability("level", level)
    eps, delta = check_probability("eps", eps), check_probability("delta", delta)
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
    if training is not None and X is None:
        raise InvalidInput("training rows were given, but not X: rows are compared in inputs and target.")
    rule = ScoreRule.create(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite)
    rows = scored_rows(rule, scores_of(rule, y, y_pred, scale), y, y_pred, scale, X=X, groups=groups)
    return run_checks(rows, n_rows=len(rows.scores), level=level, eps=eps, delta=delta, training=training)
