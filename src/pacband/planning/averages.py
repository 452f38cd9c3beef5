r"""Is the mean of shares at most ε? A test that no order of the shares, and no seed, decides.

v_1, …, v_U in [0, 1] are independent with one mean: the shares of violating rows of U units. For every λ in
[0, 1/(1 − ε)] the product Π(1 + λ(ε − v_u)) is not negative, and if the mean is ε or more, its expectation is at most
one (Waudby-Smith and Ramdas, 2024). So is the expectation of the average over a few λ,

    K = ⅕ Σ_j Π_u (1 + λ_j(ε − v_u)),    λ_j = (1 − 2⁻ʲ)/(1 − ε),    j = 1, …, 5,

and by Markov's inequality K ≥ 1/δ has a probability of at most δ. K ≥ 1/δ shows, with confidence 1 − δ, a mean below ε.

K falls if any share grows. So with v_u(γ), the share of a unit's rows above γ, K grows with γ. Let γ̄ be the smallest γ
with K ≥ 1/δ. It is wrong only if the mean at γ̄ exceeds ε. The mean exceeds ε below some γ*, and K ≥ 1/δ at γ̄ < γ*
implies K ≥ 1/δ at every γ between them: for each of these γ, and so for all, that has a probability of at most δ.

Small λ_j serve shares that differ much between units, large ones shares that are all alike. Few units show nothing by
these five, even if no row violates. Then one bet takes their place, λ = 1/(1 − ε), which loses all with a share of one:

    K = Π_u (1 − v_u)/(1 − ε).

Which of the two is used depends on U, ε and δ alone, so either proof applies. Without a violation this K is
(1 − ε)⁻ᵁ: as many units suffice as for the promise about all rows of units, B(0; U, ε) ≤ δ. That a mean is above ε is
shown in the same way, with Π(1 + λ(v_u − ε)) and λ_j = 2⁻ʲ/ε, j = 1, …, 6: a share of zero costs a part 2⁻ʲ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pacband.core.floats import first
from pacband.exceptions import CertificateError
from pacband.planning.limits import check_reach
from pacband.planning.shares import DeltaShare
from pacband.planning.shortage import not_enough_samples
from pacband.planning.solving import LARGEST_N

__all__ = ["BETS", "Evidence", "check_units", "choose_bets", "log_evidence", "log_fraction"]

# λ_j·(1 − ε), and λ_j·ε for a mean above ε.
BETS = tuple(Fraction(2**j - 1, 2**j) for j in range(1, 6))
WHOLE_BET = (Fraction(1),)
BETS_ABOVE = tuple(Fraction(1, 2**j) for j in range(1, 7))

_CONTEXT = Context(prec=80, Emin=-(10**15), Emax=10**15)
# With up to 10¹² units the 80 digits of K err in the 65th at most.
_EXACT = Decimal("1e-40")

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many rows of every unit violate: all that the test needs, in any order.

    Attributes
    ----------
    counts : tuple of (k, n, times)
        So many units have n rows of which k violate, in increasing order.
    """

    counts: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        whole = all(type(number) is int for count in self.counts for number in count)
        if (
            not self.counts
            or not whole
            or not all(len(count) == 3 and 0 <= count[0] <= count[1] and min(count[1:]) >= 1 for count in self.counts)
            or any(one[:2] >= other[:2] for one, other in zip(self.counts, self.counts[1:], strict=False))
            or self.n_units > LARGEST_N
        ):
            raise CertificateError("evidence must be increasing triples (k, n, times) with 0 ≤ k ≤ n and times ≥ 1.")

    @classmethod
    def of(cls, violations: Integers, sizes: Integers) -> Self:
        """Return the evidence of units with so many violating rows, and so many rows."""
        pairs, times = np.unique(np.column_stack([violations, sizes]), axis=0, return_counts=True)
        return cls(tuple((int(k), int(n), int(c)) for (k, n), c in zip(pairs.tolist(), times.tolist(), strict=True)))

    @property
    def n_units(self) -> int:
        """U."""
        return sum(times for _, _, times in self.counts)

    @property
    def mean(self) -> float:
        """The mean share of violating rows, every unit counted equally."""
        return math.fsum(times * (k / n) for k, n, times in self.counts) / self.n_units

    def shows(self, eps: float, budget: Fraction) -> bool:
        """Decide K ≥ 1/budget: whether a mean of at most ε is shown.

        In floating point if the two sides differ clearly, else in 80 digits, rounded against the promise.

        Examples
        --------
        >>> Evidence(((0, 10, 60),)).shows(0.1, Fraction(1, 20)), Evidence(((0, 10, 28),)).shows(0.1, Fraction(1, 20))
        (True, False)
        """
        return self.shows_by(choose_bets(self.n_units, eps, budget), eps, budget)

    def shows_by(self, bets: tuple[Fraction, ...], eps: float, budget: Fraction) -> bool:
        """Decide K ≥ 1/budget with these bets; see `choose_bets`."""
        if budget <= 0:
            return False
        k, n, times = np.array(self.counts, dtype=np.float64).T
        if bets == WHOLE_BET:
            # No share of one: its logarithm is not finite. The kept share is a quotient of integers: 1 − v is rounded.
            if (k == n).any():
                return False
            terms = times * (np.log((n - k) / n) - math.log1p(-eps))
            found, error = float(terms.sum()), 1e-12 + 1e-13 * float(np.abs(terms).sum()) + 1e-15 * float(times.sum())
        else:
            found, error = log_evidence(k / n, eps, times)
        margin = found + log_fraction(budget)
        if abs(margin) > error:
            return margin > 0.0
        with localcontext(_CONTEXT):
            return self._evidence(Fraction(eps), bets) * (1 - _EXACT) * _decimal(budget) >= 1

    def p_value(self, eps: float, *, above: bool = False) -> float:
        """Return 1/K of the five bets, rounded up: the smallest δ at which they show a mean of at most ε, or above ε.

        At most 1.
        """
        k, n, times = np.array(self.counts, dtype=np.float64).T
        found, error = log_evidence(k / n, eps, times, above=above)
        return max(math.exp(min(0.0, error - found)), math.ulp(0.0))

    def _evidence(self, eps: Fraction, bets: tuple[Fraction, ...]) -> Decimal:
        """Return K in 80 digits."""
        products = []
        for bet in bets:
            stake, product = bet / (1 - eps), Decimal(1)
            for k, n, times in self.counts:
                product *= _decimal(1 + stake * (eps - Fraction(k, n))) ** times
            products.append(product)
        return sum(products, Decimal(0)) / len(products)


def choose_bets(n_units: int, eps: float, budget: Fraction) -> tuple[Fraction, ...]:
    """Return the five bets, or the whole one if they show nothing for so many units even without a violation.

    Examples
    --------
    >>> [len(choose_bets(n_units, 0.1, Fraction(1, 20))) for n_units in (29, 33, 34, 1000)]
    [1, 1, 5, 5]
    """
    return BETS if _without_violation(n_units).shows_by(BETS, eps, budget) else WHOLE_BET


def log_evidence(
    shares: npt.NDArray[np.float64], eps: float, times: Any = 1.0, *, above: bool = False
) -> tuple[float, float]:
    """Return ln K of shares by the five bets, each of which may occur several times, and a bound on its rounding error.

    With `above`, K is the evidence for a mean above ε.
    """
    logs = []
    size = 0.0
    gains = (shares - eps) / eps if above else (eps - shares) / (1.0 - eps)
    for bet in BETS_ABOVE if above else BETS:
        terms = times * np.log1p(float(bet) * gains)
        logs.append(float(terms.sum()))
        size = max(size, float(np.abs(terms).sum()))
    top = max(logs)
    total = math.log(math.fsum(math.exp(one - top) for one in logs) / len(logs))
    # Each term errs by a few units in its last place, near a share of 1 by 2⁵ times as many, and by 1e-16 in ε − v,
    # which is divided by 1 − ε.
    n_units = float(np.sum(times)) if np.ndim(times) else len(shares)
    return top + total, 1e-12 + 1e-13 * size + 1e-15 * n_units / (1.0 - eps)


def log_fraction(value: Fraction) -> float:
    """Return ln of a fraction, which may be smaller than every float."""
    return math.log(value.numerator) - math.log(value.denominator)


def check_units(n_units: int, eps: float, delta: float, share: DeltaShare) -> None:
    """Raise `NotEnoughSamples` unless U units show a mean of at most ε when no row violates."""
    budget = share.budget(delta)
    if _without_violation(n_units).shows(eps, budget):
        return
    # (1 − ε)ᵁ ≤ budget suffices, for the whole bet.
    needed = first(
        lambda n: _without_violation(n).shows(eps, budget),
        range(n_units + 1, LARGEST_N + 1),
        guess=log_fraction(budget) / math.log1p(-eps),
    )
    check_reach(needed, eps, delta, None)
    eps_here = _smallest_eps(n_units, budget)
    delta_here = math.exp(n_units * math.log1p(-eps)) * (1.0 + 1e-9) / float(share.fraction)
    needs = f"need at least {needed} units for a promise on average over units"
    raise not_enough_samples(
        eps, delta, share, needs, n_samples=n_units, needed=needed, eps_here=eps_here, delta_here=delta_here
    )


def _smallest_eps(n_units: int, budget: Fraction) -> float:
    """Return about the smallest ε that U units without a violation show; 1 if there is none."""
    found, low, high = 1.0, 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _without_violation(n_units).shows(middle, budget):
            found = high = middle
        else:
            low = middle
    return found


def _without_violation(n_units: int) -> Evidence:
    return Evidence(((0, 1, n_units),))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
