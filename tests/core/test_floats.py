"""Floats by their place among all floats."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pacband.core.floats import float_at, ordinal

FLOATS = st.floats(allow_nan=False, allow_infinity=True, width=64)


@given(FLOATS, FLOATS)
def test_places_are_ordered_as_the_floats_are(a, b):
    assert (ordinal(a) < ordinal(b)) == (a < b)
    assert (ordinal(a) == ordinal(b)) == (a == b)
    assert float_at(ordinal(a)) == a
    if math.isfinite(a):
        assert ordinal(math.nextafter(a, math.inf)) == ordinal(a) + 1
