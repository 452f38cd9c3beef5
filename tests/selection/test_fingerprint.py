"""The fingerprint: the documented sum, in any order of the scores."""

import math
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pacband.selection.fingerprint import (
    fingerprint,
    fingerprint_total,
    fingerprint_totals,
    fingerprint_unit,
    may_be_chance,
    seal,
)

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(hnp.arrays(np.float64, 30, elements=FLOATS), st.randoms(use_true_random=False))
def test_fingerprint_ignores_order_and_sees_values(scores, random):
    order = list(range(30))
    random.shuffle(order)
    assert fingerprint(scores[order], 2.0) == fingerprint(scores, 2.0)
    changed = scores.copy()
    changed[0] += 0.001
    assert fingerprint(changed, 2.0) != fingerprint(scores, 2.0) or abs(scores[0]) > 31.9, "cut off at 16γ̄ at most"


def test_fingerprint_is_the_documented_sum_of_integers():
    scores = np.array([0.1, 1.5, 3.0, 1e9, np.inf])
    # The exponent of 1.5 = 0.75·2¹ is 1.
    total = sum(math.floor(min((q * 2.0**14) ** 2, 2.0**36)) for q in scores.tolist())
    assert fingerprint(scores, 1.5) == sha256(f"5 {total}".encode()).hexdigest()[:32]
    assert fingerprint(-scores, 1.5) == sha256(f"5 {2**64 - total}".encode()).hexdigest()[:32]
    for gamma in (0.0, np.inf, -2.0, 5e-324, 1.7e308):
        assert len(fingerprint(scores, gamma)) == 32


@pytest.mark.parametrize(
    ("gamma", "exponent"),
    [(1.0, 14), (1.5, 14), (0.75, 15), (-2.0, 13), (0.0, 15), (math.inf, 15), (-math.inf, 15), (5e-324, 1015), (2.0**-1001, 1015), (2.0**-1000, 1014)],
)  # fmt: skip
def test_the_unit_brings_the_bound_between_two_to_the_14_and_two_to_the_15(gamma, exponent):
    assert fingerprint_unit(gamma) == 2.0**exponent


def test_the_totals_of_groups_are_those_of_their_scores(rng):
    scores, codes = 3.0 * rng.standard_normal(40_000), rng.integers(0, 3, 40_000)
    scores[:3], codes[:3] = (1e300, -1e300, np.inf), (0, 1, 2)
    units = np.array([fingerprint_unit(gamma) for gamma in (0.5, 2.0, 30.0)])
    totals = fingerprint_totals(scores, units, codes)
    assert totals.tolist() == [fingerprint_total(scores[codes == group], unit) for group, unit in enumerate(units)]
    assert totals.dtype == np.int64


def test_a_total_counts_modulo_two_to_the_64():
    assert seal(3, -1) == seal(3, 2**64 - 1)
    assert seal(3, 2**63) == seal(3, -(2**63))
    assert seal(3, 1) != seal(4, 1)


def test_totals_that_chance_explains(rng):
    """Of whole numbers whose squares add up to S, others have the same S with a probability of at most 1/√(2πS)."""
    unit = fingerprint_unit(1.0)
    assert may_be_chance(0)
    assert may_be_chance(fingerprint_total((rng.random(1000) < 0.05).astype(float), unit))
    assert not may_be_chance(fingerprint_total(rng.integers(0, 10, 1000).astype(float), unit))
    assert not any(may_be_chance(fingerprint_total(rng.standard_normal(50), unit)) for _ in range(1000))
