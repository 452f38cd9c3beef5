"""The certificate of a family: every candidate is named, and all of them share one δ."""

import dataclasses
import math

import numpy as np
import pytest

import pacband
from pacband import CertificateError, InvalidInput, certify, certify_family
from pacband.certificate.family import FamilyCertificate, check_candidates, split_candidate
from pacband.certificate.inequality import symbols
from pacband.core.frozen import FrozenMap
from pacband.draws import Units
from pacband.planning import DeltaShare
from support.certificates import ALL_KINDS, PROMISE, P, S, Y, changed


def test_html_escapes_names():
    cert = certify_family(Y, {"<script>alert(1)</script>": P}, **PROMISE)
    assert "<script>" not in cert._repr_html_()
    assert "&lt;script&gt;" in cert._repr_html_()


def test_the_violation_to_expect_is_stated_only_for_a_candidate_chosen_beforehand():
    y = np.random.default_rng(0).standard_normal(500)
    one = certify_family(y, {"a": np.zeros(500)}, eps=0.1, delta=0.01)
    two = certify_family(y, {"a": np.zeros(500), "b": np.full(500, 0.1)}, eps=0.1, delta=0.01)
    assert "expected violation" in str(one)
    assert "expected violation" in one.certificate._repr_html_()
    assert "expected violation" not in str(two)
    assert "expected violation" not in two.certificate._repr_html_()
    assert "rank" in str(two)


def test_a_family_cannot_use_more_than_delta():
    family = ALL_KINDS["family"]
    alone = FrozenMap(dict.fromkeys(family.candidates, ALL_KINDS["constant"]))
    with pytest.raises(CertificateError, match="do not make one promise"):
        dataclasses.replace(family, candidates=alone)
    with pytest.raises(CertificateError, match="best, mean_bound and sharpness of a family must name its candidates"):
        dataclasses.replace(family, best="nobody")


def test_family_certificate_names_every_candidate():
    family = ALL_KINDS["family"]
    for name in family.candidates:
        assert name in str(family)
        assert name in family._repr_html_()
    assert family.certificate is family.candidates[family.best]
    np.testing.assert_array_equal(
        family.interval(P, S if family.best == "two ✓" else None),
        family.certificate.interval(P, S if family.best == "two ✓" else None),
    )
    assert (family.eps, family.delta, family.n_samples) == (0.1, 0.01, 400)


def family(gammas, offsets, unanswered, side="upper"):
    """Join certificates with these bounds."""
    one = certify(Y, np.zeros(400), eps=0.2, delta=0.1, rank=50, side=side)
    certificates = {name: changed(one, gamma=gamma, n_candidates=len(gammas)) for name, gamma in gammas.items()}
    assert {cert.share for cert in certificates.values()} == {DeltaShare(len(gammas))}
    return FamilyCertificate.of(certificates, dict.fromkeys(gammas, 1.0), offsets, unanswered)


def test_the_best_has_the_smallest_mean_distance():
    joined = family({"a": 1.0, "b": 1.2}, {"a": 0.5, "b": 0.0}, {"a": 0, "b": 0})
    assert joined.best == "b"
    assert dict(joined.sharpness) == {"a": 1.5, "b": 1.2}
    assert dict(joined.mean_bound) == {"a": 1.0, "b": 1.2}


def test_a_candidate_without_an_answer_in_some_row_has_no_finite_mean_bound():
    joined = family({"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}, {"a": 1, "b": 0})
    assert joined.best == "b"
    assert joined.mean_bound["a"] == joined.sharpness["a"] == math.inf


@pytest.mark.parametrize(
    ("unanswered", "offsets", "best"),
    [
        ({"a": 2, "b": 1}, {"a": 0.0, "b": 0.0}, "b"),  # the fewest rows without a band
        ({"a": 1, "b": 1}, {"a": 0.0, "b": 0.0}, "a"),  # of those, the sharpest in the other rows
        ({"a": 1, "b": 1}, {"a": 0.5, "b": 0.0}, "b"),
    ],
)
def test_where_no_candidate_has_a_band_in_every_row(unanswered, offsets, best):
    assert family({"a": 1.0, "b": 1.2}, offsets, unanswered).best == best


@pytest.mark.parametrize(("side", "words"), [("both", "mean half-width"), ("upper", "mean distance")])
def test_every_candidate_has_a_line_and_the_best_a_star(side, words):
    joined = family({"a": 1.0, "long name": 1.25}, {"a": 0.0, "long name": 0.0}, {"a": 0, "long name": 0}, side)
    error = {"both": "|y − T(x)|", "upper": "y − T(x)"}[side]
    lines = str(joined).split("\n")
    assert lines[0] == joined.promise
    assert lines[1] == f"* a          {words} 1           {error} ≤ 1"
    assert lines[2] == f"  long name  {words} 1.25        {error} ≤ 1.25"
    assert lines[3].startswith("The bound is the score of rank")
    html = joined._repr_html_()
    assert "a (best)" in html
    assert "long name (best)" not in html
    assert f"{words} 1.25" in html


def test_the_promise_of_two_candidates():
    joined = certify_family(Y, {"zero": np.zeros(400), "one": np.ones(400)}, eps=0.2, delta=0.1)
    assert joined.promise == (
        "With confidence 90 %, each of the 2 candidates keeps at least 80 % of future errors within its own bound; "
        "the sharpest is 'zero'."
    )


def test_bounds_and_best_must_be_those_of_the_candidates():
    joined = family({"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}, {"a": 0, "b": 0})
    for change in (
        {"mean_bound": FrozenMap({"a": 1.0})},
        {"sharpness": FrozenMap({"a": 1.0, "c": 2.0})},
        {"best": "c"},
    ):
        with pytest.raises(
            CertificateError, match="best, mean_bound and sharpness of a family must name its candidates"
        ):
            dataclasses.replace(joined, **change)


def test_a_family_is_verified_with_the_draws_it_was_made_with():
    y, unit = np.random.default_rng(0).standard_normal(800), np.arange(200).repeat(4)
    family = {"a": np.zeros(800), "b": (np.full(800, 0.1), np.ones(800))}
    cert = certify_family(y, family, eps=0.2, delta=0.1, draws=Units(unit))
    assert cert.verify(y, family, draws=Units(unit))
    assert not cert.verify(y, family, draws=Units(unit[::-1] // 2))
    with pytest.raises(InvalidInput, match="this certificate was made with other draws"):
        cert.verify(y, family)


def test_the_headline_of_a_family_has_its_number():
    y = np.random.default_rng(0).standard_normal(400)
    family = pacband.certify_family(y, {"a": np.zeros(400), "b": y / 2}, eps=0.1, delta=0.01)
    assert family.headline == (
        f"With confidence 99 %, at least 90 % of future errors satisfy {family.certificate.inequality}. "
        "This is 'b', the sharpest of 2 candidates."
    )
    assert family.certificate.headline == family.certificate.promise
    alone = pacband.certify_family(y, {"a": np.zeros(400)}, eps=0.1, delta=0.01)
    assert alone.headline == alone.promise
    y_pred = np.full(400, np.nan)
    none = pacband.certify_family(y, {"a": y_pred, "b": y_pred}, eps=0.1, delta=0.01, nonfinite="violate")
    assert none.headline == none.promise


def test_a_family_of_units_with_runs_promises_runs():
    units, runs = Units(np.arange(100).repeat(4), within="one", name="machine"), Y.reshape(400, 1, 1)
    cert = certify_family(runs, {"a": 0 * runs, "b": 0 * runs + 1.0}, eps=0.3, delta=0.1, draws=units)
    assert "of future runs, with all machines counted equally, are within its own bound" in cert.promise


def test_the_card_explains_the_symbols():
    html = ALL_KINDS["family"]._repr_html_()
    assert ">where<" in html
    assert symbols(ALL_KINDS["family"].basis) in html


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({}, "candidates must be a non-empty mapping of names .* got dict"),
        ([P], "candidates must be a non-empty mapping of names .* got list"),
        ({1: P}, "candidate names must be strings, got 1"),
    ],
)
def test_candidates_have_names(candidates, message):
    with pytest.raises(InvalidInput, match=message):
        check_candidates(candidates)


def test_a_candidate_is_a_prediction_or_a_prediction_and_a_scale():
    assert split_candidate("p") == ("p", None)
    assert split_candidate(("p", "s")) == ("p", "s")
    with pytest.raises(InvalidInput, match=r"a candidate must be model or \(model, scale\), got 3 parts"):
        split_candidate(("p", "s", "t"), "model")
