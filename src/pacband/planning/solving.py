"""Property 1 solved for one of its letters, exactly: the rank, the number of samples, or ε.

Every function takes a budget: the exact part of δ that one candidate may use. `pacband.planning.binomial` decides
B(r − 1; N, ε) ≤ budget. The left side is monotonic in N, in r and in ε, so bisection finds the answer. The first guess
of a bisection is a normal approximation; a bad guess costs steps, never exactness.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

from pacband.core.floats import first, first_float
from pacband.planning.binomial import special, tail_at_most

__all__ = [
    "LARGEST_N",
    "corollary_samples",
    "exact_samples",
    "half_rank",
    "largest_rank",
    "samples_by_rule",
    "smallest_eps",
]

LARGEST_N = 10**12

_LEMMA_1 = Decimal("7.47")
_PRECISE = Context(prec=50)


def largest_rank(n_samples: int, eps: float, budget: Fraction) -> int:
    """Return the largest r with B(r − 1; N, ε) ≤ budget, or 0 if there is none."""
    return -1 + first(
        lambda rank: not tail_at_most(n_samples, rank, eps, budget),
        range(1, n_samples + 1),
        guess=likely_rank(n_samples, eps, budget) + 1.0,
    )


def samples_by_rule(eps: float, budget: Fraction, rank: int | None, rule: str) -> int:
    """Return the N that a rule of `plan` asks for, at this rank or at the rule's own."""
    if rule == "maximum":
        return _ceiling_over_eps(_log_inverse, budget, eps)
    if rule == "paper":
        lemma = _lemma_samples(eps, budget)
        return lemma if rank is None else max(lemma, _first_with_half_rank(rank, eps))
    if rank is not None:
        return exact_samples(eps, rank, budget)
    return _smallest_with_half_rank(eps, budget)


def half_rank(n_samples: int, eps: float) -> int:
    """Return ⌊εN/2⌋ for the decimal ε that the user wrote: binary floats get ⌊.29·200/2⌋ = 29 wrong."""
    return int(Fraction(repr(eps)) * n_samples / 2)


def exact_samples(eps: float, rank: int, budget: Fraction) -> int:
    """Return the smallest N with B(r − 1; N, ε) ≤ budget, or any number above LARGEST_N if N is larger than that."""
    # The closed form is sufficient, so it brackets the answer from above.
    ns = range(rank, min(corollary_samples(eps, rank, budget), LARGEST_N) + 1)
    if not ns:
        return LARGEST_N + 1
    return first(lambda n: tail_at_most(n, rank, eps, budget), ns, guess=_guess_samples(eps, rank, budget))


def corollary_samples(eps: float, rank: int, budget: Fraction) -> int:
    """Return the smallest N with εN ≥ r − 1 + ln(1/b) + sqrt(2(r − 1) ln(1/b)), b being the budget."""

    def closed_form(budget: Fraction) -> Decimal:
        log, spare = _log_inverse(budget), rank - 1
        return spare + log + (2 * spare * log).sqrt()

    return max(rank, _ceiling_over_eps(closed_form, budget, eps))


def smallest_eps(n_samples: int, rank: int, budget: Fraction) -> float:
    """Return the smallest float ε with B(r − 1; N, ε) ≤ budget, or 1.0 if no ε below one satisfies it."""
    scipy_special = special(n_samples, 1.0)
    arguments = rank, n_samples - rank + 1, float(budget)
    guess = rank / n_samples if scipy_special is None else float(scipy_special.betainccinv(*arguments))
    return first_float(lambda eps: tail_at_most(n_samples, rank, eps, budget), guess=guess)


def _lemma_samples(eps: float, budget: Fraction) -> int:
    """Lemma 1: N ≥ 7.47/ε·ln(1/b)."""
    return _ceiling_over_eps(lambda b: _LEMMA_1 * _log_inverse(b), budget, eps)


def _first_with_half_rank(rank: int, eps: float) -> int:
    return math.ceil(2 * rank / Fraction(repr(eps)))


def _smallest_with_half_rank(eps: float, budget: Fraction) -> int:
    """Return the smallest N whose r = ⌊εN/2⌋ is valid.

    All N from ⌈2r/ε⌉ to ⌈2(r + 1)/ε⌉ − 1 have the rank r; call them a stretch. Along a stretch the tail falls with N.
    From the end of one stretch to the end of the next it falls by a factor of about 2q^(s−1), q = (1 − ε)/(1 − ε/2),
    where s is the length of the stretch. So bisection finds the first rank that is valid at the end of its stretch.
    Above ε = 2/3 a short stretch of two can make the factor exceed one, for a rank or two; the loop covers these.
    """

    def valid_at_end(rank: int) -> bool:
        return tail_at_most(_first_with_half_rank(rank + 1, eps) - 1, rank, eps, budget)

    most = half_rank(_lemma_samples(eps, budget), eps) + 2
    rank = 1 + bisect_left(range(1, most), True, key=valid_at_end)
    while any(valid_at_end(earlier) for earlier in range(max(1, rank - 3), rank)):
        rank -= 1
    stretch = range(_first_with_half_rank(rank, eps), _first_with_half_rank(rank + 1, eps))
    return stretch[bisect_left(stretch, True, key=lambda n: tail_at_most(n, rank, eps, budget))]


def likely_rank(n_samples: int, eps: float, budget: Fraction) -> float:
    """Return about the largest r with B(r − 1; N, ε) ≤ budget, by the expansion of Cornish and Fisher."""
    z = _normal_quantile(budget)
    spread = math.sqrt(n_samples * eps * (1.0 - eps))
    skew, excess = (1.0 - 2.0 * eps) / spread, (1.0 - 6.0 * eps * (1.0 - eps)) / spread**2
    bend = skew * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    return n_samples * eps + spread * (z + bend)


def _guess_samples(eps: float, rank: int, budget: Fraction) -> float:
    """Return about the smallest N, χ²(2 − ε)/4ε + (r − 1)/2, where χ² is the upper quantile with 2r degrees of freedom.

    The formula is that of Scheffé and Tukey (1944), the quantile that of Wilson and Hilferty. If scipy is loaded, it
    solves for N.
    """
    scipy_special = special(rank, 1.0)
    if scipy_special is not None:
        return float(scipy_special.bdtrin(rank - 1, float(budget), eps))
    bend = 1.0 / (9.0 * rank)
    chi2 = 2.0 * rank * max(0.0, 1.0 - bend - _normal_quantile(budget) * math.sqrt(bend)) ** 3
    return chi2 * (2.0 - eps) / (4.0 * eps) + (rank - 1) / 2


def _normal_quantile(budget: Fraction) -> float:
    return NormalDist().inv_cdf(min(float(budget), math.nextafter(1.0, 0.0)))


def _ceiling_over_eps(expression: Callable[[Fraction], Decimal], budget: Fraction, eps: float) -> int:
    """Return ⌈expression(budget)/ε⌉ from 50 digits, so that no rounding decides an integer."""
    with localcontext(_PRECISE):
        ratio = expression(budget) / Decimal(eps)
        return max(1, int(ratio.to_integral_value(ROUND_CEILING)))


def _log_inverse(budget: Fraction) -> Decimal:
    return (Decimal(budget.denominator) / Decimal(budget.numerator)).ln()
