"""What is known about the violations of a bound, beyond the promise.

If the rank r was chosen before looking at N independent continuous scores, the probability that a future score exceeds
the r-th largest of them follows Beta(r, N − r + 1). The number of violations among the next m draws is then
BetaBinomial(m; r, N − r + 1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from pacband.core.checks import check_positive_integer, check_probability
from pacband.exceptions import InvalidInput
from pacband.planning import LARGEST_N
from pacband.planning.windows import most_violations

if TYPE_CHECKING:
    from pacband.certificate.single import Certificate

__all__ = ["chosen_rank", "outlook", "rank_of_law", "violation_interval"]


def chosen_rank(cert: Certificate) -> int:
    """Return the rank r that was chosen before looking at the scores. Raises `InvalidInput` if there is none."""
    if cert.rank is None or not cert.basis.draws.rank_is_chosen:
        reason = "it has no rank" if cert.rank is None else "it is not certain which rows are draws"
        raise InvalidInput(
            f"nothing is known about the violation of this bound but the promise: {reason}. There is no expected "
            "violation, no interval of it and no outlook."
        )
    return cert.rank


def rank_of_law(cert: Certificate) -> int:
    """Return the rank r, if the violation of the bound follows Beta(r, N − r + 1). Raises `InvalidInput` if not."""
    rank = chosen_rank(cert)
    if not cert.basis.draws.has_law:
        raise InvalidInput(
            "nothing is known about the violation of this bound but the promise: the draws depend on each other. "
            "There is no expected violation, and no interval of it."
        )
    return rank


def violation_interval(cert: Certificate, level: float) -> tuple[float, float]:
    """Return the central interval of the violation; for a bound that was given, that of Clopper and Pearson."""
    from scipy.special import betaincinv

    level = check_probability("level", level)
    a = rank_of_law(cert)
    b = cert.n_samples - a + 1
    high = betaincinv(a, b, (1 + level) / 2)
    if cert.bound_given:
        a, b = a - 1, b + 1
    low = betaincinv(a, b, (1 - level) / 2) if a else 0.0
    return float(low), float(high)


def outlook(cert: Certificate, m: int, delta: float | None) -> int:
    """Return the most violations among the next m draws, by the part of δ that the certificate has."""
    rank, n_future = chosen_rank(cert), check_positive_integer("m", m)
    if not cert.basis.eps_was_chosen:
        raise InvalidInput(
            "a point of a curve has no outlook: its ε may have been chosen by the scores. Certify the rows at an ε "
            "that is chosen first."
        )
    if n_future > LARGEST_N:
        raise InvalidInput(f"m must be at most {LARGEST_N:g}, got {n_future}.")
    risk = cert.delta if delta is None else check_probability("delta", delta)
    budget = cert.share.budget(risk) - cert.basis.draws.slack(cert.n_samples + n_future)
    if budget <= 0:
        raise InvalidInput(
            f"the dependence of {cert.n_samples} + {n_future} draws uses up all of delta={risk:g}: "
            "choose a smaller m, or a larger delta."
        )
    return _most_violations(cert.n_samples, rank, n_future, budget)


# Many groups have the same number of rows: every count is found once.
@lru_cache(maxsize=1 << 12)
def _most_violations(n_samples: int, rank: int, n_future: int, budget: Fraction) -> int:
    return most_violations(n_samples, rank, n_future, budget)
