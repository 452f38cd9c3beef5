"""The fingerprint: the documented sum, in any order of the scores."""

import math
from hashlib import sha256

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pacband.selection.fingerprint import fingerprint

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
