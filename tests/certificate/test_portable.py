"""Certificates as JSON: what they state, what only follows from it, and numbers that JSON has no name for."""

import json
import math

import numpy as np
import pytest

from pacband import certify, certify_family, certify_groups
from pacband.certificate.portable import decode, encode

Y = np.random.default_rng(0).standard_normal(400)
KINDS = {
    "single": certify(Y, np.zeros(400), eps=0.2, delta=0.1),
    "family": certify_family(Y, {"a": np.zeros(400), "b": np.ones(400)}, eps=0.2, delta=0.1),
    "groups": certify_groups(Y, np.zeros(400), np.arange(400) % 2, eps=0.2, delta=0.1),
}
FOLLOWS = {"promise", "attained_delta", "expected_violation"}


def without(value):
    if isinstance(value, dict):
        return {key: without(entry) for key, entry in value.items() if key not in FOLLOWS}
    return [without(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stated_is_all_but_what_follows_from_it(kind):
    cert = KINDS[kind]
    assert cert.stated() == without(cert.to_dict())
    assert cert.stated()["kind"] == kind
    assert not any(f'"{name}"' in json.dumps(cert.stated()) for name in FOLLOWS)
    assert all(f'"{name}"' in json.dumps(cert.to_dict()) for name in FOLLOWS)


def test_certificates_that_state_something_else_have_other_digests():
    assert len({cert.digest for cert in KINDS.values()}) == 3
    assert KINDS["family"].digest == type(KINDS["family"]).from_dict(KINDS["family"].to_dict()).digest


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.5, 0.5), (-0.5, -0.5), (0.0, 0.0), (3, 3), ("max", "max"), (None, None),
        (((1.0, 0.5), (0.5, math.inf)), [[1.0, 0.5], [0.5, "Infinity"]]),
    ],
)  # fmt: skip
def test_values_become_json_and_back(value, code):
    assert encode(value) == code
    assert decode(code) == value
    assert type(decode(code)) is type(value)
