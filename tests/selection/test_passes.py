"""The answers of passes over parts add up to the answer for all scores."""

import numpy as np

from pacband.selection import Request, Tally, sum_tallies, tally


def test_tallies_add_up(rng):
    scores, request = rng.standard_normal(100), Request(edges=(-1.0, 0.0, 1.0), unit=4.0, keep=(0.0, 0.5))
    whole, parts = tally(scores, request), sum_tallies(tally(part, request) for part in np.split(scores, 4))
    assert (whole.n_samples, whole.at_least, whole.total) == (parts.n_samples, parts.at_least, parts.total)
    assert whole.kept.tolist() == parts.kept.tolist()
    assert whole.at_least == tuple(int((scores >= edge).sum()) for edge in request.edges)
    assert isinstance(whole + parts, Tally)
