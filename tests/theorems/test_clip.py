"""A band that is clipped to the range of y has the promise of the band: it loses no row whose y is in the range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import certify, check
from pacband.scores import ScoreRule, band, scores_of
from pacband.scores.clip import clip_ends
from support.twins import put_in_place

NUMBERS = st.floats(-1e3, 1e3)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(0.01, 10.0)), min_size=1, max_size=20)
LIMITS = st.floats(-900.0, 900.0)


@given(ROWS, LIMITS, st.floats(0.5, 500.0), st.floats(0.0, 5.0), st.sampled_from(["both", "upper", "lower"]))
def test_a_row_is_inside_if_its_score_is_at_most_the_bound(rows, low, width, gamma, side):
    y, prediction, scale = np.array(rows).T
    clip = (low, low + width)
    y = np.clip(y, *clip)
    kept = scores_of(ScoreRule(side=side, clip=clip), y, prediction, scale) <= gamma
    ends = band(ScoreRule(side=side, clip=clip), gamma, prediction, scale)
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    assert (inside | ~kept).all(), "no row is lost"
    unclipped = band(ScoreRule(side=side), gamma, prediction, scale)
    was_inside = (unclipped[:, 0] <= y) & (y <= unclipped[:, 1])
    met = (unclipped[:, 0] <= clip[1]) & (unclipped[:, 1] >= clip[0])
    # Nothing is gained either, except the nearest value where the whole band is outside of the range.
    np.testing.assert_array_equal(inside[met], was_inside[met])
    assert (ends[:, 1] - ends[:, 0] <= unclipped[:, 1] - unclipped[:, 0]).all()
    assert (ends >= clip[0]).all()
    assert (ends <= clip[1]).all()


def draw(rng, n):
    """Waiting times, and a poor prediction of them: the band reaches below 0, where no time is."""
    rate = rng.uniform(0.2, 2.0, n)
    return rng.exponential(1.0 / rate), 0.7 / rate - 0.3, 1.0 / rate


def coverage(rng, n=2000):
    """The shares of rows inside the clipped band and inside the band."""
    cert = certify(*draw(rng, 1000), eps=0.1, delta=0.01, clip=(0, None))
    y, prediction, scale = draw(rng, n)
    ends = cert.interval(prediction, scale)
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    return inside.mean(), (cert.basis.scores(y, prediction, scale) <= cert.gamma).mean(), ends


def test_the_clipped_band_covers_as_much_and_is_narrower(rng):
    clipped, band_alone, ends = coverage(rng)
    assert clipped >= band_alone
    assert ends.min() == 0.0


def test_bands_cut_by_another_rule_lose_rows(rng, monkeypatch):
    def twin(clip, ends):
        # The half-width around a prediction that is moved into the range first: a different band.
        ends[:, 1] -= np.maximum(clip[0] - ends[:, 0], 0.0)
        clip_ends(clip, ends)

    put_in_place(monkeypatch, clip_ends, twin)
    clipped, band_alone, _ = coverage(rng)
    assert clipped < band_alone


@pytest.mark.parametrize("clip", [None, (0, None), (0, 100)])
def test_the_bound_the_rank_and_the_verdict_do_not_depend_on_the_range(clip):
    y, prediction, scale = draw(np.random.default_rng(1), 1000)
    cert = certify(y, prediction, scale, eps=0.1, delta=0.01, clip=clip)
    plain = certify(y, prediction, scale, eps=0.1, delta=0.01)
    assert (cert.gamma, cert.rank, cert.data_digest) == (plain.gamma, plain.rank, plain.data_digest)
    fresh = draw(np.random.default_rng(2), 500)
    assert check(cert, *fresh) == check(plain, *fresh)
