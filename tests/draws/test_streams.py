"""Draws of rows in pieces are those of all rows at once, however the rows are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import InvalidInput
from pacband.draws import Rows, Spaced, Units, Weighted
from pacband.draws.streams import _SpacedStream, stream_draws

N = 60
CUTS = st.lists(st.integers(0, N), max_size=8).map(sorted)


def pieces(cuts):
    return np.split(np.arange(N), cuts)


def streamed(draws, scores, cuts, values=None):
    stream = stream_draws(draws)
    found = [stream.take(scores[rows], None if values is None else values[rows]) for rows in pieces(cuts) if len(rows)]
    return np.concatenate([*found, stream.finish()])


@given(CUTS, st.integers(0, 1000), st.sampled_from(["rows", "spaced", "weighted", "units"]))
def test_pieces_give_the_draws_of_all_rows(cuts, seed, which):
    rng = np.random.default_rng(seed)
    scores, weights = rng.standard_normal(N), rng.random(N)
    labels = rng.choice(["a", "b", "c", "d", "e", "f", "g"], N) if seed % 2 else rng.integers(0, 9, N)
    draws, named, values = {
        "rows": (Rows(), None, None),
        "spaced": (Spaced(1 + seed % 20), None, None),
        "weighted": (Weighted(weights, at_most=1.0, random_state=seed), Weighted("w", at_most=1.0, random_state=seed), weights),
        "units": (Units(labels), Units("machine"), labels),
    }[which]  # fmt: skip
    expected = draws.sample(N).reduce(scores)
    # Units come in the order in which they began.
    np.testing.assert_array_equal(np.sort(streamed(draws, scores, cuts)), np.sort(expected))
    if named is not None:
        np.testing.assert_array_equal(np.sort(streamed(named, scores, cuts, values)), np.sort(expected))
    if which != "units":
        np.testing.assert_array_equal(streamed(draws, scores, cuts), expected)


def test_the_wrong_twin_that_begins_the_series_anew_in_every_piece_is_caught(monkeypatch):
    scores = np.arange(float(N))
    monkeypatch.setattr(_SpacedStream, "_take", lambda self, scores: scores[self._gap - 1 :: self._gap])
    assert streamed(Spaced(7), scores, [10, 25]).tolist() != Spaced(7).sample(N).reduce(scores).tolist()


@pytest.mark.parametrize(
    ("draws", "values", "message"),
    [
        (Units(np.zeros(N + 1)), None, f"must have one length, got {N} and {N + 1}"),
        (Units(np.zeros(N - 1)), None, "must have one length"),
        (Units("machine"), None, "must bring the labels or the importance"),
        (Units(np.zeros(N)), np.zeros(N), "must not bring the labels or the importance"),
        (Spaced(3), np.zeros(N), "must not bring"),
        (Spaced(N + 1), None, f"gap must not exceed the number of rows, {N}, got {N + 1}"),
        (Weighted(np.zeros(N), at_most=1.0), None, "no row was accepted"),
        (Weighted("w", at_most=1.0), np.full(N, 2.0), "importance must be in"),
        (Units("machine"), np.full(N, np.nan), "must have a label in every row"),
    ],
)
def test_what_does_not_fit_the_rows_is_refused(draws, values, message):
    with pytest.raises(InvalidInput, match=message):
        streamed(draws, np.zeros(N), [20], values)


@pytest.mark.parametrize(
    ("draws", "what"),
    [
        (Units("machine", 0.9), "within=0.9"),
        (Units("machine", "one"), "within='one'"),
        (Units("machine", "average"), "within='average'"),
        (Weighted(("low", "high"), at_most=1.0), "an interval of importance"),
    ],
)
def test_draws_that_need_all_rows_at_once_are_refused(draws, what):
    with pytest.raises(InvalidInput, match=f"{what} needs all rows at once: use certify, or certify_frame"):
        stream_draws(draws)
