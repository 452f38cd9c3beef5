"""Some of the draws of a sample, and their scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pacband.draws import Units, Weighted


@given(st.integers(0, 10**6))
def test_a_part_of_units_on_average_has_their_rows(seed):
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 7, 40), rng.standard_normal(40)
    sample = Units(labels, "average").sample(40)
    names = np.unique(labels)
    places = rng.permutation(len(names))[: 1 + seed % len(names)]
    part, found = sample.part(places), sample.scores_of_part(sample.reduce(scores), places)
    expected = [scores[labels == names[place]] for place in places]
    assert part.n_draws == len(places)
    np.testing.assert_array_equal(part.sizes, [len(own) for own in expected])
    np.testing.assert_array_equal(found, np.concatenate(expected))
    above = sorted((int((own > 0.5).sum()), len(own)) for own in expected)
    assert sorted((k, n) for k, n, times in part.evidence_at(found, 0.5).counts for _ in range(times)) == above


def test_a_part_of_draws_that_are_not_certain_counts_those_that_are(rng):
    low, high = np.sort(rng.random((2, 50)), axis=0)
    sample = Weighted((low, high), at_most=1.0).sample(50)
    places = np.arange(0, len(sample.certain), 2)
    assert sample.part(places).n_draws == sample.certain[places].sum()
    scores = sample.reduce(rng.random(50))
    np.testing.assert_array_equal(sample.worst_at(scores, 0.5), scores[(scores > 0.5) | sample.certain])


def test_draws_with_one_score_each_are_taken_by_their_places(rng):
    labels, scores = rng.integers(0, 9, 60), rng.random(60)
    sample = Units(labels).sample(60)
    drawn = sample.reduce(scores)
    assert sample.part(np.array([1, 3])).n_draws == 2
    np.testing.assert_array_equal(sample.scores_of_part(drawn, np.array([1, 3])), drawn[[1, 3]])
    assert sample.worst_at(drawn, 0.5) is drawn
