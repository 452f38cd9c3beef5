"""The test of a promise: exact, and contradicted no more often than its level."""

import duckdb
import numpy as np
import pytest
from scipy.stats import binom

import pacband
from pacband.draws import Spaced
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.judging import Count
from support.judged import certified_frame, uneven_frame


@pytest.fixture
def made(rng):
    return certified_frame(rng)


def test_ties_with_the_bound_are_no_violations(made):
    cert, _ = made
    assert pacband.check(cert, [cert.gamma] * 50, [0.0] * 50, [1.0] * 50).counts[""].violations == 0
    assert pacband.check(cert, [np.nextafter(cert.gamma, 9)] * 50, [0.0] * 50, [1.0] * 50).counts[""].violations == 50


def test_groups_share_the_level(rng):
    groups = np.repeat(np.arange(20), 100)
    y = rng.standard_normal(2000)
    cert = pacband.certify_groups(y, np.zeros(2000), groups, eps=0.3, delta=0.05)
    worse = np.where(groups == 3, 5.0, 1.0) * y
    verdict = pacband.check(cert, worse, np.zeros(2000), groups=groups, level=0.05)
    assert verdict.contradicted == (3,)
    assert "! 3 " in str(verdict)
    assert not verdict.holds
    # At the whole level for each of twenty groups, data that keep the promise would be contradicted too often.
    alone = [count.p_value <= 0.05 / 20 for count in verdict.counts.values()]
    assert sum(alone) == 1


@pytest.fixture
def uneven(rng):
    return uneven_frame(rng)


def test_a_plain_promise_that_fails_in_all_rows_is_contradicted_with_groups_as_without(uneven):
    cert, frame = uneven
    verdict = pacband.check(cert, frame.y.where(frame.site == "a", 9.0), frame.p, groups=frame.site)
    assert not verdict.holds
    assert str(verdict).startswith("The data contradict the promise (level 0.01).")


def test_a_promise_that_holds_is_contradicted_at_the_level_at_most_however_many_groups_are_listed():
    # All violations of a promise that just holds fall on one group of ten; the number of contradictions is that
    # without groups, by enumeration. The twin that judges every group at level/10 contradicts nearly always.
    cert = pacband.certify(np.linspace(0, 1, 400), np.zeros(400), eps=0.2, delta=0.05)
    groups = np.repeat(np.arange(10), 10)
    contradicted = [
        k for k in range(101) if not pacband.check(cert, np.r_[np.full(k, 9.0), np.zeros(100 - k)], np.zeros(100),
                                                   groups=groups, level=0.05).holds
    ]  # fmt: skip
    assert contradicted == [k for k in range(101) if Count.of(100, k, 0.2).p_value <= 0.05]
    assert binom.pmf(contradicted, 100, 0.2).sum() <= 0.05


def test_bad_input_is_refused_with_its_rule(made, rng):
    cert, frame = made
    with pytest.raises(InvalidScale, match="calibrated with a scale"):
        pacband.check(cert, frame.y, frame.p)
    with pytest.raises(InvalidInput, match="level must be in"):
        pacband.check(cert, frame.y, frame.p, frame.s, level=0)
    with pytest.raises(InvalidInput, match="y and groups must have one length"):
        pacband.check(cert, frame.y, frame.p, frame.s, groups=["a"])
    grouped = pacband.certify_frame(frame, target="y", prediction="p", group="site", eps=0.1, delta=0.01)
    with pytest.raises(InvalidInput, match="pass the group of every row"):
        pacband.check(grouped, frame.y, frame.p)
    with pytest.raises(InvalidInput, match="labels without a certificate"):
        pacband.check_frame(grouped, duckdb.from_df(frame.assign(site="c")))
    plain = pacband.certify(frame.y, frame.p, eps=0.1, delta=0.01)
    with pytest.raises(InvalidInput, match="names no column of predictions"):
        pacband.check_frame(plain, frame)


def test_pandas_columns_with_other_indexes_are_refused(made):
    cert, frame = made
    with pytest.raises(InvalidInput, match="same index"):
        pacband.check(cert, frame.y, frame.p[::-1], frame.s)
    with pytest.raises(InvalidInput, match="same index"):
        cert.interval(frame.p, frame.s[::-1])


def test_the_dependence_of_a_series_is_added_to_the_probability():
    """p = P{Bin(n, ε) ≥ k} + nβ(a): n draws, and the calibration before them."""
    y, beta = np.random.default_rng(0).standard_normal(4000), 1e-5
    plain = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Spaced(4))
    mixing = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Spaced(4, lambda gap: beta))
    fresh = 1.2 * np.random.default_rng(1).standard_normal(2000)
    independent, dependent = (pacband.check(cert, fresh, 0 * fresh).counts[""] for cert in (plain, mixing))
    assert independent.n_samples == dependent.n_samples == 500
    expected = Count.of(500, dependent.violations, 0.1).p_value + 500 * beta
    assert dependent.p_value == pytest.approx(expected, rel=1e-12)
    assert "of 500 rows that are 4 apart (" in str(pacband.check(mixing, fresh, 0 * fresh))
    # So dependent draws never contradict a promise at a level below nβ(a), and cannot test it.
    assert pacband.check(mixing, 9 + fresh, 0 * fresh, level=0.004).holds is None
    assert pacband.check(mixing, 9 + fresh, 0 * fresh, level=0.006).holds is False
    assert pacband.check(plain, 9 + fresh, 0 * fresh, level=0.004).holds is False


@pytest.mark.parametrize("failures", [0, 2])
def test_as_many_failures_of_as_many_tests_are_no_sign_of_reuse(failures):
    """Tests that pass or fail have few different scores: fresh ones may be the same numbers."""
    scores = np.zeros(200)
    scores[:failures] = 1.0
    cert = pacband.certify_scores(scores, tolerance=0.5, delta=0.05)
    verdict = pacband.check(cert, scores[::-1])
    assert (verdict.reused, verdict.holds) == (False, True)
    assert pacband.recalibrate(cert, scores[::-1]).generation == 2
    assert cert.verify(scores)


def test_whole_numbers_that_are_reused_are_noticed(rng):
    y = rng.integers(-9, 10, 1000)
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05)
    assert pacband.check(cert, y, 0 * y).reused
    with pytest.raises(pacband.ReusedData):
        pacband.recalibrate(cert, y, 0 * y)


def test_draws_whose_dependence_prevents_a_test_are_not_called_too_few(rng):
    y = rng.standard_normal(14 * 200)
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Spaced(14, 0.5))
    fresh = rng.standard_normal(14 * 300)
    verdict = pacband.check(cert, fresh, 0 * fresh)
    assert verdict.holds is None
    assert "declared dependence alone exceeds the level 0.01" in verdict.why_untested
    page = pacband.report(cert, fresh, 0 * fresh)
    assert verdict.why_untested in page.summary.answer.text
    assert "too few" not in page.summary.answer.headline + page.summary.answer.text
    assert pacband.check(cert, fresh[: 14 * 100], np.zeros(14 * 100)).holds
    assert pacband.check(cert, fresh, 0 * fresh, level=0.05).why_untested == ""


def test_runs_of_a_series_are_called_runs(rng):
    y, fresh = rng.standard_normal((800, 3, 1)), rng.standard_normal((400, 3, 1))
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Spaced(4))
    assert pacband.check(cert, fresh, 0 * fresh).counts[""].counted == "runs that are 4 apart"
