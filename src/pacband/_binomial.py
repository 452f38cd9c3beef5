"""The binomial tail B(k; N, ε), in floating point and, where floating point cannot tell, in 80 digits.

Everything pacband promises rests on one comparison, B(r − 1; N, ε) ≤ δ. `scipy.special.betaincc` evaluates the
left side with a relative error of at most 6e-11 over N ≤ 1e12, ε ≥ 1e-9 and δ ≥ 1e-300, which settles the
comparison unless the two sides agree to within `_DOUBT`. Those near-ties are settled with 80-digit decimals;
sides that agree to 40 digits are equal (such as B(k; 2k + 1, ½) = ½, for every k).

Loading scipy takes longer than summing a few thousand terms in 80 digits: as long as nothing else has loaded it, the
digits serve alone, and a plan on the command line is there at once.
"""

from __future__ import annotations

import math
import sys
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

__all__ = ["binomial_tail", "special", "tail_at_most"]

_DOUBT = 1e-9
# Below this Nε the sum in 80 digits takes a millisecond.
_FEW = 1e4
_CONTEXT = Context(prec=80, Emin=-(10**9), Emax=10**9)
_EQUAL = Decimal("1e-40")
_HALF_LOG_TWO_PI = Decimal("0.91893853320467274178032973640561763986139747363778341281715154048276569592726040")
# B₂ⱼ / (2j(2j − 1)), the coefficients of Stirling's series.
_STIRLING = [
    Fraction(b) / (2 * j * (2 * j - 1))
    for j, b in enumerate(("1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510"), start=1)
]


@cache
def _scipy_special() -> Any:
    import scipy.special

    return scipy.special


def special(n_samples: int, eps: float) -> Any:
    """Return scipy.special, or None where the digits alone are quicker than loading it."""
    return None if "scipy.special" not in sys.modules and n_samples * eps < _FEW else _scipy_special()


def binomial_tail(n_samples: int, rank: int, eps: float) -> float:
    """Return B(r − 1; N, ε), the probability of fewer than r successes in N trials, as a float."""
    scipy_special = special(n_samples, eps)
    if scipy_special is not None:
        return float(scipy_special.betaincc(rank, n_samples - rank + 1, eps))
    with localcontext(_CONTEXT):
        return float(_decimal_tail(n_samples, rank, eps))


def tail_at_most(n_samples: int, rank: int, eps: float, budget: Fraction) -> bool:
    """Decide B(r − 1; N, ε) ≤ budget, exactly."""
    if special(n_samples, eps) is not None:
        tail, limit = binomial_tail(n_samples, rank, eps), float(budget)
        if abs(tail - limit) > _DOUBT * limit:
            return tail < limit
    with localcontext(_CONTEXT):
        target = _decimal(budget)
        return _decimal_tail(n_samples, rank, eps) <= target + target * _EQUAL


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _decimal_tail(n_samples: int, rank: int, eps: float) -> Decimal:
    """B(r − 1; N, ε) from its largest term: term(k)·(1 + k/(N−k+1)·(1−ε)/ε + …), k = r − 1, downwards.

    Below the mean the ratios are under one and shrink, so that the sum has about 14·sqrt(Nε) terms.
    Above the mean, the complement is summed upwards instead.
    """
    k = rank - 1
    chance = Fraction(eps)
    if k > n_samples * chance:
        # 1 − B(k; N, ε) = B(N − k − 1; N, 1 − ε), whose largest term lies below its own mean.
        return 1 - _sum_down(n_samples, n_samples - rank, 1 - chance)
    return _sum_down(n_samples, k, chance)


def _sum_down(n_samples: int, k: int, chance: Fraction) -> Decimal:
    if k < 0:
        return Decimal(0)
    success, failure = chance.numerator, chance.denominator - chance.numerator
    one = 1 << 200
    term = total = one
    for i in range(k, 0, -1):
        term = term * (i * failure) // ((n_samples - i + 1) * success)
        if term == 0:
            break
        total += term
    log_term = (
        _log_factorial(n_samples)
        - _log_factorial(k)
        - _log_factorial(n_samples - k)
        + k * _decimal(chance).ln()
        + (n_samples - k) * _decimal(1 - chance).ln()
    )
    return log_term.exp() * total / one


def _log_factorial(n: int) -> Decimal:
    if n < 1000:
        return Decimal(math.factorial(n)).ln()
    x = Decimal(n)
    series = sum((_decimal(c) / x ** (2 * j + 1) for j, c in enumerate(_STIRLING)), Decimal(0))
    return (x + Decimal("0.5")) * x.ln() - x + _HALF_LOG_TWO_PI + series
