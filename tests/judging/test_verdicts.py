"""Verdicts: exact p-values and intervals, and words that can be read."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import binomial, mp, mpf
from scipy.stats import binom, binomtest

import pacband
from pacband.core.frozen import FrozenMap
from pacband.judging import Count, Verdict
from pacband.planning.averages import Evidence
from support.judged import certified_frame


@given(st.integers(1, 400), st.data(), st.floats(1e-4, 0.9))
def test_the_p_value_is_the_upper_tail_of_the_binomial(n, data, eps):
    k = data.draw(st.integers(0, n))
    with mp.workdps(40):
        tail = sum(binomial(n, j) * mpf(eps) ** j * (1 - mpf(eps)) ** (n - j) for j in range(k, n + 1))
        assert Count.of(n, k, eps).p_value == pytest.approx(float(tail), rel=1e-9, abs=1e-300)


@given(st.integers(1, 400), st.data())
def test_the_interval_is_that_of_clopper_and_pearson(n, data):
    k = data.draw(st.integers(0, n))
    expected = binomtest(k, n).proportion_ci(0.95, method="exact")
    assert Count.of(n, k, 0.1).interval == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("eps", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("level", [0.2, 0.05, 0.01])
def test_a_promise_that_just_holds_is_contradicted_at_the_level_at_most(eps, level):
    # By enumeration. The twin that asks for more than k violations in place of k or more is caught.
    eager = False
    for n in range(1, 200):
        contradicting = [k for k in range(n + 1) if Count.of(n, k, eps).p_value <= level]
        assert binom.pmf(contradicting, n, eps).sum() <= level * (1 + 1e-9)
        twin = [k for k in range(n + 1) if k and Count.of(n, k + 1, eps).p_value <= level] if n > 1 else []
        eager |= binom.pmf([k for k in twin if k <= n], n, eps).sum() > level
    assert eager


@pytest.fixture
def made(rng):
    return certified_frame(rng)


def test_a_verdict_can_be_read(made):
    cert, frame = made
    verdict = pacband.check(cert, frame.y[:-1], frame.p[:-1], frame.s[:-1])
    assert (verdict.holds, verdict.tested) == (True, True)
    assert str(verdict).startswith("The data do not contradict the promise (level 0.01).\n")
    assert verdict.to_dict()["counts"][0]["n_samples"] == 1999
    assert "pacband check" in verdict._repr_html_()


def test_rows_that_cannot_test_the_promise_neither_hold_nor_contradict(made):
    """`if check(...).holds: deploy()` must not pass on the rows that the certificate was made from."""
    cert, frame = made
    for verdict in (
        pacband.check(cert, frame.y, frame.p, frame.s),
        pacband.check_frame(cert, frame, target="y", prediction="p", scale="s"),
    ):
        assert verdict.holds is None
        assert (verdict.tested, verdict.contradicted, verdict.to_dict()["holds"]) == (False, (), None)
        first = "These are the rows that the certificate was made from: only fresh rows can test it."
        assert str(verdict).splitlines()[0] == first
        assert "do not contradict" not in str(verdict)
        assert "do not contradict" not in verdict._repr_html_()
    # Training rows violate too seldom: if they contradict the promise all the same, it is contradicted.
    fallen = replace(pacband.check(cert, 9 * frame.y, frame.p, frame.s), reused=True, training_rows=7)
    assert fallen.holds is False
    assert [line[:19] for line in str(fallen).splitlines()[::2]] == ["The data contradict", "The model was fitte"]


def test_rows_that_are_too_few_to_contradict_cannot_test_the_promise(made):
    """Whatever a single row is, it does not contradict a promise about 95 % of them, so it must not pass for a test."""
    cert, _ = made
    level = 1.5e-4
    needed = math.ceil(math.log(level) / math.log(cert.eps))
    for n_rows in range(1, 6):
        worst = pacband.check(cert, np.full(n_rows, 1e9), np.zeros(n_rows), np.ones(n_rows), level=level)
        enough = n_rows >= needed
        assert worst.tested == enough
        assert worst.holds is (False if enough else None)
        assert worst.too_few == (() if enough else ("",))
        good = pacband.check(cert, np.zeros(n_rows), np.zeros(n_rows), np.ones(n_rows), level=level)
        assert good.holds is (True if enough else None)
        if not enough:
            assert str(good).startswith("These are too few to test the promise: even if all of them exceed the bound,")
            assert f"At least {needed} rows are needed." in str(good)


def test_a_small_group_is_named_beside_groups_that_are_tested(rng):
    groups = np.repeat(["a", "b"], 600)
    cert = pacband.certify_groups(rng.standard_normal(1200), np.zeros(1200), groups=groups, eps=0.1, delta=0.05)
    few = np.array(["a"] * 200 + ["b"])
    verdict = pacband.check(cert, np.zeros(201), np.zeros(201), groups=few)
    assert (verdict.holds, verdict.too_few) == (True, ("b",))
    assert "Too few draws to test it in 1 of 2 groups." in str(verdict)
    alone = pacband.check(cert, np.zeros(2), np.zeros(2), groups=np.array(["a", "b"]))
    assert alone.holds is None
    assert "At least 3 rows of each group are needed." in str(alone)


@given(st.sampled_from(["rows", "units"]), st.floats(0.001, 0.6), st.sampled_from([0.05, 0.01, 1e-4]))
def test_as_many_draws_as_are_needed_can_contradict_and_one_less_cannot(kind, eps, level):
    def worst(n):
        if kind == "rows":
            return Count.of(n, n, eps)
        return Count.of_average(Evidence(((1, 1, n),)), eps, "machines")

    needed = worst(1).draws_needed(level)
    for n in {max(needed - 1, 1), needed, needed + 1}:
        count = worst(n)
        # All of them exceed the bound: no outcome has a smaller p-value.
        assert count.least_p_value == count.p_value
        verdict = Verdict(level, FrozenMap({"": count}))
        assert verdict.too_few == (() if n >= needed else ("",))
        assert verdict.holds is (False if n >= needed else None)


def test_the_number_that_is_needed_is_more_than_the_number_that_is_too_few():
    # 0.1² is 0.010000000000000002 in binary, more than the level.
    verdict = Verdict(0.01, FrozenMap({"": Count.of(2, 0, 0.1)}))
    assert (verdict.holds is None) == ("At least 3 rows are needed." in str(verdict))
    assert "At least 2 rows" not in str(verdict)


def test_draws_whose_dependence_exceeds_the_level_test_nothing():
    verdict = Verdict(0.01, FrozenMap({"": Count.of(500, 500, 0.1, dependence=0.02)}))
    assert verdict.holds is None
    assert str(verdict).startswith(
        "These rows cannot test the promise: their declared dependence alone exceeds the level 0.01."
    )
    assert verdict.to_dict()["counts"][0]["dependence"] == 0.02
    assert "dependence" not in Verdict(0.01, FrozenMap({"": Count.of(5, 0, 0.1)})).to_dict()["counts"][0]
    assert verdict.to_dict()["too_few"] == [""]
