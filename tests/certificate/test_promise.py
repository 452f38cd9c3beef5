"""What all certificates share: the words of the promise, and rows that must be given as at calibration."""

import numpy as np
import pytest

from pacband import CertificateError, InvalidInput, InvalidScale, certify, certify_family
from support.certificates import ALL_KINDS, PROMISE, P, S, Y, changed, each_kind


@each_kind
def test_says_its_promise_in_words_and_in_html(cert):
    assert "95 %" not in cert.promise
    assert ("90 %" in cert.promise and "99 %" in cert.promise) or "No finite bound" in cert.promise
    assert "independent draws" in str(cert)
    assert cert.promise.split(":")[0].replace("'", "&#x27;") in cert._repr_html_()


@pytest.mark.parametrize(
    "change", [{"eps": 1.5}, {"delta": 3.0}, {"side": "x"}, {"min_scale": -3.0}, {"nonfinite": "drop"}]
)
def test_a_certificate_cannot_state_what_means_nothing(change):
    with pytest.raises(CertificateError, match="no certificate can state this"):
        changed(ALL_KINDS["constant"], **change)


def test_a_floor_of_the_scale_is_said_as_it_was_declared_or_rounded_up():
    y, ones = np.random.default_rng(0).standard_normal(500), np.ones(500)
    for floor, text in [(0.05, "0.05"), (0.123456449, "0.123457"), (3, "3")]:
        cert = certify(y, 0 * y, ones, eps=0.1, delta=0.01, min_scale=floor)
        assert f"max(σ̂(x), {text})" in cert.promise


def test_a_certificate_remembers_how_many_outputs_it_bounds():
    with pytest.raises(InvalidInput, match=r"bounds 1 output\(s\), got y_pred with 2"):
        ALL_KINDS["constant"].interval(np.zeros((5, 2)))
    both = certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        both.verify(Y, P)


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


def test_the_words_are_complete():
    assert ALL_KINDS["scaled"].inequality.endswith("·max(σ̂(x), 0.001)")
    assert certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE).inequality.endswith("in every output k")
    assert certify(Y, P, side="lower", **PROMISE).inequality.startswith("T(x) − y ≤")
    assert certify_family(Y, {"only": P}, **PROMISE).promise.startswith("With confidence 99 %, at least 90 %")


def test_the_bound_in_words_is_rounded_up():
    cert = certify(Y * 1.23456789, P, **PROMISE)
    said = float(cert.inequality.rsplit("≤", 1)[1])
    assert cert.gamma <= said <= cert.gamma * (1 + 1e-5)
