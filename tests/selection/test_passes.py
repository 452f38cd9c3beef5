"""The answers of passes over parts add up to the answer for all scores."""

import numpy as np
import pytest

from pacband.exceptions import InvalidInput
from pacband.selection import Request, Tally, sum_tallies, tally
from pacband.selection.passes import check_unchanged, edges_above, within


def test_tallies_add_up(rng):
    scores, request = rng.standard_normal(100), Request(edges=(-1.0, 0.0, 1.0), unit=4.0, keep=(0.0, 0.5))
    whole, parts = tally(scores, request), sum_tallies(tally(part, request) for part in np.split(scores, 4))
    assert (whole.n_samples, whole.at_least, whole.total) == (parts.n_samples, parts.at_least, parts.total)
    assert whole.kept.tolist() == parts.kept.tolist()
    assert whole.at_least == tuple(int((scores >= edge).sum()) for edge in request.edges)
    assert isinstance(whole + parts, Tally)


def test_a_window_contains_its_first_float_and_not_its_second():
    scores = np.array([0.0, 1.0, 2.0, 3.0, np.inf])
    assert within(scores, (1.0, 3.0)).tolist() == [1.0, 2.0]
    assert within(scores, (2.0, None)).tolist() == [2.0, 3.0, np.inf]


def test_a_pass_counts_from_the_edge_on_and_returns_only_what_is_asked_for():
    found = tally(np.array([1.0, 2.0, 2.0, 3.0]), Request(edges=(2.0, 3.0, 4.0)))
    assert (found.n_samples, found.at_least, found.total, found.kept.tolist()) == (4, (3, 1, 0), 0, [])
    many = tally(np.ones(40_000), Request(edges=(1.0,)))
    assert many.at_least == (40_000,)


def test_the_edge_above_a_bound_is_the_next_float():
    assert edges_above(1.0) == (1.0 + 2.0**-52,)
    assert edges_above(-1.0) == (-1.0 + 2.0**-53,)
    assert edges_above(np.inf) == ()


def test_rows_that_changed_are_counted_in_the_error():
    check_unchanged(3, 3)
    with pytest.raises(
        InvalidInput, match=r"rows changed between two readings of the table: the first found 3 rows, a later one 4\."
    ):
        check_unchanged(3, 4)
    with pytest.raises(InvalidInput, match="the first found 3 groups, a later one 2"):
        check_unchanged(3, 2, "groups")
