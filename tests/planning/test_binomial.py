"""The binomial tail in floats and in digits: the same answers, whether scipy is loaded or not."""

import math
from fractions import Fraction

import pytest

from pacband.planning import binomial, solving
from pacband.planning.binomial import binomial_tail, covering_delta, tail_at_most
from support.reference import exact_tail

CASES = [(1, 1, 0.3), (7, 3, 0.05), (60, 1, 0.5), (60, 31, 0.5), (60, 60, 0.97), (60, 3, 0.01), (500, 30, 0.1)]


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
