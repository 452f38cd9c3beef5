"""The evidence about a mean of shares: exact where it is close, free of order, monotone, and never above its level."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pacband.exceptions import CertificateError, InvalidInput, NotEnoughSamples
from pacband.planning import LARGEST_N, DeltaShare, averages, min_samples
from pacband.planning.averages import BETS, WHOLE_BET, Evidence, check_units, choose_bets, log_evidence
from support.twins import use_number

UNITS = st.lists(st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=25)


def exact(units, eps):
    """K in fractions, by its definition."""
    eps, total = Fraction(eps), Fraction(0)
    for j in range(1, 6):
        stake = (1 - Fraction(1, 2**j)) / (1 - eps)
        total += math.prod((1 + stake * (eps - Fraction(k, n)) for k, n in units), start=Fraction(1))
    return total / 5


def evidence_of(units):
    k, n = np.array(units).T
    return Evidence.of(k, n)


@given(UNITS, st.sampled_from([0.01, 0.05, 0.1, 0.5, 0.9]))
def test_near_ties_are_decided_in_digits_and_against_the_promise(units, eps):
    evidence, value = evidence_of(units), exact(units, eps)
    assert evidence.shows_by(BETS, eps, (1 + Fraction(1, 10**30)) / value)
    assert not evidence.shows_by(BETS, eps, (1 - Fraction(1, 10**30)) / value)
    assert evidence.p_value(eps) >= min(1, 1 / value)
    assert evidence.p_value(eps) == pytest.approx(min(1.0, float(1 / value)), rel=1e-9)
    assert evidence.mean == pytest.approx(float(sum(Fraction(k, n) for k, n in units) / len(units)), rel=1e-12)


@given(UNITS, st.sampled_from([0.05, 0.3]), st.randoms())
def test_the_order_of_units_is_free_and_more_violations_are_less_evidence(units, eps, random):
    shuffled = list(units)
    random.shuffle(shuffled)
    assert evidence_of(shuffled) == evidence_of(units)
    k, n = units[0]
    if k < n:
        assert exact([(k + 1, n), *units[1:]], eps) < exact(units, eps)


@given(UNITS, st.sampled_from([0.05, 0.3, 0.7]))
def test_the_evidence_for_a_mean_above_is_that_of_its_definition(units, eps):
    limit, total = Fraction(eps), Fraction(0)
    for j in range(1, 7):
        total += math.prod(1 + Fraction(1, 2**j) / limit * (Fraction(k, n) - limit) for k, n in units)
    assert evidence_of(units).p_value(eps, above=True) == pytest.approx(min(1.0, float(6 / total)), rel=1e-9)


def largest_count(n_units, eps, delta):
    """The most units with v = 1, the others with v = 0, that still show a mean of at most ε."""
    shown = [Evidence.of(np.arange(n_units) < k, np.ones(n_units, int)).shows(eps, Fraction(delta)) for k in range(n_units // 2)]  # fmt: skip
    return sum(shown) - 1


CASES = [(u, eps, delta) for u in (7, 14, 30, 50, 120) for eps in (0.05, 0.1, 0.3) for delta in (0.2, 0.05, 0.001)]


def broken(cases):
    """The cases in which a mean just above ε is taken for smaller with more than δ: v is 0 or 1, so it is binomial."""
    return [case for case in cases if (c := largest_count(*case)) >= 0 and binom.cdf(c, *case[:2]) > case[2]]


def test_the_level_holds_exactly_for_shares_of_zero_and_one():
    assert not broken(CASES)


@given(UNITS, st.sampled_from([0.01, 0.1, 0.5, 0.9]))
def test_the_whole_bet_is_decided_in_digits_by_its_definition(units, eps):
    evidence = evidence_of(units)
    value = math.prod(((1 - Fraction(k, n)) / (1 - Fraction(eps)) for k, n in units), start=Fraction(1))
    if not value:
        assert not evidence.shows_by(WHOLE_BET, eps, Fraction(1))
        return
    assert evidence.shows_by(WHOLE_BET, eps, (1 + Fraction(1, 10**30)) / value)
    assert not evidence.shows_by(WHOLE_BET, eps, (1 - Fraction(1, 10**30)) / value)


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.01, 1e-6])
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.5])
def test_on_average_as_many_units_suffice_as_for_all_their_rows(eps, delta):
    """The promise about all rows is the stronger one: whoever can make it can make the other."""
    needed = min_samples(eps, delta)
    check_units(needed, eps, delta, DeltaShare())
    with pytest.raises(NotEnoughSamples):
        check_units(needed - 1, eps, delta, DeltaShare())


def test_the_whole_bet_is_for_few_units_only():
    """Files of earlier versions were decided by the five bets: wherever these can show anything, they decide."""
    assert choose_bets(33, 0.1, Fraction(1, 20)) == WHOLE_BET
    assert choose_bets(34, 0.1, Fraction(1, 20)) == BETS
    # Four of 33 units with a tenth of their rows beyond the bound are shown; one with all of its rows is not.
    assert Evidence(((0, 10, 29), (1, 10, 4))).shows(0.1, Fraction(1, 20))
    assert not Evidence(((0, 10, 32), (10, 10, 1))).shows(0.1, Fraction(1, 20))


def test_the_wrong_twin_that_counts_one_unit_too_many_breaks_the_level(monkeypatch):
    """28 units without a violation are too few for ε = 0.1 and δ = 0.05: 0.9²⁸ is 0.052."""
    case, decided = (28, 0.1, 0.05), Evidence.shows_by
    assert not broken([case])
    assert largest_count(*case) == -1

    def with_one_more(self, *promise):
        return decided(Evidence(tuple(sorted((*self.counts, (0, 2, 1))))), *promise)

    monkeypatch.setattr(Evidence, "shows_by", with_one_more)
    assert broken([case])


def test_the_wrong_twin_that_takes_the_best_of_the_bets_breaks_the_level(monkeypatch):
    """The sum in place of the average over λ is at least the largest product."""
    whole = averages.log_evidence
    monkeypatch.setattr(averages, "log_evidence", lambda *a, **k: (whole(*a, **k)[0] + math.log(5), 0.0))
    assert broken(CASES)


def test_the_wrong_twin_with_larger_bets_breaks_the_level(monkeypatch):
    """λ = 1/(1 − ε) loses all with one share of 1; larger ones are no bets: a mean of ε has an expectation above one."""
    use_number(monkeypatch, averages, "BETS", (Fraction(1, 2), Fraction(31, 32), Fraction(5, 2)))
    with np.errstate(invalid="ignore"):
        # A factor below zero is no number, and where no unit violates the evidence is too large.
        assert Evidence(((0, 1, 20),)).shows(0.1, Fraction(1, 20))
    monkeypatch.undo()
    assert not Evidence(((0, 1, 20),)).shows(0.1, Fraction(1, 20))


@pytest.mark.parametrize(("eps", "delta", "needed"), [(0.1, 0.05, 29), (0.05, 1e-6, 270)])
def test_too_few_units_are_refused_with_how_many_are_needed(eps, delta, needed):
    check_units(needed, eps, delta, DeltaShare())
    with pytest.raises(NotEnoughSamples, match=f"need at least {needed} units for a promise on average over units, got n_samples={needed - 1}") as caught:  # fmt: skip
        check_units(needed - 1, eps, delta, DeltaShare())
    assert caught.value.needed == needed
    check_units(needed - 1, caught.value.eps_here, delta, DeltaShare())
    check_units(needed - 1, eps, caught.value.delta_here, DeltaShare())


@pytest.mark.parametrize(("eps", "delta"), [(1e-9, 1e-300), (1e-9, 0.05), (1e-6, 1e-12)])
def test_very_many_units_are_named(eps, delta):
    """Against the rows: as many units suffice as for the promise about all their rows. Doubling went beyond 10¹²."""
    needed = min_samples(eps, delta)
    with pytest.raises(NotEnoughSamples, match=f"need at least {needed} units") as caught:
        check_units(150, eps, delta, DeltaShare())
    check_units(needed, eps, delta, DeltaShare())
    check_units(150, caught.value.eps_here, delta, DeltaShare())
    check_units(150, eps, caught.value.delta_here, DeltaShare())


def test_more_units_than_are_supported_are_refused():
    # The budget 10⁻⁵⁰⁰ takes ln(10⁵⁰⁰)/ε units, which is more than 10¹².
    with pytest.raises(InvalidInput, match=r"eps=1e-09 and delta=1e-300 need more than 1e\+12 samples, the largest"):
        check_units(150, 1e-9, 1e-300, DeltaShare(10**200))


@pytest.mark.parametrize("counts", [(), ((3, 2, 1),), ((0, 0, 1),), ((0, 1, 0),), ((0, 1, 1), (0, 1, 2)), ((0, 1, 2), (0, 1, 1)), ((0, 1, 1), (0.5, 1, 1)), ((0, 1, 1), (2, 1, 1)), ((0.0, 1, 1),), ((-1, 1, 1),), ((0, 1, LARGEST_N + 1),)])  # fmt: skip
def test_what_is_no_evidence_is_refused(counts):
    with pytest.raises(CertificateError, match="increasing triples"):
        Evidence(counts)


def test_as_many_units_as_are_supported_are_evidence():
    assert Evidence(((0, 1, LARGEST_N),)).n_units == LARGEST_N


def test_an_exact_tie_is_decided_against_the_promise():
    """With one unit and ε = ½, K is the mean of 2 − 2⁻ʲ: 289/160."""
    one = Evidence(((0, 1, 1),))
    assert exact([(0, 1)], 0.5) == Fraction(289, 160)
    assert not one.shows_by(BETS, 0.5, Fraction(160, 289))
    assert one.shows(0.5, Fraction(160, 289) * (1 + Fraction(1, 10**39)))


def test_a_p_value_is_below_one_ulp_where_the_evidence_is():
    assert 0.0 < Evidence(((0, 1, 10**6),)).p_value(0.5) < 1e-300
    assert Evidence(((0, 1, 100),)).p_value(0.5) == pytest.approx(float(1 / exact([(0, 1)] * 100, 0.5)), rel=1e-9)
    assert Evidence(((1, 1, 5),)).p_value(0.5) == 1.0


def test_the_delta_that_is_offered_counts_the_share():
    with pytest.raises(NotEnoughSamples, match="shared 2 ways") as caught:
        check_units(30, 0.1, 0.05, DeltaShare(2))
    assert caught.value.delta_here == pytest.approx(2 * 0.9**30, rel=1e-8)


def test_budgets_below_every_float_are_decided():
    many = Evidence(((0, 1, 10**6),))
    assert many.shows(0.5, Fraction(1, 10**400))
    assert not Evidence(((0, 1, 10),)).shows(0.5, Fraction(1, 10**400))
    assert not many.shows(0.5, Fraction(0))


def test_the_error_in_floating_point_is_bounded():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 400, 3000)
    units = list(zip(rng.binomial(sizes, 0.04).tolist(), sizes.tolist(), strict=True))
    found, error = log_evidence(np.array([k / n for k, n in units]), 0.05)
    value = exact(units[:400], 0.05)
    few, few_error = log_evidence(np.array([k / n for k, n in units[:400]]), 0.05)
    assert abs(few - (math.log(value.numerator) - math.log(value.denominator))) <= few_error < 1e-9
    assert math.isfinite(found)
    assert error < 1e-9


@pytest.mark.parametrize(
    ("eps", "n_units"), [(0.3, 1), (0.3, 60), (0.3, 61), (0.05, 400), (0.001, 20_000), (0.001, 15_001)]
)
def test_one_bet_is_decided_exactly_where_floats_cannot_tell(eps, n_units):
    # K = (1 − ε)⁻ᵁ if no row violates. The budgets are just above and just below 1/K.
    place = int((1 - Fraction(eps)) ** n_units * 2**128)
    evidence = Evidence(((0, 10, n_units),))
    assert evidence.shows_by(WHOLE_BET, eps, Fraction(place + 2, 2**128))
    assert not evidence.shows_by(WHOLE_BET, eps, Fraction(place - 1, 2**128))
