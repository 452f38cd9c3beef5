"""What all certificates share: the words of the promise, and rows that must be given as at calibration."""

import json

import numpy as np
import pytest

from pacband import CertificateError, InvalidInput, InvalidScale, certify, certify_family
from pacband.certificate import Promise
from pacband.scores import SCALE_KINDS, ScoreRule
from pacband.scores.columns import Columns
from support.certificates import ALL_KINDS, PROMISE, P, S, Y, changed, each_kind


@each_kind
def test_the_promise_is_in_the_words_and_in_the_html(cert):
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


def test_a_floor_of_the_scale_is_printed_as_declared_or_rounded_up():
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
    shown = float(cert.inequality.rsplit("≤", 1)[1])
    assert cert.gamma <= shown <= cert.gamma * (1 + 1e-5)


ROWS = {"y": [1.0, 2.0, 3.0], "y_pred": [0.0, 0.0, 0.0]}


def test_aligned_rows_are_arrays_of_one_shape():
    target, prediction, spread = Promise(eps=0.1, delta=0.01).align(**ROWS, scale=None)
    np.testing.assert_array_equal(target, ROWS["y"])
    assert (prediction.shape, spread.kind) == ((3,), "none")
    pair = Promise(eps=0.1, delta=0.01, scale_kind="asymmetric", scoring=ScoreRule(min_scale=0.5))
    *_, spread = pair.align(**ROWS, scale=([1.0] * 3, [2.0] * 3))
    assert (spread.kind, spread.floor) == ("asymmetric", 0.5)
    with pytest.raises(InvalidInput, match=r"y and y_pred must have the same shape, got \(3,\) and \(2,\)"):
        Promise(eps=0.1, delta=0.01).align(ROWS["y"], [0.0, 0.0], None)


def test_a_lone_row_may_come_without_its_bracket_only_where_it_is_allowed():
    one, two = (Promise(eps=0.1, delta=0.01, n_outputs=k) for k in (1, 2))
    assert one.align(1.0, 0.0, None, lone_row=True)[0].shape == (1,)
    assert two.align([1.0, 2.0], [0.0, 0.0], None, lone_row=True)[0].shape == (1, 2)
    assert one.align([1.0, 2.0], [0.0, 0.0], None, lone_row=True)[0].shape == (2,)
    with pytest.raises(InvalidInput, match=r"y must have shape \(n,\) or \(n, k\), got \(\)"):
        one.align(1.0, 0.0, None)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        two.align([1.0, 2.0], [0.0, 0.0], None)


@pytest.mark.parametrize("kind", SCALE_KINDS)
def test_a_scale_is_accepted_only_as_at_calibration(kind):
    scales = {"none": None, "symmetric": S, "asymmetric": (S, S)}
    promise = Promise(eps=0.1, delta=0.01, scale_kind=kind)
    for given, scale in scales.items():
        if given == kind:
            assert promise.scores(Y, P, scale).shape == (400,)
            assert promise.band(1.0, P, scale).shape == (400, 2)
        else:
            with pytest.raises(InvalidScale, match="this certificate was calibrated with"):
                promise.check_scale(scale)


INEQUALITIES = {
    "|y − T(x)| ≤ 2": {},
    "y − T(x) ≤ 2·σ̂(x)": {"scoring": ScoreRule(side="upper"), "scale_kind": "symmetric"},
    "T(x) − y ≤ 2·max(σ̂(x), 0.5)": {"scoring": ScoreRule(side="lower", min_scale=0.5), "scale_kind": "symmetric"},
    "−2·σ̂⁻(x) ≤ y − T(x) ≤ 2·σ̂⁺(x)": {"scale_kind": "asymmetric"},
    "|yₖ − Tₖ(x)| ≤ 2 in every output k": {"n_outputs": 3},
    "sqrt((y − T(x))ᵀ Σ⁻¹ (y − T(x))) ≤ 2": {"n_outputs": 2, "scoring": ScoreRule(gauge=((1.0, 0.0), (0.0, 1.0)))},
}


@pytest.mark.parametrize(("text", "options"), INEQUALITIES.items(), ids=INEQUALITIES)
def test_the_inequality_states_what_is_bounded(text, options):
    assert Promise(eps=0.1, delta=0.01, **options).inequality(2.0) == text


@pytest.mark.parametrize(
    "promise",
    [
        Promise(eps=0.1, delta=0.01),
        Promise(
            eps=0.05,
            delta=1e-6,
            scoring=ScoreRule(side="lower", min_scale=0.25, nonfinite="violate"),
            scale_kind="symmetric",
            columns=Columns(("y",), ("p",), (("s",),), "site"),
            assumptions=("rows are independent",),
        ),
        Promise(eps=0.5, delta=0.5, n_outputs=2, scoring=ScoreRule(gauge=((2.0, 0.5), (0.5, 1.0)))),
    ],
)
def test_a_promise_becomes_json_and_back(promise):
    assert Promise.from_dict(json.loads(json.dumps(promise.to_dict()))) == promise


@pytest.mark.parametrize(
    ("name", "value"),
    [("eps", 1.5), ("delta", 0.0), ("n_outputs", 0), ("scale_kind", "double"), ("side", "x"), ("gauge", [[-1.0]])],
)
def test_a_promise_that_means_nothing_is_refused(name, value):
    content = {**Promise(eps=0.1, delta=0.01).to_dict(), name: value}
    with pytest.raises(CertificateError, match=f"no certificate can state this: {name} must be"):
        Promise.from_dict(content)
