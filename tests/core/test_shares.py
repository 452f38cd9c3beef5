"""Shares by the decimal that the user wrote."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pacband.core.shares import count_of_share


@given(st.integers(1, 9999), st.integers(1, 10_000))
def test_the_count_is_the_ceiling_of_the_exact_product(parts, n):
    count = count_of_share(parts / 10_000, n)
    assert count == math.ceil(Fraction(parts, 10_000) * n)
    assert 1 <= count <= n
