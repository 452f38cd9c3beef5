"""Rows of tables are judged as arrays are, in every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from support.judged import certified_frame, uneven_frame

ENGINES = {
    "duckdb": duckdb.from_df,
    "polars": lambda frame: pl.from_pandas(frame).lazy(),
    "pandas": lambda frame: frame,
}
each_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


@pytest.fixture
def made(rng):
    return certified_frame(rng)


@each_engine
@pytest.mark.parametrize("group", [None, "site"])
def test_tables_are_judged_as_arrays_are(made, engine, group):
    cert, frame = made
    groups = None if group is None else frame[group]
    expected = pacband.check(cert, frame.y, frame.p, frame.s, groups=groups)
    assert pacband.check_frame(cert, engine(frame), group=group) == expected
    violations = (np.abs(frame.y - frame.p) / frame.s > cert.gamma).sum()
    assert sum(count.violations for count in expected.counts.values()) == violations


@pytest.fixture
def uneven(rng):
    return uneven_frame(rng)


@each_engine
def test_groups_show_where_a_plain_promise_is_weak_and_do_not_contradict_it(uneven, engine):
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


@each_engine
def test_nothing_exceeds_an_infinite_bound(engine):
    frame = pd.DataFrame(
        {"y": np.zeros(400), "p": np.where(np.random.default_rng(1).permutation(400) < 300, np.nan, 0.0)}
    )
    cert = pacband.certify_frame(frame, target="y", prediction="p", nonfinite="violate", eps=0.1, delta=0.1)
    assert cert.gamma == np.inf
    verdict = pacband.check_frame(cert, engine(frame))
    assert (verdict.counts[""].violations, verdict.contradicted) == (0, ())


@each_engine
def test_the_rows_of_the_certificate_are_recognised(made, engine):
    cert, frame = made
    by_site = pacband.certify_frame(frame, target="y", prediction="p", scale="s", group="site", eps=0.1, delta=0.01)
    for certificate, group in ((cert, None), (cert, "site"), (by_site, None)):
        assert pacband.check_frame(certificate, engine(frame), group=group).reused
        assert "only fresh rows" in str(pacband.check_frame(certificate, engine(frame), group=group))
        fresh = frame.assign(y=frame.y * 0.999)
        assert not pacband.check_frame(certificate, engine(fresh), group=group).reused
