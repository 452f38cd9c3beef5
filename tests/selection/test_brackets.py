"""Brackets close in on the r-th largest score."""

import math

import numpy as np
import pytest

from pacband.core.floats import ordinal
from pacband.selection.brackets import Bracket


@pytest.mark.parametrize("rank", [1, 3, 4, 10])
def test_the_bracket_lies_around_the_score_at_the_rank(rank, rng):
    scores = np.sort(rng.standard_normal(10))[::-1]
    edges = (-0.5, 0.0, 0.5)
    at_least = tuple(int((scores >= edge).sum()) for edge in edges)
    bracket = Bracket.of_all_floats(10).narrow(rank, edges, at_least)
    assert bracket.low <= ordinal(scores[rank - 1]) < bracket.high
    low, high = bracket.window
    assert bracket.n_inside == sum(low <= score < (math.inf if high is None else high) for score in scores)


def test_sixteen_passes_split_all_floats_to_one():
    bracket, passes = Bracket.of_all_floats(1), 0
    while not bracket.is_one_float:
        edges = bracket.splits()
        bracket = bracket.narrow(1, edges, tuple(int(edge <= 0.1) for edge in edges))
        passes += 1
    assert bracket.window == (0.1, math.nextafter(0.1, 1.0))
    assert passes <= 14, "two of the sixteen are for fetching and for the fingerprint"


def test_infinite_scores_have_a_window_without_end():
    bracket = Bracket.of_all_floats(5).narrow(1, (1.0,), (2,))
    assert bracket.window == (1.0, None)
    assert bracket.n_inside == 2
