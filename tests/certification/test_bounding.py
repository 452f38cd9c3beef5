"""Units on average: the smallest bound that the evidence shows, in every container, and what such a promise has not."""

import json
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pacband
from pacband import CertificateError, InvalidInput, NotEnoughSamples, certify, certify_family, certify_groups
from pacband.draws import Units
from pacband.planning.averages import Evidence
from support.jobs import stated

PROMISE = {"eps": 0.1, "delta": 0.05}


@pytest.fixture
def rows(rng):
    machine = rng.permutation(np.repeat(np.arange(200), rng.integers(1, 20, 200)))
    return machine, rng.standard_normal(200)[machine] + 0.5 * rng.standard_normal(len(machine))


def evidence_at(gamma, scores, labels):
    """How many rows of every unit exceed γ, by its definition."""
    own = [scores[labels == label] for label in np.unique(labels)]
    return Evidence.of(np.array([(part > gamma).sum() for part in own]), np.array([len(part) for part in own]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_bound_is_the_smallest_score_with_enough_evidence(seed, tied):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.concatenate([np.arange(40), rng.integers(0, 40, 60)]))
    scores = rng.integers(0, 8, 100).astype(float) if tied else rng.random(100)
    cert = certify(scores, np.zeros(100), eps=0.3, delta=0.2, draws=Units(labels, "average"))
    shown = [gamma for gamma in np.unique(scores) if evidence_at(gamma, scores, labels).shows(0.3, Fraction(0.2))]
    assert cert.gamma == min(shown)
    assert cert.evidence == evidence_at(cert.gamma, scores, labels)
    order = rng.permutation(100)
    again = certify(scores[order], np.zeros(100), eps=0.3, delta=0.2, draws=Units(labels[order], "average"))
    assert stated(again) == stated(cert)


def test_the_certificate_says_what_it_is_and_decides_itself_again(rows, tmp_path):
    machine, error = rows
    units = Units(machine, "average", name="machine_id")
    cert = certify(error, 0 * error, **PROMISE, draws=units)
    words = "With confidence 95 %, at least 90 % of the rows of future machines, on average over machines, satisfy "
    assert cert.promise.startswith(words)
    assert (cert.rank, cert.n_samples) == (None, 200)
    assert "the rank" not in cert.assumptions[2]
    assert "on average" in str(cert)
    assert "rank" not in str(cert)
    assert "mean share beyond the bound" in cert._repr_html_()
    assert cert.attained_delta == pytest.approx(cert.evidence.p_value(0.1))
    assert cert.attained_delta <= 0.05
    path = cert.save(tmp_path / "cert.json")
    assert pacband.load(path) == cert
    assert cert.verify(error, 0 * error, draws=units)
    assert not cert.verify(error + 0.01, 0 * error, draws=units)
    assert json.loads(path.read_text())["content"]["evidence"] == [list(count) for count in cert.evidence.counts]
    for ask in (lambda: cert.expected_violation, lambda: cert.outlook(10), lambda: cert.violation_interval(0.9)):
        with pytest.raises(InvalidInput, match="it has no rank"):
            ask()
    with pytest.raises(InvalidInput, match="units on average"):
        pacband.report(cert)


def test_evidence_that_does_not_show_the_promise_makes_no_certificate(rows):
    machine, error = rows
    cert = certify(error, 0 * error, **PROMISE, draws=Units(machine, "average"))
    content = cert.to_dict()

    def rebuilt(**changes):
        return pacband.Certificate.from_dict({**content, **changes})

    assert rebuilt() == cert
    with pytest.raises(CertificateError, match="does not certify"):
        rebuilt(evidence=[[0, 1, 100], [1, 1, 100]])
    with pytest.raises(CertificateError, match="does not certify"):
        rebuilt(delta=0.04)
    with pytest.raises(CertificateError, match="does not certify"):
        rebuilt(n_candidates=2)
    with pytest.raises(CertificateError, match="evidence of n_samples units"):
        rebuilt(n_samples=201)
    with pytest.raises(CertificateError, match="has evidence and no rank; others have a rank"):
        rebuilt(rank=3)
    with pytest.raises(CertificateError, match="has evidence and no rank; others have a rank"):
        rebuilt(draws={"kind": "units", "within": "all", "unit": "unit", "seed": None})
    with pytest.raises(CertificateError, match="has evidence and no rank"):
        pacband.Certificate.from_dict({name: value for name, value in content.items() if name != "evidence"})


def test_families_groups_and_tables_on_average(rows):
    machine, error = rows
    frame = pd.DataFrame(
        {"machine": machine, "y": error, "p": 0.0, "q": error / 2, "site": np.where(machine % 2, "n", "s")}
    )
    units, by_name = Units(machine, "average", name="machine"), Units("machine", "average")
    family = certify_family(error, {"p": 0 * error, "q": error / 2}, **PROMISE, draws=units)
    groups = certify_groups(error, 0 * error, frame["site"], **PROMISE, draws=units)
    assert family.candidates["q"].gamma == pytest.approx(family.candidates["p"].gamma / 2)
    for label, part in groups.groups.items():
        own = frame["site"] == label
        alone = certify(
            error[own], 0 * error[own], eps=0.1, delta=0.05, n_candidates=2, draws=Units(machine[own], "average")
        )
        assert (part.gamma, part.evidence, part.data_digest) == (alone.gamma, alone.evidence, alone.data_digest)
    assert "on average over 1" in str(groups)
    for native in (frame, duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        found = pacband.certify_frame(native, target="y", candidates={"p": "p", "q": "q"}, **PROMISE, draws=by_name)
        assert stated(found) == stated(family)
        found = pacband.certify_frame(native, target="y", prediction="p", group="site", **PROMISE, draws=by_name)
        assert stated(found) == stated(groups)


def test_infinite_errors_on_average(rows):
    machine, error = rows
    many = np.where(machine % 4 == 0, np.nan, 0.0)
    cert = certify(error, many, **PROMISE, nonfinite="violate", draws=Units(machine, "average", name="machine"))
    assert "too many errors of the 200 calibration machines count as infinite" in cert.promise


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 3}, "rank and rule cannot be combined with within='average'"),
        ({"rule": "maximum"}, "rank and rule cannot be combined with within='average'"),
        ({"eps": 0.01}, "each machine is one draw: eps=0.01 and delta=0.05 need at least 299"),
    ],
)
def test_what_is_asked_wrongly_is_refused(options, message, rows):
    machine, error = rows
    with pytest.raises(InvalidInput, match=message):
        certify(error, 0 * error, **PROMISE | options, draws=Units(machine, "average", name="machine"))


def test_too_few_units_of_a_group_are_named_and_a_tolerance_is_refused(rows):
    machine, error = rows
    with pytest.raises(
        NotEnoughSamples,
        match=r"group 0: .*need at least 36 units for a promise on average over units, got n_samples=10",
    ):
        certify_groups(error, 0 * error, np.minimum(machine // 10, 1), **PROMISE, draws=Units(machine, "average"))
    with pytest.raises(InvalidInput, match="a tolerance cannot be combined with within='average'"):
        pacband.certify_tolerance(error, 0 * error, 2.0, draws=Units(machine, "average"))
