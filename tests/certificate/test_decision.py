"""Whether the numbers of a certificate support its promise, where a part of δ is used up."""

import math
from fractions import Fraction

import pytest

from pacband.certificate.decision import certifies
from pacband.planning import WHOLE, DeltaShare, attained_delta, max_rank
from pacband.planning.ranks import smallest_delta

DELTA = 1e-6
RANK = max_rank(2065, 0.05, DELTA)


def test_what_the_dependence_uses_up_is_not_there_for_the_promise():
    spare = Fraction(DELTA) - Fraction(attained_delta(2065, RANK, 0.05))
    assert certifies(2065, RANK, 0.05, DELTA, WHOLE, spare - spare / 1000)
    assert not certifies(2065, RANK, 0.05, DELTA, WHOLE, spare + spare / 1000)
    assert not certifies(2065, RANK + 1, 0.05, DELTA, WHOLE, Fraction(0))


@pytest.mark.parametrize("slack", [Fraction(DELTA), 2 * Fraction(DELTA)])
def test_nothing_is_certified_where_nothing_of_delta_is_left(slack):
    assert not certifies(10**6, 1, 0.5, DELTA, WHOLE, slack)


@pytest.mark.parametrize("n_candidates", [1, 4])
def test_the_attained_delta_includes_what_is_used_up(n_candidates):
    share, slack = DeltaShare(n_candidates), Fraction(1, 10**4)
    alone, both = (smallest_delta(2065, RANK, 0.05, share, part) for part in (Fraction(0), slack))
    assert alone == attained_delta(2065, RANK, 0.05, n_candidates)
    exact = Fraction(alone) + n_candidates * slack
    assert Fraction(math.nextafter(both, 0.0)) < exact <= Fraction(both)


def test_the_attained_delta_is_at_most_one():
    assert smallest_delta(2065, RANK, 0.05, WHOLE, Fraction(3)) == 1.0
