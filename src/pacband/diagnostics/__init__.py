"""Checks before certifying: whether the calibration rows are independent draws from one distribution."""

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
    """Look for properties of the calibration rows that break the promise of a certificate.

    The checks are: serial dependence and drift of the scores in row order, duplicated rows, rows shared with
    `training`, a few scores that dominate, ties, groups beyond the common bound, and a scale that does not explain the
    size of errors.

    Sound data are independent rows of one distribution, with continuous scores that do not depend on the scale and
    whose tails are no heavier than exponential. In sound data, the probability of one or more findings is at most
    `level`: the checks share it by Holm's method.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`, in the order in which the rows were drawn.
    X : array-like or dataframe, optional
        The inputs. They show which rows are copies of each other.
    groups : array-like of shape (n,), optional
        A group for every row.
    training : pair (X, y), optional
        The rows on which the model was fitted; needs `X`.
    level : float in (0, 1)
        An upper bound for the probability of one or more findings in sound data.
    eps, delta : float in (0, 1)
        The planned promise. It determines the bound for the checks of groups and ties.
    side, min_scale, nonfinite, gauge
        As in `certify`.

    Returns
    -------
    Diagnosis
        Each finding states what was seen, how certain it is, its effect on the promise, and what to do.

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
