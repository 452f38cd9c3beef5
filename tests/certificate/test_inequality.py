"""Every symbol of a promise is explained."""

import re

import numpy as np
import pytest

import pacband
from pacband.certificate import Promise
from pacband.certificate.inequality import symbols
from pacband.scores import ScoreRule

Y = np.random.default_rng(0).standard_normal(400)
PLAIN = {"eps": 0.1, "delta": 0.01}


@pytest.mark.parametrize(
    ("certificate", "used"),
    [
        (pacband.certify(Y, 0 * Y, **PLAIN), ("y", "T(x)", "γ̄")),
        (pacband.certify(Y, 0 * Y, 1 + Y**2, **PLAIN), ("y", "T(x)", "σ̂(x)", "γ̄")),
        (pacband.certify(Y, 0 * Y, (1 + Y**2, 2 + Y**2), **PLAIN), ("y", "T(x)", "σ̂⁻(x)", "σ̂⁺(x)", "γ̄")),
        (pacband.certify(np.c_[Y, Y], np.zeros((400, 2)), gauge=np.eye(2), **PLAIN), ("y", "T(x)", "Σ", "γ̄")),
        (pacband.certify_scores(Y, **PLAIN), ("γ̄",)),
    ],
)
def test_every_symbol_is_explained_and_no_other(certificate, used):
    words = symbols(certificate.basis)
    assert re.findall(r"(?:^|(?<= ))(y|T\(x\)|Σ|γ̄|σ̂[⁻⁺]?\(x\))(?= is | are | and σ)", words) == list(used)
    for symbol in set(used) - {"γ̄"}:
        assert symbol in certificate.inequality
    assert symbols(certificate.basis) in certificate._repr_html_().replace("&#x27;", "'")


def test_the_target_and_its_unit_are_named():
    certificate = pacband.certify(Y, 0 * Y, **PLAIN, about={"target": "wear", "unit": "mm"})
    assert symbols(certificate.basis).startswith("y is wear, in mm, T(x) is its prediction")
    certificate = pacband.certify(Y, 0 * Y, **PLAIN, about={"target": "y", "unit": "mm"})
    assert symbols(certificate.basis).startswith("y is the true value, in mm, T(x) is its prediction")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "bound"),
        ({"scale_kind": "symmetric"}, "factor"),
        ({"scale_kind": "asymmetric"}, "factor"),
        ({"scoring": ScoreRule(gauge=((1.0,),))}, "factor"),
        ({"scoring": ScoreRule(gauge=((1.0,),)), "scale_kind": "symmetric"}, "factor"),
    ],
)
def test_gamma_is_a_bound_unless_a_scale_or_a_matrix_multiplies_it(options, words):
    assert symbols(Promise(**PLAIN, **options)).endswith(f", and γ̄ is the certified {words}.")
