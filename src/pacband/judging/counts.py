"""Exact intervals and p-values of a probability, from a count.

scipy is imported inside the functions, because modules that need no count import this module too.
"""

from __future__ import annotations

import math

__all__ = ["exact_interval", "exceedance", "mean_interval"]


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


def mean_interval(mean: float, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return an interval for the mean of independent shares in [0, 1]: it covers with at least this level.

    By the bound of Chernoff and Hoeffding, n·KL(mean, m) exceeds ln(2/(1 − level)) with a probability of at most
    1 − level, where m is the true mean and KL the divergence of two coins.

    Examples
    --------
    >>> [round(end, 4) for end in mean_interval(0.1, 100)]
    [0.0379, 0.2003]
    """
    limit = math.log(2.0 / (1.0 - level)) / trials

    def end(outer: float) -> float:
        inside, outside = mean, outer
        for _ in range(60):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if _divergence(mean, middle) <= limit else (inside, middle)
        return outside

    return end(0.0), end(1.0)


def _divergence(mean: float, other: float) -> float:
    """Return KL of two coins."""
    pairs = ((mean, other), (1.0 - mean, 1.0 - other))
    return sum(p * math.log(p / q) if q > 0.0 else math.inf for p, q in pairs if p > 0.0)
