"""Exact intervals and p-values of a probability, from a count.

scipy is imported inside the functions, because modules that need no count import this module too.
"""

from __future__ import annotations

__all__ = ["exact_interval", "exceedance"]


def exact_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a probability: it covers with at least this level.

    Examples
    --------
    >>> [round(end, 4) for end in exact_interval(0, 10)]
    [0.0, 0.3085]
    """
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2.0
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return low, high


def exceedance(successes: int, trials: int, chance: float) -> float:
    """Return P{X ≥ successes} for X binomial: the p-value against a success probability of at most `chance`."""
    from scipy.special import betainc

    return 1.0 if successes == 0 else float(betainc(successes, trials - successes + 1, chance))
