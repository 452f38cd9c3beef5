"""The evidence against "violations are no more frequent than ε": an e-process, valid whenever it is looked at.

Violations are a stream of zeros and ones. For one rate p > ε the likelihood ratio (p/ε)^S ((1−p)/(1−ε))^F, with S
violations and F others, has a mean of at most one at all times while P(violation) ≤ ε, whatever came before. So
has its mixture over p. With the prior Beta(a, b), of mean ε, cut to (ε, 1):

    E = B(a+S, b+F)·I(a+S, b+F) / (B(a, b)·I(a, b)) · ε^−S (1−ε)^−F,   I(a, b) = P(Beta(a, b) > ε).

By Ville's inequality E ever reaches 1/α with a probability of at most α: no look at it costs anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincc, betaln, rel_entr

__all__ = ["first_crossing", "log_e_value", "prior"]

_SHAPE = 0.5
# More than the rounding of n·KL, so that no crossing is passed over.
_SLACK = 1e-6


def prior(eps: float) -> tuple[float, float]:
    """Return (a, b) of the prior, whose mean is ε: (0.5, 9.5) at ε = 0.05."""
    return _SHAPE, _SHAPE * (1.0 - eps) / eps


def log_e_value(violations: npt.ArrayLike, rows: npt.ArrayLike, eps: float) -> Any:
    """Return ln E after so many violations in so many rows; −∞ where E is below the smallest float.

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
    """Return the first of these moments at which ln E reaches the threshold, or None.

    E grows at violations only, so the moments of violations are enough. A mixture is below the largest of
    what it mixes: ln E ≤ n·KL(S/n ‖ ε), and E ≤ 1 where S/n ≤ ε; that spares all but the suspicious moments.
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
