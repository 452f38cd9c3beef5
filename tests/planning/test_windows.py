"""The law of the violations among the next m draws, against exact fractions."""

from fractions import Fraction
from math import comb

import pytest

from pacband.planning.windows import most_violations, window_tail

FACTS = {(1310, 32, 500): (19, 27, 37), (2065, 60, 1000): (40, 52, 66), (270, 1, 100): (2, 5, 10)}


def exact_tail(n, r, m, j):
    """P{J > j} for J of BetaBinomial(m; r, N − r + 1), from its probability mass function."""
    above = sum(comb(r + i - 1, i) * comb(n - r + m - i, m - i) for i in range(j + 1, m + 1))
    return Fraction(above, comb(n + m, m))


@pytest.mark.parametrize(("window", "expected"), FACTS.items())
def test_known_windows(window, expected):
    assert tuple(most_violations(*window, Fraction(delta)) for delta in (0.05, 1e-3, 1e-6)) == expected


@pytest.mark.parametrize("budget", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 3), Fraction(1, 21), Fraction(0.05)])
def test_small_windows_are_exact_ties_included(budget):
    for n in range(1, 9):
        for r in range(1, n + 1):
            for m in range(1, 9):
                expected = next(j for j in range(m + 1) if exact_tail(n, r, m, j) <= budget)
                assert most_violations(n, r, m, budget) == expected, (n, r, m)


def test_a_tie_counts_and_just_below_it_does_not():
    tie = exact_tail(100, 5, 50, 6)
    assert most_violations(100, 5, 50, tie) == 6
    assert most_violations(100, 5, 50, tie * (1 - Fraction(1, 10**30))) == 7


@pytest.mark.parametrize("window", FACTS)
def test_the_tail_has_many_digits(window):
    n, r, m = window
    for j in (0, 1, 10, m // 10, m - 1):
        expected = exact_tail(n, r, m, j)
        error = abs(Fraction(window_tail(n, r, m, j)) / expected - 1)
        assert error < Fraction(1, 10**45)


@pytest.mark.parametrize("window", FACTS)
def test_one_lower_is_too_few(window):
    n, r, m = window
    for delta, j in zip((0.05, 1e-3, 1e-6), FACTS[window], strict=True):
        assert exact_tail(n, r, m, j) <= Fraction(delta) < exact_tail(n, r, m, j - 1)


def test_large_windows_are_quick():
    assert most_violations(10**9, 4 * 10**7, 10**6, Fraction(1e-6)) == 40935
    assert most_violations(2065, 60, 10**12, Fraction(1e-6)) == 49932280456


def test_tiny_and_large_risks():
    assert most_violations(10, 10, 5, Fraction(1e-300)) == 5
    assert most_violations(100, 1, 10, Fraction(999, 1000)) == 0
    # The tail falls with j: this is the first j at or below the risk.
    j = most_violations(2065, 60, 1000, Fraction(1e-300))
    assert exact_tail(2065, 60, 1000, j) <= Fraction(1e-300) < exact_tail(2065, 60, 1000, j - 1)
