"""A confidence sequence for the violation rate: an interval that is valid however often one looks at it.

For the true rate p, the mixture likelihood ratio K(p) = B(a+S, b+F) / (B(a, b) p^S (1−p)^F) is a martingale of mean
one. So the set {p : K(p) < 1/(1 − level)} contains the true rate at all times at once with probability `level`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import betaln

from pacband.core.checks import check_probability
from pacband.monitoring.eprocess import prior

__all__ = ["confidence_sequence"]


def confidence_sequence(violations: int, rows: int, eps: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval for the violation rate, for these numbers of violations and rows.

    Examples
    --------
    >>> [round(end, 4) for end in confidence_sequence(50, 1000, eps=0.05)]
    [0.0304, 0.0761]
    >>> confidence_sequence(0, 0, eps=0.05)
    (0.0, 1.0)
    """
    level = check_probability("level", level)
    if rows == 0:
        return 0.0, 1.0
    a, b = prior(eps)
    others = rows - violations
    mixture = float(betaln(a + violations, b + others) - betaln(a, b)) + math.log1p(-level)

    def excess(p: float) -> float:
        """Return ln K(p) minus its limit: it falls for p < S/n and rises for p > S/n."""
        hits = violations * math.log(p) if violations else 0.0
        misses = others * math.log1p(-p) if others else 0.0
        return mixture - hits - misses

    centre = violations / rows
    low = _root(excess, 1e-300, centre) if violations else 0.0
    high = _root(excess, centre, math.nextafter(1.0, 0.0)) if others else 1.0
    return low, high


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    if low == 0.0:
        low = 1e-300
    if high == 1.0:
        high = math.nextafter(1.0, 0.0)
    at_low, at_high = function(low), function(high)
    if at_low * at_high >= 0.0:
        return low if abs(at_low) < abs(at_high) else high
    return float(brentq(function, low, high, xtol=1e-15, rtol=1e-12))
