"""The evidence against "P(violation) ≤ ε": an e-process, which is valid however often one looks at it.

Violations are a stream of zeros and ones. For one rate p > ε, the likelihood ratio is (p/ε)^S ((1−p)/(1−ε))^F with S
violations and F other rows. While P(violation) ≤ ε given the past, its mean is at most one at all times. The same holds
for a mixture over p. With the prior Beta(a, b) of mean ε, truncated to (ε, 1):

    E = B(a+S, b+F)·I(a+S, b+F) / (B(a, b)·I(a, b)) · ε^−S (1−ε)^−F,   I(a, b) = P(Beta(a, b) > ε).

By Ville's inequality, E ever reaches 1/α with probability at most α.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincc, betaln, rel_entr

__all__ = ["first_crossing", "log_e_value", "prior"]

_SHAPE = 0.5
# An upper bound for the rounding error of n·KL, so that no crossing is missed.
_SLACK = 1e-6


def prior(eps: float) -> tuple[float, float]:
    """Return (a, b) of the prior Beta(a, b) with mean ε: (0.5, 9.5) for ε = 0.05."""
    return _SHAPE, _SHAPE * (1.0 - eps) / eps


def log_e_value(violations: npt.ArrayLike, rows: npt.ArrayLike, eps: float) -> Any:
    """Return ln E for these numbers of violations and rows; −∞ if E is below the smallest float.

    Examples
    --------
    >>> float(log_e_value(0, 0, 0.05))
    0.0
    >>> round(float(log_e_value(10, 60, 0.05)), 2)
    4.41
    """
    a, b = prior(eps)
    hits, misses = np.asarray(violations, dtype=np.float64), np.subtract(rows, violations, dtype=np.float64)
    with np.errstate(divide="ignore"):
        posterior = betaln(a + hits, b + misses) + np.log(betaincc(a + hits, b + misses, eps))
    return posterior - betaln(a, b) - np.log(betaincc(a, b, eps)) - hits * np.log(eps) - misses * np.log1p(-eps)


def first_crossing(
    violations: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], eps: float, log_threshold: float
) -> int | None:
    """Return the position of the first pair (violations, rows) at which ln E reaches the threshold, or None.

    E grows only at violations, so the pairs at violations are enough. A mixture is at most the largest of its parts:
    ln E ≤ n·KL(S/n ‖ ε), and E ≤ 1 if S/n ≤ ε. So E is computed only where this upper bound reaches the threshold.
    """
    above = violations > eps * rows
    if not above.any():
        return None
    suspicious = np.flatnonzero(above)
    hits, n = violations[suspicious].astype(np.float64), rows[suspicious].astype(np.float64)
    ceiling = rel_entr(hits, n * eps) + rel_entr(n - hits, n * (1.0 - eps))
    suspicious = suspicious[ceiling >= log_threshold - _SLACK]
    crossed = log_e_value(violations[suspicious], rows[suspicious], eps) >= log_threshold
    return int(suspicious[np.argmax(crossed)]) if crossed.any() else None
