"""The certificate of a family: every candidate is named, and all of them share one δ."""

import dataclasses

import numpy as np
import pytest

from pacband import CertificateError, certify_family
from pacband.core.frozen import FrozenMap
from support.certificates import ALL_KINDS, PROMISE, P, S, Y


def test_html_escapes_names():
    cert = certify_family(Y, {"<script>alert(1)</script>": P}, **PROMISE)
    assert "<script>" not in cert._repr_html_()
    assert "&lt;script&gt;" in cert._repr_html_()


def test_the_violation_to_expect_is_stated_only_for_a_candidate_chosen_beforehand():
    y = np.random.default_rng(0).standard_normal(500)
    one = certify_family(y, {"a": np.zeros(500)}, eps=0.1, delta=0.01)
    two = certify_family(y, {"a": np.zeros(500), "b": np.full(500, 0.1)}, eps=0.1, delta=0.01)
    assert "violation to expect" in str(one)
    assert "violation to expect" in one.certificate._repr_html_()
    assert "violation to expect" not in str(two)
    assert "violation to expect" not in two.certificate._repr_html_()
    assert "rank" in str(two)


def test_a_family_cannot_use_more_than_delta():
    family = ALL_KINDS["family"]
    alone = FrozenMap(dict.fromkeys(family.candidates, ALL_KINDS["constant"]))
    with pytest.raises(CertificateError, match="do not make one promise"):
        dataclasses.replace(family, candidates=alone)
    with pytest.raises(CertificateError, match="the best and the bounds"):
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
