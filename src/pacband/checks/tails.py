"""Tail probabilities for the checks, without scipy: a small job does not load it."""

from __future__ import annotations

import math

__all__ = ["chi2_tail", "f_tail", "kolmogorov_tail", "normal_tail"]


def normal_tail(z: float) -> float:
    """Return P(Z > z) for a standard normal variable."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def chi2_tail(value: float, df: int) -> float:
    """Return P(χ² > value), for the odd or even degrees of freedom that the checks use.

    The tail of 1 or 2 degrees has a closed form, and Q(df + 2) = Q(df) + (value/2)^(df/2) e^(−value/2) / Γ(df/2 + 1).

    Examples
    --------
    >>> round(chi2_tail(16.266, 3), 6)
    0.001
    """
    half = value / 2.0
    known = 2 if df % 2 == 0 else 1
    tail = math.exp(-half) if known == 2 else math.erfc(math.sqrt(half))
    while known < df:
        tail += half ** (known / 2) * math.exp(-half) / math.gamma(known / 2 + 1.0)
        known += 2
    return min(1.0, tail)


def f_tail(ratio: float, between: float, within: float) -> float:
    """Return P(F > ratio), by the normal approximation of Paulson (1942) to the cube root.

    For tails from 1e-6 to 0.01 and at least 4 and 30 degrees of freedom, it is between 1 and 2.2 times the true value.

    Examples
    --------
    >>> round(f_tail(2.0, 20, 200), 4)
    0.0087
    """
    if ratio <= 0.0:
        return 1.0
    if math.isinf(ratio):
        return 0.0
    root = ratio ** (1.0 / 3.0)
    numerator, denominator = 2.0 / (9.0 * between), 2.0 / (9.0 * within)
    return normal_tail(
        ((1.0 - denominator) * root - (1.0 - numerator)) / math.sqrt(denominator * root * root + numerator)
    )


def kolmogorov_tail(value: float) -> float:
    """Return P(sup |Brownian bridge| > value) = 2 Σ (−1)^(k−1) exp(−2 k² value²)."""
    if value < 0.2:
        return 1.0
    return min(
        1.0,
        2.0 * math.fsum((-1.0) ** (k - 1) * math.exp(-2.0 * (k * value) ** 2) for k in range(1, 3 + int(4.0 / value))),
    )
