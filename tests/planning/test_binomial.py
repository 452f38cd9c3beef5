"""The binomial tail: the reference it is compared with, its error in floating point, and near-ties."""

import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import betaincc, betainccinv

from pacband.planning import binomial, solving
from pacband.planning.binomial import (
    _CONTEXT,
    _DOUBT,
    _integrated_ratio,
    _summed_ratios,
    binomial_tail,
    covering_delta,
    tail_at_most,
)
from support.reference import anywhere, exact_tail, near_the_worst, relative_error, tail


class TestTheReferenceItself:
    @pytest.mark.parametrize("eps", [1e-3, 0.05, 0.3, 0.5, 0.97])
    @pytest.mark.parametrize("n_samples", [1, 7, 60])
    def test_summation_and_quadrature_agree_with_rational_arithmetic(self, n_samples, eps):
        for rank in {1, n_samples // 2 + 1, n_samples}:
            exact = exact_tail(n_samples, rank, eps)
            with mpmath.workdps(70):
                exact = mpmath.mpf(exact.numerator) / exact.denominator
            for few_terms in (10**9, 0):
                assert relative_error(tail(n_samples, rank, eps, few_terms=few_terms), exact) < 1e-55

    @pytest.mark.parametrize(
        ("n_samples", "rank", "eps"),
        [(10**6, 1000, 0.0012), (10**12, 1000, 1.2e-9), (10**5, 99_000, 0.991), (10**7, 10**6, 0.1001)],
    )
    def test_summation_and_quadrature_agree_where_rational_arithmetic_is_out_of_reach(self, n_samples, rank, eps):
        by_sum, by_quadrature = (tail(n_samples, rank, eps, few_terms=few) for few in (10**9, 0))
        assert relative_error(by_sum, by_quadrature) < 1e-55


def float_tail_errors(seed, n_cases, draw_n_and_rank):
    """The relative error of `binomial_tail` at random (N, r), at an ε where the tail is between 1e-300 and 1."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < n_cases:
        n_samples, rank = draw_n_and_rank(rng)
        level = rng.random() if rng.random() < 0.3 else 10 ** rng.uniform(-300, 0)
        eps = float(betainccinv(rank, n_samples - rank + 1, level))
        if 1e-9 <= eps < 1 and binomial_tail(n_samples, rank, eps) >= 1e-300:
            done += 1
            value = binomial_tail(n_samples, rank, eps)
            yield relative_error(value, tail(n_samples, rank, eps)), n_samples, rank, eps


class TestTheFloatTail:
    """The assumption of `planning/binomial.py`: betaincc is closer to the true tail than `_DOUBT`, with a margin of ten."""

    @pytest.mark.verify
    @pytest.mark.parametrize(("draw", "n_cases"), [(anywhere, 6000), (near_the_worst, 10_000)])
    def test_its_error_stays_below_the_doubt(self, draw, n_cases):
        worst = max(float_tail_errors(0, n_cases, draw))
        assert 10 * worst[0] <= _DOUBT, worst

    @pytest.mark.parametrize(
        ("n_samples", "rank", "eps"),
        [(2129318314, 15, 1.1762423450528512e-08), (2128798707, 4, 7.044189607723046e-08)],
    )
    def test_the_largest_errors_known(self, n_samples, rank, eps):
        error = relative_error(float(betaincc(rank, n_samples - rank + 1, eps)), tail(n_samples, rank, eps))
        assert 1e-11 < error < 10 * error <= _DOUBT

    def test_a_near_tie_inside_the_float_error_is_decided_right(self):
        # Budgets within the float error of the tail, on either side of it.
        n_samples, rank, eps = 2129318314, 15, 1.1762423450528512e-08
        with mpmath.workdps(40):
            true_tail = tail(n_samples, rank, eps)
            for shift in ("1e-11", "3e-11", "5e-11"):
                above, below = (Fraction(mpmath.nstr(true_tail * (1 + s * mpmath.mpf(shift)), 30)) for s in (1, -1))
                assert tail_at_most(n_samples, rank, eps, above)
                assert not tail_at_most(n_samples, rank, eps, below)


def test_plans_are_the_same_before_scipy_is_loaded_and_after():
    code = """
import json, sys
from pacband.planning import attained_eps, max_rank, min_samples, plan
if sys.argv[1:]: import scipy.special
plans = [plan(e, d, n_candidates=c).n_samples for e in (0.3, 0.05, 1e-3) for d in (0.1, 1e-6, 1e-12) for c in (1, 10)]
plans += [min_samples(0.05, 1e-6, r) for r in (1, 7, 51)] + [max_rank(n, 0.05, 1e-6) for n in (300, 2065, 9999)]
print(json.dumps([plans, attained_eps(500, 3, 1e-6)]), sys.argv[1:] == [] and "scipy.special" in sys.modules)
"""
    runs = [
        subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True).stdout
        for words in ([], ["scipy"])
    ]
    assert runs[0] == runs[1]
    assert runs[0].endswith("False\n")


@pytest.mark.parametrize("chance", [0.5, 0.05, 0.001, 0.97])
@pytest.mark.parametrize("n_samples", [10**6, 10**7])
def test_the_sum_and_the_integral_agree(n_samples, chance):
    spread = math.sqrt(n_samples * chance * (1 - chance))
    for deviations in (0, 0.1, 2, 7, 12):
        k = math.floor(n_samples * chance - deviations * spread)
        with localcontext(_CONTEXT):
            summed = _summed_ratios(n_samples, k, Fraction(chance))
            assert abs(_integrated_ratio(n_samples, k, Fraction(chance)) / summed - 1) < Decimal("1e-55")


CASES = [(1, 1, 0.3), (7, 3, 0.05), (60, 1, 0.5), (60, 31, 0.5), (60, 60, 0.97), (60, 3, 0.01), (150, 10, 0.1)]


@pytest.fixture(params=["floats", "digits"])
def _way(request, monkeypatch):
    """Decide with scipy, and without it."""
    if request.param == "digits":
        for module in (binomial, solving):
            monkeypatch.setattr(module, "special", lambda n_samples, eps: None)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(("n_samples", "rank", "eps"), CASES)
def test_the_tail_is_that_of_rational_arithmetic(n_samples, rank, eps):
    assert binomial_tail(n_samples, rank, eps) == pytest.approx(float(exact_tail(n_samples, rank, eps)), rel=1e-10)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(("n_samples", "rank", "eps"), CASES)
def test_a_budget_of_the_tail_covers_it_and_a_smaller_one_does_not(n_samples, rank, eps):
    exact = exact_tail(n_samples, rank, eps)
    assert tail_at_most(n_samples, rank, eps, exact)
    for part, covered in [
        (Fraction(1, 2), False),
        (1 - Fraction(1, 10**30), False),
        (1 + Fraction(1, 10**30), True),
        (2, True),
    ]:
        assert tail_at_most(n_samples, rank, eps, exact * part) == covered


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(("n_samples", "rank", "eps"), CASES)
def test_the_smallest_eps_of_a_budget_is_the_one_that_it_was_made_from(n_samples, rank, eps):
    assert solving.smallest_eps(n_samples, rank, exact_tail(n_samples, rank, eps)) == eps


@pytest.mark.parametrize(("n_samples", "rank", "eps"), CASES)
def test_the_covering_delta_is_the_smallest_float(n_samples, rank, eps):
    exact = exact_tail(n_samples, rank, eps)
    for share in (Fraction(1), Fraction(1, 3), Fraction(0.7)):
        delta = covering_delta(n_samples, rank, eps, share)
        if exact >= share:
            assert delta == 1.0
        else:
            assert Fraction(delta) * share >= exact > Fraction(math.nextafter(delta, 0.0)) * share


@pytest.mark.usefixtures("_way")
def test_fewer_than_one_more_successes_than_trials_are_certain():
    assert binomial_tail(5, 6, 0.3) == 1.0
