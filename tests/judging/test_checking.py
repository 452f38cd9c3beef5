"""The test of a promise: exact, never too eager, and the same for arrays and tables."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import binomial, mp, mpf
from scipy.stats import binom, binomtest

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.judging import Count


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
    frame = pd.DataFrame({"y": rng.standard_normal(2000), "p": 0.0, "s": rng.uniform(0.5, 2, 2000)})
    frame["site"] = rng.choice(["a", "b"], 2000)
    return pacband.certify_frame(frame, target="y", prediction="p", scale="s", eps=0.1, delta=0.01), frame


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
@pytest.mark.parametrize("group", [None, "site"])
def test_tables_are_judged_as_arrays_are(made, engine, group):
    cert, frame = made
    groups = None if group is None else frame[group]
    expected = pacband.check(cert, frame.y, frame.p, frame.s, groups=groups)
    assert pacband.check_frame(cert, engine(frame), group=group) == expected
    violations = (np.abs(frame.y - frame.p) / frame.s > cert.gamma).sum()
    assert sum(count.violations for count in expected.counts.values()) == violations


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
    """Rows that keep a promise of 5 % as a whole (3.5 %), though not in site "b"; of the "a" rows, none violates."""
    cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    site = np.repeat(["a", "b"], [1650, 350])
    y = np.zeros(2000)
    y[1650:1720] = 2 * cert.gamma
    return cert, pd.DataFrame({"y": y, "p": 0.0, "site": site})


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
def test_groups_show_where_a_plain_promise_is_weak_and_do_not_condemn_it(uneven, engine):
    cert, frame = uneven
    named = {"target": "y", "prediction": "p"}
    plain = pacband.check_frame(cert, engine(frame), **named)
    verdict = pacband.check_frame(cert, engine(frame), **named, group="site")
    assert plain.holds
    assert verdict.holds
    assert verdict.counts == plain.counts
    assert verdict.contradicted == ()
    assert {label: (c.n_samples, c.violations) for label, c in verdict.groups.items()} == {
        "a": (1650, 0),
        "b": (350, 70),
    }
    assert verdict.weak == ("b",)
    assert verdict == pacband.check(cert, frame.y, frame.p, groups=frame.site)
    words = str(verdict).splitlines()
    assert words[0] == "The data do not contradict the promise (level 0.01)."
    assert [line[:3] for line in words[-2:]] == ["  a", "! b"]
    content = verdict.to_dict()
    assert content["holds"]
    assert [(group["label"], group["weak"]) for group in content["groups"]] == [("a", False), ("b", True)]
    # The same groups with a promise of their own are judged by it.
    by_site = pacband.certify_groups(np.zeros(2000), np.zeros(2000), frame.site, eps=0.05, delta=1e-3)
    judged = pacband.check(by_site, frame.y, frame.p, groups=frame.site)
    assert (judged.holds, judged.contradicted, dict(judged.groups)) == (False, ("b",), {})


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


def test_what_is_asked_wrongly_is_said(made, rng):
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
    with pytest.raises(InvalidInput, match="not made from a table"):
        pacband.check_frame(plain, frame)


def test_a_verdict_can_be_read(made):
    cert, frame = made
    verdict = pacband.check(cert, frame.y, frame.p, frame.s)
    assert str(verdict).startswith("The data do not contradict the promise (level 0.01).\n")
    assert verdict.to_dict()["counts"][0]["n_samples"] == 2000
    assert "pacband check" in verdict._repr_html_()


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
def test_nothing_exceeds_an_infinite_bound(engine):
    frame = pd.DataFrame({"y": np.zeros(400), "p": np.where(np.arange(400) < 300, np.nan, 0.0)})
    cert = pacband.certify_frame(frame, target="y", prediction="p", nonfinite="violate", eps=0.1, delta=0.1)
    assert cert.gamma == np.inf
    verdict = pacband.check_frame(cert, engine(frame))
    assert (verdict.counts[""].violations, verdict.holds) == (0, True)


def test_pandas_columns_with_other_indexes_are_refused(made):
    cert, frame = made
    with pytest.raises(InvalidInput, match="same index"):
        pacband.check(cert, frame.y, frame.p[::-1], frame.s)
    with pytest.raises(InvalidInput, match="same index"):
        cert.interval(frame.p, frame.s[::-1])


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
def test_the_rows_of_the_certificate_are_known_again(made, engine):
    cert, frame = made
    by_site = pacband.certify_frame(frame, target="y", prediction="p", scale="s", group="site", eps=0.1, delta=0.01)
    for certificate, group in ((cert, None), (cert, "site"), (by_site, None)):
        assert pacband.check_frame(certificate, engine(frame), group=group).reused
        assert "only fresh rows" in str(pacband.check_frame(certificate, engine(frame), group=group))
        fresh = frame.assign(y=frame.y * 0.999)
        assert not pacband.check_frame(certificate, engine(fresh), group=group).reused
