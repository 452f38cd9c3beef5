"""Certificates as values: what they promise, how they are kept, and what is refused."""

import dataclasses
import json
import math
import os
import pickle
import re
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import pacband
from pacband import (
    Certificate,
    CertificateError,
    GroupCertificate,
    InvalidInput,
    InvalidScale,
    certify,
    certify_family,
    certify_groups,
    load,
)
from pacband.core.frozen import FrozenMap
from pacband.core.wording import complement, confidence
from support.certificates import changed


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)


Y, P, S = sample()
SITES = np.where(np.arange(400) % 2 == 0, "north", "south")
PROMISE = {"eps": 0.1, "delta": 0.01}

ALL_KINDS = {
    "constant": certify(Y, P, **PROMISE),
    "scaled": certify(Y, P, S, min_scale=1e-3, **PROMISE),
    "upper": certify(Y, P, side="upper", **PROMISE),
    "pair": certify(Y, P, (S, 2 * S), **PROMISE),
    "ellipsoid": certify(np.c_[Y, P], np.zeros((400, 2)), gauge=[[2.0, 0.5], [0.5, 1.0]], **PROMISE),
    "infinite": certify(Y, np.where(np.arange(400) < 300, np.nan, P), nonfinite="violate", **PROMISE),
    "family": certify_family(Y, {"one": P, "two ✓": (P, S)}, weights={"one": 0.25, "two ✓": 0.75}, **PROMISE),
    "groups": certify_groups(Y, P, SITES, S, **PROMISE),
    "numbered groups": certify_groups(Y, P, np.arange(400) % 3, **PROMISE),
}
each_kind = pytest.mark.parametrize("cert", ALL_KINDS.values(), ids=ALL_KINDS.keys())


@each_kind
def test_survives_a_file_bit_for_bit(cert, tmp_path):
    path = cert.save(tmp_path / "cert.json")
    again = load(path)
    assert again == cert
    assert type(again) is type(cert)
    assert again.to_dict() == cert.to_dict()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@each_kind
def test_survives_pickling_and_is_immutable(cert):
    assert pickle.loads(pickle.dumps(cert)) == cert
    assert hash(cert) == hash(pickle.loads(pickle.dumps(cert)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        cert.eps = 0.5
    for name in ("candidates", "groups"):
        with pytest.raises((TypeError, AttributeError)):
            getattr(cert, name)["one"] = None


@each_kind
def test_file_follows_the_shipped_schema(cert, tmp_path):
    document = json.loads(cert.save(tmp_path / "cert.json").read_text())
    schema = json.loads(resources.files("pacband.core.schemas").joinpath("pacband-certificate.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


@each_kind
def test_says_its_promise_in_words_and_in_html(cert):
    assert "95 %" not in cert.promise
    assert ("90 %" in cert.promise and "99 %" in cert.promise) or "No finite bound" in cert.promise
    assert "independent draws" in str(cert)
    assert cert.promise.split(":")[0].replace("'", "&#x27;") in cert._repr_html_()


def test_html_escapes_names():
    cert = certify_family(Y, {"<script>alert(1)</script>": P}, **PROMISE)
    assert "<script>" not in cert._repr_html_()
    assert "&lt;script&gt;" in cert._repr_html_()


FILE = {}


@pytest.fixture(scope="module", autouse=True)
def _file(tmp_path_factory):
    FILE["path"] = tmp_path_factory.mktemp("certificates") / "cert.json"
    FILE["data"] = ALL_KINDS["family"].save(FILE["path"]).read_bytes()


@given(st.data())
def test_any_changed_byte_is_detected(data):
    original = FILE["data"]
    position = data.draw(st.integers(0, len(original) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != original[position]))
    FILE["path"].write_bytes(original[:position] + bytes([value]) + original[position + 1 :])
    with pytest.raises(CertificateError):
        load(FILE["path"])


@given(st.data())
def test_any_truncation_is_detected_and_named(data):
    original = FILE["data"]
    FILE["path"].write_bytes(original[: data.draw(st.integers(0, len(original) - 3))])
    with pytest.raises(CertificateError, match=r"truncated|damaged"):
        load(FILE["path"])


def rewrite(path, change, *, resign=True):
    """Edit the document as someone who knows the format would."""
    from pacband.core.documents import _digest, _serialize

    document = json.loads(path.read_text())
    change(document)
    if resign:
        document.pop("sha256")
        document["sha256"] = _digest(document)
    path.write_bytes(_serialize(document))


@pytest.mark.parametrize(
    ("change", "resign", "message"),
    [
        (lambda d: d["content"].update(gamma=0.1), False, "edited or damaged: its content does not match its digest"),
        (lambda d: d.update(schema_version=2), True, "written by a newer pacband: its schema_version is 2"),
        (lambda d: d.update(schema="other"), True, "is not a pacband/certificate file"),
        (lambda d: d["content"].update(eps=1e-4), True, "does not certify eps=0.0001"),
        (lambda d: d["content"].update(rank=399), True, "does not certify"),
        (lambda d: d["content"].update(side="sideways"), True, "does not follow its schema"),
        (lambda d: d["content"].pop("delta"), True, "does not follow its schema"),
        (lambda d: d["content"].update(extra=1), True, "does not follow its schema"),
    ],
)
def test_a_doctored_file_is_refused(change, resign, message, tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    rewrite(path, change, resign=resign)
    with pytest.raises(CertificateError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "truncated"),
        ("[]", "is not a pacband/certificate file"),
        ("{} extra", "damaged: not JSON"),
        ('{"schema": NaN}', "damaged: NaN is not JSON"),
        ("[" * 100_000, "damaged|truncated"),
    ],
)
def test_what_is_no_certificate_is_refused(text, message, tmp_path):
    path = tmp_path / "cert.json"
    path.write_text(text)
    with pytest.raises(CertificateError, match=message):
        load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CertificateError, match="damaged"):
        load(path)


def test_reformatted_file_is_refused(tmp_path):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(CertificateError, match="edited or reformatted"):
        load(path)


def test_missing_file_is_a_file_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.json")


def test_saving_is_atomic(tmp_path, monkeypatch):
    path = ALL_KINDS["constant"].save(tmp_path / "cert.json")
    before = path.read_bytes()

    def crash(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, crash)
            with pytest.raises(OSError, match="disk full"):
                ALL_KINDS["scaled"].save(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["cert.json"]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    ALL_KINDS["constant"].save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "real.json") == ALL_KINDS["constant"]


def test_a_certificate_cannot_exist_without_its_promise():
    valid = ALL_KINDS["constant"]
    with pytest.raises(CertificateError, match="does not certify"):
        changed(valid, rank=valid.rank + 1)
    with pytest.raises(CertificateError, match="1 ≤ rank ≤ n_samples"):
        changed(valid, rank=0)
    with pytest.raises(CertificateError, match="a number gamma"):
        changed(valid, gamma=float("nan"))


@pytest.mark.parametrize(
    "change", [{"eps": 1.5}, {"delta": 3.0}, {"side": "x"}, {"min_scale": -3.0}, {"nonfinite": "drop"}]
)
def test_a_certificate_cannot_state_what_means_nothing(change):
    with pytest.raises(CertificateError, match="no certificate can state this"):
        changed(ALL_KINDS["constant"], **change)


ABSURD = [10**400, -(10**400), 10**13, 1e300, -1, 0, float("nan"), float("inf"), float("-inf"), "1", None, [], True]


@pytest.mark.parametrize(
    "name",
    [
        "gamma",
        "eps",
        "delta",
        "n_samples",
        "rank",
        "n_candidates",
        "n_outputs",
        "weight",
        "min_scale",
        "gauge",
        "side",
        "nonfinite",
        "generation",
        "chain_delta",
        "predecessor",
    ],
)
def test_absurd_values_are_refused_and_nothing_worse(name):
    for value in ABSURD:
        try:
            accepted = changed(ALL_KINDS["constant"], **{name: value})
        except CertificateError:
            continue
        # What is accepted can be printed.
        assert accepted.to_dict()["promise"]
        assert str(accepted)
    for value in (10**400, -(10**400)):
        if name not in ("side", "nonfinite", "predecessor", "n_candidates", "n_outputs"):
            with pytest.raises(CertificateError):
                changed(ALL_KINDS["constant"], **{name: value})


@pytest.mark.parametrize("weight", [1.5, 2, 0.0, -0.1, float("nan"), float("inf")])
def test_no_certificate_uses_more_than_its_delta(weight):
    with pytest.raises(CertificateError, match=r"weight must be in \(0, 1\)"):
        changed(ALL_KINDS["constant"], weight=weight)


def test_the_violation_to_expect_is_said_only_of_a_candidate_chosen_beforehand():
    y = np.random.default_rng(0).standard_normal(500)
    one = certify_family(y, {"a": np.zeros(500)}, eps=0.1, delta=0.01)
    two = certify_family(y, {"a": np.zeros(500), "b": np.full(500, 0.1)}, eps=0.1, delta=0.01)
    assert "violation to expect" in str(one)
    assert "violation to expect" in one.certificate._repr_html_()
    assert "violation to expect" not in str(two)
    assert "violation to expect" not in two.certificate._repr_html_()
    assert "rank" in str(two)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (complement(1 - 1e-16), "1e-14 %"),
        (complement(math.nextafter(0.05, 0)), "95 %"),
        (complement(math.nextafter(0.05, 1)), "94.99999999 %"),
        (complement(0.05), "95 %"),
        (complement(1 / 3), "66.66666666 %"),
        (confidence(1.2345678e-7), "1 − 1.23457e-07"),
        (confidence(1.2345611e-7), "1 − 1.23457e-07"),
        (confidence(1e-12), "1 − 1e-12"),
        (confidence(5e-324), "1 − 4.94066e-324"),
    ],
)
def test_what_is_said_of_a_probability_holds_as_it_is_said(said, text):
    assert said == text


def test_a_floor_of_the_scale_is_said_as_it_was_declared_or_rounded_up():
    y, ones = np.random.default_rng(0).standard_normal(500), np.ones(500)
    for floor, text in [(0.05, "0.05"), (0.123456449, "0.123457"), (3, "3")]:
        cert = certify(y, 0 * y, ones, eps=0.1, delta=0.01, min_scale=floor)
        assert f"max(σ̂(x), {text})" in cert.promise


def test_a_family_cannot_spend_more_than_delta():
    family = ALL_KINDS["family"]
    alone = FrozenMap(dict.fromkeys(family.candidates, ALL_KINDS["constant"]))
    with pytest.raises(CertificateError, match="do not make one promise"):
        dataclasses.replace(family, candidates=alone)
    with pytest.raises(CertificateError, match="the best and the bounds"):
        dataclasses.replace(family, best="nobody")
    groups = ALL_KINDS["groups"].groups
    with pytest.raises(CertificateError, match="do not make one promise"):
        GroupCertificate(groups=FrozenMap({**groups, "west": groups["north"]}))


def test_a_certificate_remembers_how_many_outputs_it_bounds():
    with pytest.raises(InvalidInput, match=r"bounds 1 output\(s\), got y_pred with 2"):
        ALL_KINDS["constant"].interval(np.zeros((5, 2)))
    both = certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        both.verify(Y, P)


def test_round_errors_with_one_sum_have_different_digests():
    ones, twos = np.zeros(400), np.zeros(400)
    ones[:20], twos[:10] = 1.0, 2.0
    cert = certify(ones, np.zeros(400), **PROMISE)
    assert cert.gamma == 0.0
    assert not cert.verify(twos, np.zeros(400))


def test_saving_never_replaces_what_is_no_file(tmp_path):
    with pytest.raises(CertificateError, match="is not a regular file"):
        ALL_KINDS["constant"].save(tmp_path)


def test_violation_interval_is_the_central_interval_of_the_beta_law():
    cert = ALL_KINDS["constant"]
    low, high = cert.violation_interval(0.9)
    law = beta(cert.rank, cert.n_samples - cert.rank + 1)
    assert law.cdf(low) == pytest.approx(0.05, rel=1e-9)
    assert law.cdf(high) == pytest.approx(0.95, rel=1e-9)
    assert cert.expected_violation == pytest.approx(law.mean(), rel=1e-12)
    with pytest.raises(InvalidInput, match=r"level must be in \(0, 1\), got 1.5"):
        cert.violation_interval(1.5)


def test_interval_needs_the_scale_it_was_calibrated_with():
    scaled, constant, pair = ALL_KINDS["scaled"], ALL_KINDS["constant"], ALL_KINDS["pair"]
    with pytest.raises(InvalidScale, match="was calibrated with a scale, one value per row, got no scale"):
        scaled.interval(P)
    with pytest.raises(InvalidScale, match="was calibrated with no scale, got a scale"):
        constant.interval(P, S)
    with pytest.raises(InvalidScale, match=r"was calibrated with a scale pair \(lower, upper\)"):
        pair.interval(P, S)
    for method in (scaled.bound, scaled.interval):
        with pytest.raises(InvalidScale):
            method(None)
    with pytest.raises(InvalidScale):
        scaled.verify(Y, P)


def test_bound_is_gamma_times_scale():
    assert ALL_KINDS["constant"].bound() == ALL_KINDS["constant"].gamma
    cert = ALL_KINDS["scaled"]
    np.testing.assert_allclose(cert.bound(S), cert.gamma * S, rtol=1e-14)
    assert (cert.bound(S) >= cert.gamma * S).all()
    assert cert.bound(2.0) == pytest.approx(2 * cert.gamma, rel=1e-14)
    low, high = ALL_KINDS["pair"].bound((S, 2 * S))
    np.testing.assert_array_equal(2 * low, high)
    with pytest.raises(InvalidScale, match="scale must be positive"):
        certify(Y, P, S, **PROMISE).bound([1.0, -1.0])


def test_one_sided_intervals_are_half_lines():
    upper = ALL_KINDS["upper"].interval(P)
    assert np.isneginf(upper[:, 0]).all()
    np.testing.assert_allclose(upper[:, 1], P + ALL_KINDS["upper"].gamma, rtol=1e-12)
    lower = certify(Y, P, side="lower", **PROMISE)
    assert np.isposinf(lower.interval(P)[:, 1]).all()


def test_verify_recomputes_from_the_data():
    order = np.random.default_rng(1).permutation(400)
    assert ALL_KINDS["scaled"].verify(Y[order], P[order], S[order])
    assert not ALL_KINDS["scaled"].verify(Y + 0.01, P, S)
    assert not ALL_KINDS["scaled"].verify(Y[:-1], P[:-1], S[:-1])
    nudged = Y.copy()
    nudged[np.argmin(np.abs(Y - P))] += 1e-6
    assert not ALL_KINDS["constant"].verify(nudged, P), "the digest sees a row that does not move γ̄"
    assert ALL_KINDS["family"].verify(Y, {"one": P, "two ✓": (P, S)})
    assert not ALL_KINDS["family"].verify(Y, {"one": P})
    assert not ALL_KINDS["family"].verify(Y, {"one": P, "two ✓": (P, S + 0.1)})
    assert ALL_KINDS["groups"].verify(Y, P, SITES, S)
    assert not ALL_KINDS["groups"].verify(Y, P, SITES[::-1], S)


def test_infinite_bound_says_that_nothing_finite_can_be_promised():
    cert = ALL_KINDS["infinite"]
    assert cert.gamma == np.inf
    assert "No finite bound can be promised" in str(cert)
    np.testing.assert_array_equal(cert.interval([0.0]), [[-np.inf, np.inf]])


def test_no_rows_have_no_bands():
    assert ALL_KINDS["constant"].interval([]).shape == (0, 2)
    assert ALL_KINDS["scaled"].interval([], []).shape == (0, 2)


def test_the_words_are_complete():
    assert ALL_KINDS["scaled"].inequality.endswith("·max(σ̂(x), 0.001)")
    assert certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE).inequality.endswith("in every output k")
    assert certify(Y, P, side="lower", **PROMISE).inequality.startswith("T(x) − y ≤")
    assert certify_family(Y, {"only": P}, **PROMISE).promise.startswith("With confidence 99 %, at least 90 %")


def test_the_bound_in_words_is_rounded_up():
    cert = certify(Y * 1.23456789, P, **PROMISE)
    said = float(cert.inequality.rsplit("≤", 1)[1])
    assert cert.gamma <= said <= cert.gamma * (1 + 1e-5)


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


def test_group_certificate_answers_with_the_rows_own_group():
    cert = ALL_KINDS["groups"]
    band = cert.interval([0.0, 0.0], ["south", "north"], scale=[1.0, 1.0])
    np.testing.assert_allclose(band[:, 1], [cert.groups["south"].gamma, cert.groups["north"].gamma], rtol=1e-14)
    assert (cert.eps, cert.delta, cert.n_samples) == (0.1, 0.01, 400)
    with pytest.raises(InvalidInput, match=r"labels without a certificate: 'west'. Certified are 'north', 'south'"):
        cert.interval([0.0], ["west"], scale=[1.0])
    with pytest.raises(InvalidInput, match="groups and y_pred must have one length, got 1 and 2"):
        cert.interval([0.0, 1.0], ["north"], scale=[1.0, 1.0])


def test_certificate_records_its_origin():
    cert = ALL_KINDS["constant"]
    assert cert.pacband_version == pacband.__version__
    assert cert.created.endswith("+00:00")
    assert len(cert.data_digest) == 32
    assert isinstance(cert, Certificate)


def test_a_missing_directory_is_named_and_not_the_draft(tmp_path):
    cert = certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    with pytest.raises(FileNotFoundError, match="there is no directory") as caught:
        cert.save(tmp_path / "nowhere" / "cert.json")
    assert caught.value.filename == str(tmp_path / "nowhere" / "cert.json")


@pytest.mark.parametrize("generation", [True, 1.0, 0, -1])
def test_the_first_of_a_chain_is_number_one(generation):
    with pytest.raises(CertificateError, match="generation must be"):
        changed(ALL_KINDS["constant"], generation=generation)


@pytest.mark.parametrize("chain_delta", ["0.5", 0.0, 1.0, 2, float("nan")])
def test_the_delta_of_a_chain_is_a_probability(chain_delta):
    with pytest.raises(CertificateError, match="chain_delta must be"):
        changed(ALL_KINDS["constant"], predecessor="0" * 64, generation=2, chain_delta=chain_delta)


def test_where_both_sides_are_bounded_gamma_is_not_negative():
    with pytest.raises(CertificateError, match=r"gamma must not be negative where both sides are bounded, got -0\.1"):
        changed(ALL_KINDS["constant"], gamma=-0.1)
    assert changed(ALL_KINDS["constant"], gamma=0.0).gamma == 0.0
    assert changed(ALL_KINDS["upper"], gamma=-0.1).gamma == -0.1


def test_the_bound_of_a_pair_is_a_pair_whose_rows_match():
    bounds = ALL_KINDS["pair"].bound((S, 2 * S))
    assert isinstance(bounds, tuple)
    with pytest.raises(InvalidInput, match="must have the same index"):
        ALL_KINDS["pair"].bound((pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0], index=[1, 0])))


def test_fewer_rows_than_the_rank_are_not_those_of_the_calibration():
    cert = ALL_KINDS["constant"]
    assert cert.rank > 3
    assert not cert.verify(Y[:3], P[:3])


def test_the_card_states_the_numbers_and_where_they_are_from():
    cert = ALL_KINDS["constant"]
    rows = dict(re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", cert._repr_html_()))
    assert list(rows) == [
        "bound γ̄", "samples N, rank r", "δ asked, attained", "violation to expect", "candidates", "holds if", "made", "data digest",
    ]  # fmt: skip
    assert rows["samples N, rank r"] == f"400, {cert.rank}"
    assert rows["candidates"] == "1"
    assert rows["holds if"] == "; ".join(cert.assumptions)
    assert rows["made"] == f"{cert.created} by pacband {pacband.__version__}"
    assert rows["data digest"] == cert.data_digest


def test_the_smallest_score_is_a_bound_where_its_rank_is_valid():
    cert = certify([1.0, 2.0, 3.0], np.zeros(3), eps=0.9, delta=0.5)
    assert (cert.rank, cert.n_samples, cert.gamma) == (3, 3, 1.0)


def test_a_certificate_has_at_most_1e12_samples():
    assert changed(ALL_KINDS["constant"], n_samples=10**12).n_samples == 10**12
    with pytest.raises(CertificateError, match=r"n_samples ≤ 1e\+12"):
        changed(ALL_KINDS["constant"], n_samples=10**12 + 1)
