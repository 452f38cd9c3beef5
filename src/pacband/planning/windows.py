"""How many of the next m draws violate: the exact law of a count, calibration and window taken together.

Let γ̄ be the r-th largest of N scores. Draw m more scores. If all N + m scores are exchangeable and distinct, every
order of them is equally likely, and the number J of new scores above γ̄ is BetaBinomial(m; r, N − r + 1). J exceeds j
exactly if at most r − 1 of the r + j largest of all scores are old ones:

    P{J > j} = Σ_{i < r} C(N, i)·C(m, r + j − i) / C(N + m, r + j).

This sum has at most r terms, however large m is. Tied scores make J smaller.

The same number holds for a bound that was given: k = r − 1 of the N scores exceed it. Given that k + j + 1 of all
N + m scores exceed it, every choice of these is equally likely, and the sum is the probability of k or fewer old ones.
So the event "k old ones, and more than j new ones, where j is chosen by k as below" has a probability of at most δ.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

from pacband.core.floats import first
from pacband.planning.binomial import log_factorial

__all__ = ["most_violations", "window_tail"]

_CONTEXT = Context(prec=80, Emin=-(10**15), Emax=10**15)
# Two sides that agree to 40 digits are equal.
_EQUAL = Decimal("1e-40")
_SUM_BITS = 200


def most_violations(n_samples: int, rank: int, n_future: int, budget: Fraction) -> int:
    """Return the smallest j with P{J > j} ≤ budget: at most j of the next m draws exceed the r-th largest of N scores.

    Examples
    --------
    >>> most_violations(1310, 32, 500, Fraction(1, 20))
    19
    """

    def enough(j: int) -> bool:
        with localcontext(_CONTEXT):
            target = Decimal(budget.numerator) / Decimal(budget.denominator)
            return window_tail(n_samples, rank, n_future, j) <= target + target * _EQUAL

    return first(enough, range(n_future), guess=_guess(n_samples, rank, n_future, budget))


def window_tail(n_samples: int, rank: int, n_future: int, j: int) -> Decimal:
    """Return P{J > j} with an error below 1e-45 of it, for 0 ≤ j < m."""
    with localcontext(_CONTEXT):
        log_first = (
            _log_choose(n_samples, rank - 1)
            + _log_choose(n_future, j + 1)
            - _log_choose(n_samples + n_future, rank + j)
        )
        return log_first.exp() * _sum_over_first(n_samples, rank, n_future, j)


def _sum_over_first(n_samples: int, rank: int, n_future: int, j: int) -> Decimal:
    """Return the sum divided by its term i = r − 1, from there downwards, in fixed point."""
    one = 1 << _SUM_BITS
    term = total = one
    for i in range(rank - 1, 0, -1):
        term = term * (i * (n_future - rank - j + i)) // ((n_samples - i + 1) * (rank + j - i + 1))
        if term <= 0:
            break
        total += term
    return Decimal(total) / one


def _log_choose(n: int, k: int) -> Decimal:
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def _guess(n_samples: int, rank: int, n_future: int, budget: Fraction) -> float:
    """Return about the answer, from the normal law with the mean and the variance of J."""
    share = rank / (n_samples + 1)
    variance = n_future * share * (1.0 - share) * (n_samples + 1 + n_future) / (n_samples + 2)
    z = NormalDist().inv_cdf(min(max(1.0 - float(budget), 1e-9), 1.0 - 1e-9))
    return n_future * share + z * math.sqrt(variance)
