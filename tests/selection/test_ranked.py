"""Scores in their order, and a summary of them."""

import numpy as np

from pacband.selection.ranked import Ranked


def test_a_summary_of_scores_never_errs_downwards(rng):
    for scores in (rng.standard_normal(5000), rng.integers(0, 5, 5000).astype(float), np.array([1.0])):
        exact = Ranked.of(scores)
        # Bins that overlap, as rounding may make them.
        keys = np.floor(scores * 10 + rng.random(len(scores)) * 0.5)
        bins = [scores[keys == key] for key in np.unique(keys)]
        summary = Ranked.of_bins(np.array([part.max() for part in bins]), np.array([len(part) for part in bins]))
        ranks = np.arange(1, len(scores) + 1)
        assert len(summary) == len(exact) == len(scores)
        assert (summary.at(ranks) >= exact.at(ranks)).all()
        assert (summary.at(ranks) <= exact.at(ranks) + 0.15).all()
        assert exact.at(ranks).tolist() == sorted(scores.tolist(), reverse=True)


def test_a_summary_takes_counts_and_scores_of_any_type():
    summary = Ranked.of_bins(np.array([3, 9, 5]), np.array([10, 2, 4], dtype=np.uint64))
    assert summary.values.dtype == np.float64
    assert [summary.largest(rank) for rank in (1, 2, 3, 6, 7, 16)] == [9.0, 9.0, 5.0, 5.0, 3.0, 3.0]
