"""The numbers for which n_F·B(r − 1; N, ε) ≤ δ is decided exactly: ε ≥ 1e-9, δ/n_F ≥ 1e-300, N ≤ 1e12."""

from __future__ import annotations

from typing import Any

from pacband.core.checks import check_positive_integer, check_probability
from pacband.exceptions import InvalidInput
from pacband.planning.shares import DeltaShare
from pacband.planning.solving import LARGEST_N

__all__ = [
    "SMALLEST_BUDGET", "SMALLEST_EPS", "check_budget", "check_eps", "check_n_samples", "check_pair", "check_reach",
    "check_share",
]  # fmt: skip

SMALLEST_EPS = 1e-9
SMALLEST_BUDGET = 1e-300


def check_eps(eps: Any) -> float:
    """Return ε if the inequality is decided exactly for it, or raise."""
    number = check_probability("eps", eps)
    if number < SMALLEST_EPS:
        raise InvalidInput(f"eps must be at least {SMALLEST_EPS:g}, got {number!r}.")
    return number


def check_share(delta: float, n_candidates: Any) -> DeltaShare:
    """Return the even share of n_F candidates, or raise unless its budget is decided exactly."""
    share = DeltaShare(check_positive_integer("n_candidates", n_candidates))
    check_budget(delta, share)
    return share


def check_budget(delta: float, share: DeltaShare) -> None:
    """Raise unless the inequality is decided exactly for this share of δ."""
    if share.budget(delta) < SMALLEST_BUDGET:
        parts = f"/ {share.n_candidates}" if share.weight is None else f"· {share.weight!r}"
        raise InvalidInput(f"delta / n_candidates must be at least {SMALLEST_BUDGET:g}, got {delta!r} {parts}.")


def check_n_samples(n_samples: Any) -> int:
    """Return N, or raise unless the inequality is decided exactly for it."""
    number = check_positive_integer("n_samples", n_samples)
    if number > LARGEST_N:
        raise InvalidInput(f"n_samples must be at most {LARGEST_N:g}, got {number}.")
    return number


def check_pair(n_samples: int, rank: int) -> tuple[int, int]:
    """Return N and r, or raise unless there is a score of this rank."""
    n_samples, rank = check_n_samples(n_samples), check_positive_integer("rank", rank)
    if rank > n_samples:
        raise InvalidInput(f"rank must not exceed the number of samples, {n_samples}, got {rank}.")
    return n_samples, rank


def check_reach(n_samples: int, eps: float, delta: float, rank: int | None) -> int:
    """Return the N that a promise needs, or raise if it is beyond what pacband supports."""
    if n_samples > LARGEST_N:
        at_rank = "" if rank is None else f" at rank {rank}"
        raise InvalidInput(
            f"eps={eps:g} and delta={delta:g}{at_rank} need more than {LARGEST_N:g} samples, the largest number that "
            "pacband supports."
        )
    return n_samples
