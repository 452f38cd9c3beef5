"""Planning: microseconds a call, and how many answers are right, against OpenTURNS and a search with scipy.stats.

The question is the smallest N whose r-th largest score is a valid bound: B(r − 1; N, ε) ≤ δ.

- pacband: `min_samples`.
- OpenTURNS: `Wilks.ComputeSampleSize(1 − ε, 1 − δ, r − 1)`, in C++.
- scipy.stats: what one would write by hand, doubling and then bisection on `binom.cdf`.

Every answer is judged by 50-digit arithmetic. An N that is too small is a promise that does not hold; one that
is too large only wastes samples. OpenTURNS is told 1 − ε and 1 − δ, which round: it is judged by the ε and δ that
these floats stand for, so that no mistake is counted that it could not have avoided.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import product

import openturns as ot
from mpmath import mp, mpf
from scipy.special import betaincc
from scipy.stats import binom

import pacband
from benchmarks._timing import best_of, print_table, ratio

EPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
RANKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
DELTAS = (1e-3, 1e-6, 1e-9, 1e-12)

Case = tuple[float, float, int]


def main(quick: bool = False) -> None:
    _compare_min_samples(DELTAS[:2] if quick else DELTAS, repeats=2 if quick else 5)
    _time_every_function(repeats=2 if quick else 9)


def _compare_min_samples(deltas: tuple[float, ...], repeats: int) -> None:
    solvers: dict[str, Callable[[float, float, int], int]] = {
        "pacband": pacband.min_samples,
        "OpenTURNS": lambda eps, delta, rank: ot.Wilks.ComputeSampleSize(1 - eps, 1 - delta, rank - 1),
        "scipy.stats": _search_with_scipy,
    }
    rows = []
    for delta in deltas:
        cases = [(eps, delta, rank) for eps, rank in product(EPS, RANKS)]
        times = best_of({name: _over(cases, solve) for name, solve in solvers.items()}, repeats=repeats)
        for name, solve in solvers.items():
            told = _as_complement if name == "OpenTURNS" else mpf
            small, large, worst = _judge(cases, solve, told)
            microseconds = 1e6 * times[name] / len(cases)
            rows.append(
                [
                    f"δ = {delta:g}, {name}",
                    f"{microseconds:.1f}",
                    ratio(times[name], times["pacband"]),
                    f"{small} of {len(cases)}",
                    large,
                    f"{worst:.3g}×" if small else "",
                ]
            )
    print(f"\nthe smallest N for ε in {EPS[-1]}…{EPS[0]}, r in {RANKS[0]}…{RANKS[-1]}; wrong answers by 50 digits")
    print_table(["", "µs a call", "of pacband", "N too small", "too large", "worst failure / δ"], rows)


def _time_every_function(repeats: int) -> None:
    calls: dict[str, Callable[[], object]] = {
        "one binomial tail: betaincc": lambda: betaincc(60, 2065 - 60 + 1, 0.05),
        "min_samples(.05, 1e-6)": lambda: pacband.min_samples(0.05, 1e-6),
        "min_samples(.05, 1e-6, 51)": lambda: pacband.min_samples(0.05, 1e-6, 51),
        "min_samples(1e-4, 1e-12, 500)": lambda: pacband.min_samples(1e-4, 1e-12, 500),
        "min_samples(1e-9, 1e-300, 10)": lambda: pacband.min_samples(1e-9, 1e-300, 10),
        "max_rank(2065, .05, 1e-6)": lambda: pacband.max_rank(2065, 0.05, 1e-6),
        "max_rank(10**7, .05, 1e-6)": lambda: pacband.max_rank(10**7, 0.05, 1e-6),
        "max_rank(10**12, .05, 1e-6)": lambda: pacband.max_rank(10**12, 0.05, 1e-6),
        "plan(.05, 1e-6)": lambda: pacband.plan(0.05, 1e-6),
        "plan(.05, 1e-6, rule='paper')": lambda: pacband.plan(0.05, 1e-6, rule="paper"),
        "plan(.05, 1e-6, n_samples=2065)": lambda: pacband.plan(0.05, 1e-6, n_samples=2065),
        "attained_delta(2065, 60, .05)": lambda: pacband.attained_delta(2065, 60, 0.05),
        "attained_eps(2065, 60, 1e-6)": lambda: pacband.attained_eps(2065, 60, 1e-6),
        # Where the sum has millions of terms and the answer hangs on its last digits.
        "plan(.5, 1e-6, n_samples=10**12).to_dict()": lambda: pacband.plan(0.5, 1e-6, n_samples=10**12).to_dict(),
        "attained_delta(10**11, 5*10**10, .5)": lambda: pacband.attained_delta(10**11, 5 * 10**10, 0.5),
        "attained_eps(10**12, 5*10**11, .01)": lambda: pacband.attained_eps(10**12, 5 * 10**11, 0.01),
        "attained_eps(10**12, 5*10**11, 1 - 1e-16)": lambda: pacband.attained_eps(10**12, 5 * 10**11, 1 - 1e-16),
        "min_samples(.5, 1e-6, 2*10**11)": lambda: pacband.min_samples(0.5, 1e-6, 2 * 10**11),
        "plan(.05, 1e-6, n_samples=10**12, rank=5*10**10) refused": _refused_plan,
    }
    times = best_of(calls, repeats=repeats)
    tail = times["one binomial tail: betaincc"]
    print("\nevery function, in units of the one tail that each must evaluate at least once")
    print_table(
        ["", "µs a call", "of a tail"],
        [[name, f"{1e6 * seconds:.1f}", ratio(seconds, tail)] for name, seconds in times.items()],
    )


def _refused_plan() -> None:
    with suppress(pacband.NotEnoughSamples):
        pacband.plan(0.05, 1e-6, n_samples=10**12, rank=5 * 10**10)


def _search_with_scipy(eps: float, delta: float, rank: int) -> int:
    low, high = rank - 1, rank
    while binom.cdf(rank - 1, high, eps) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if binom.cdf(rank - 1, middle, eps) > delta:
            low = middle
        else:
            high = middle
    return high


def _over(cases: list[Case], solve: Callable[[float, float, int], int]) -> Callable[[], object]:
    def run() -> None:
        for case in cases:
            solve(*case)

    return run


def _judge(
    cases: list[Case], solve: Callable[[float, float, int], int], told: Callable[[float], mpf]
) -> tuple[int, int, float]:
    """Return how many answers are too small, how many too large, and the worst of (true failure)/δ."""
    small = large = 0
    worst = 0.0
    with mp.workdps(50):
        for eps, delta, rank in cases:
            n_samples, chance, budget = solve(eps, delta, rank), told(eps), told(delta)
            failure = _tail(n_samples, rank, chance)
            if failure > budget:
                small += 1
                worst = max(worst, float(failure / budget))
            elif n_samples > rank and _tail(n_samples - 1, rank, chance) <= budget:
                large += 1
    return small, large, worst


def _as_complement(value: float) -> mpf:
    return 1 - mpf(1 - value)


@cache
def _tail(n_samples: int, rank: int, eps: mpf) -> mpf:
    """B(r − 1; N, ε), summed term by term from k = 0 (call it at 50 digits)."""
    term = total = (1 - eps) ** n_samples
    odds = eps / (1 - eps)
    for k in range(1, rank):
        term *= odds * (n_samples - k + 1) / k
        total += term
    return total
