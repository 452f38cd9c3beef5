"""Brackets close in on the r-th largest score."""

import itertools
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


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 1.0 + 2.0**-50), (-math.inf, math.inf)])
def test_the_edges_split_the_floats_of_a_bracket_evenly(low, high):
    bracket = Bracket(ordinal(low), ordinal(high), 10, 0)
    edges = bracket.splits()
    assert all(low < edge < high for edge in edges)
    assert 3 <= len(edges) <= 33
    places = [bracket.low, *map(ordinal, edges), bracket.high]
    steps = {after - before for before, after in itertools.pairwise(places[:-1])}
    assert len(steps) == 1
    assert places[-1] - places[-2] <= 2 * steps.pop()


def test_two_floats_are_split_in_one():
    low = ordinal(1.0)
    assert Bracket(low, low + 2, 10, 0).splits() == (math.nextafter(1.0, 2.0),)
    assert not Bracket(low, low + 2, 10, 0).is_one_float
    assert Bracket(low, low + 1, 10, 0).is_one_float
