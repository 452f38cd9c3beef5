"""The binomial tail B(k; N, ε): in floating point, and in 80 digits where floating point cannot decide.

Every promise of pacband rests on one comparison, B(r − 1; N, ε) ≤ δ. `scipy.special.betaincc` evaluates the left side
with a relative error of at most 6e-11 over N ≤ 1e12, ε ≥ 1e-9 and δ ≥ 1e-300. This decides the comparison unless the
two sides agree to within `_DOUBT`. Those near-ties are decided with 80-digit decimals. Sides that agree to 40 digits
are equal (such as B(k; 2k + 1, ½) = ½, for every k). If the sum has many terms, its 80 digits are computed from the
integral that equals it, in about twenty milliseconds for any N.

Loading scipy takes longer than summing a few thousand terms in 80 digits. As long as no other module has loaded scipy,
small tails are computed in 80 digits alone, so that `pacband plan` starts fast.
"""

from __future__ import annotations

import math
import sys
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

__all__ = ["binomial_tail", "covering_delta", "log_factorial", "special", "tail_at_least", "tail_at_most"]

_DOUBT = 1e-9
# Below this Nε the sum in 80 digits takes a millisecond.
_FEW = 1e4
# (1 − ε)^N has some 3e11 zeros after the point for N = 1e12 and ε = ½, and 1.6e13 for ε next to one.
_CONTEXT = Context(prec=80, Emin=-(10**15), Emax=10**15)
# From this many terms on, the sum is taken as an integral.
_MANY_TERMS = 40_000
# Terms of the sum, and of a power series, that are smaller than this part of it are left out.
_SUM_BITS = 200
_NEGLIGIBLE = Decimal("1e-76")
# Steps of few digits: a step may be any number, and t + H is then exact.
_CONTEXT_OF_STEPS = Context(prec=6)
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


def tail_at_least(n_samples: int, rank: int, eps: float, level: Fraction) -> bool:
    """Decide B(r − 1; N, ε) ≥ level, exactly."""
    if special(n_samples, eps) is not None:
        tail, limit = binomial_tail(n_samples, rank, eps), float(level)
        if abs(tail - limit) > _DOUBT * limit:
            return tail > limit
    with localcontext(_CONTEXT):
        target = _decimal(level)
        return _decimal_tail(n_samples, rank, eps) >= target - target * _EQUAL


def covering_delta(n_samples: int, rank: int, eps: float, share: Fraction) -> float:
    """Return the smallest float δ > 0 with share·δ ≥ B(r − 1; N, ε), or 1.0 if there is none."""
    with localcontext(_CONTEXT):
        needed = _decimal_tail(n_samples, rank, eps) / (_decimal(share) * (1 + _EQUAL))
        delta = max(float(needed), math.ulp(0.0)) if needed < 1 else 1.0
        return delta if Decimal(delta) >= needed or delta == 1.0 else math.nextafter(delta, 1.0)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _decimal_tail(n_samples: int, rank: int, eps: float) -> Decimal:
    """Return B(r − 1; N, ε) from its largest term: term(k)·(1 + k/(N−k+1)·(1−ε)/ε + …), k = r − 1, downwards.

    Below the mean the ratios are under one and shrink, so that the sum has about 17·sqrt(Nε(1−ε)) terms.
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
    ratio = _summed_ratios if _number_of_terms(n_samples, k, float(chance)) < _MANY_TERMS else _integrated_ratio
    sum_over_term = ratio(n_samples, k, chance)
    log_term = (
        log_factorial(n_samples)
        - log_factorial(k)
        - log_factorial(n_samples - k)
        + k * _log(chance)
        + (n_samples - k) * _log(1 - chance)
    )
    return log_term.exp() * sum_over_term


def _number_of_terms(n_samples: int, k: int, chance: float) -> float:
    """Return about how many terms matter. They fall at least as fast as a normal density, and as their first ratio."""
    spread = math.sqrt(n_samples * chance * (1.0 - chance))
    excess = (n_samples * chance - k) / (spread * spread) if spread else math.inf
    depth = _SUM_BITS * math.log(2.0)
    return min(k, spread * math.sqrt(2.0 * depth), depth / excess if excess > 0.0 else math.inf)


def _summed_ratios(n_samples: int, k: int, chance: Fraction) -> Decimal:
    """Return Σ term(i)/term(k) over i ≤ k, summed in fixed point."""
    success, failure = chance.numerator, chance.denominator - chance.numerator
    one = 1 << _SUM_BITS
    term = total = one
    for i in range(k, 0, -1):
        term = term * (i * failure) // ((n_samples - i + 1) * success)
        if term == 0:
            break
        total += term
    return Decimal(total) / one


def _integrated_ratio(n_samples: int, k: int, chance: Fraction) -> Decimal:
    """Return Σ term(i)/term(k) over i ≤ k, as an integral: (N − k)/(1 − ε)·∫ g(t)/g(ε) dt from ε to 1.

    B(k; N, ε) is the probability that a Beta(k + 1, N − k) exceeds ε, so that g(t) = t^k (1 − t)^m, m = N − k − 1. The
    integral is taken in steps of about one standard deviation. Within a step, g is a power series: from
    t(1 − t)g′ = (k − (k + m)t)g its coefficients follow one from the other,

        t(1 − t)(n + 1)c₊ = (k − (k + m)t − (1 − 2t)n)c − (k + m − n + 1)c₋.

    With the steps H below, |H/t(1 − t)| ≤ ½, and from n = 40 on the terms c·Hⁿ fall by a factor of ¾ at least. They
    stay below e⁵ of the sum, so that few of the 80 digits cancel. The logarithm of g is concave: beyond t, where g
    falls at the rate λ = −g′/g, no more than g(t)/λ is left.
    """
    m = n_samples - k - 1
    t, g, total = _decimal(chance), Decimal(1), Decimal(0)
    while True:
        v, slope = t * (1 - t), k - (k + m) * t
        if slope < 0 and g * v < _NEGLIGIBLE * total * -slope:
            return total * (n_samples - k) / (1 - _decimal(chance))
        step = min((v / (k + m)).sqrt(), t / 4, (1 - t) / 4)
        if slope:
            step = min(step, 4 * v / abs(slope))
        step = _CONTEXT_OF_STEPS.plus(step)
        rate, bend, skew = step / v, step * step / v, 1 - 2 * t
        before, term, n = Decimal(0), Decimal(1), 0
        end, area = Decimal(1), Decimal(1)
        while n < 40 or abs(term) + abs(before) > _NEGLIGIBLE * end:
            before, term = term, (rate * (slope - skew * n) * term - bend * (k + m - n + 1) * before) / (n + 1)
            n += 1
            end += term
            area += term / (n + 1)
        total += g * step * area
        g *= end
        t += step


# A search for N or r needs the same logarithms many times. Each takes longer than the sum of a small tail.
@lru_cache(maxsize=64)
def _log(chance: Fraction) -> Decimal:
    return _decimal(chance).ln()


@lru_cache(maxsize=64)
def log_factorial(n: int) -> Decimal:
    """Return ln n! with an error below 1e-50, in a context of 80 digits."""
    if n < 1000:
        return Decimal(math.factorial(n)).ln()
    x = Decimal(n)
    series = sum((_decimal(c) / x ** (2 * j + 1) for j, c in enumerate(_STIRLING)), Decimal(0))
    return (x + Decimal("0.5")) * x.ln() - x + _HALF_LOG_TWO_PI + series
