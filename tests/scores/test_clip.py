"""Targets with a known range: which ranges there are, and what clipping does to the ends of a band."""

import math

import numpy as np
import pytest

from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule, Share, band, scores_of
from pacband.scores.clip import check_clip, left_range_words, outside_range, range_assumption


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, None),
        ((None, None), None),
        ((-math.inf, math.inf), None),
        ((0, None), (0.0, None)),
        ([None, np.float32(2.5)], (None, 2.5)),
        ((-0.0, math.inf), (0.0, None)),
    ],
)
def test_ranges(given, found):
    assert check_clip(given) == found
    assert str(check_clip(given)) == str(found), "−0.0 is 0.0"


@pytest.mark.parametrize(
    "given", [0, "01", (0,), (0, 1, 2), (1, 1), (2, 1), ("0", None), (True, 2), (math.nan, 1), (math.inf, None), (0, -math.inf), ([0], 1), {0: 1, 1: 2}]
)  # fmt: skip
def test_what_is_no_range_is_refused(given):
    with pytest.raises(InvalidInput, match=r"clip must be a pair \(low, high\)"):
        ScoreRule.create(side="both", gauge="max", min_scale=None, nonfinite="raise", clip=given)


@pytest.mark.parametrize(
    ("clip", "words"), [((0.0, None), "[0, ∞)"), ((None, -1.5), "(−∞, −1.5]"), ((0.0, 100.0), "[0, 100]")]
)
def test_the_assumption_states_the_range(clip, words):
    assert words in range_assumption(clip)


@pytest.mark.parametrize("side", ["both", "upper", "lower"])
def test_ends_stay_in_the_range(side):
    prediction = [-9.0, -0.5, 1.0, 5.0, 50.0]
    open_ends = band(ScoreRule(side=side), 2.0, prediction)
    clipped = band(ScoreRule(side=side, clip=(0.0, 6.0)), 2.0, prediction)
    np.testing.assert_array_equal(clipped, np.clip(open_ends, 0.0, 6.0))
    assert clipped[0].tolist() == {"both": [0, 0], "upper": [0, 0], "lower": [0, 6]}[side]


def test_a_prediction_that_counts_as_an_infinite_error_has_the_whole_range():
    rule = ScoreRule(nonfinite="violate", clip=(0.0, None))
    assert band(rule, 1.0, [math.nan]).tolist() == [[0.0, math.inf]]


def test_boxes_and_tubes_are_clipped_too():
    box = band(ScoreRule(gauge=((4.0, 0.0), (0.0, 1.0)), clip=(0.0, None)), 2.0, [[1.0, 1.0]])
    np.testing.assert_allclose(box, [[[0.0, 5.0], [0.0, 3.0]]])
    assert band(ScoreRule(clip=(0.0, None)), 2.0, np.ones((1, 3, 2))).min() == 0.0


def test_scores_do_not_change_and_targets_outside_are_refused():
    rule = ScoreRule(clip=(0.0, 10.0))
    y, prediction = [0.0, 10.0, 3.0], [-5.0, 20.0, 3.0]
    np.testing.assert_array_equal(scores_of(rule, y, prediction), scores_of(ScoreRule(), y, prediction))
    with pytest.raises(InvalidInput, match=r"y must lie in \[0, 10\], the range of clip: it does not in .*1"):
        scores_of(rule, [0.0, -1e-300, 3.0], prediction)
    with pytest.raises(InvalidInput, match="y must be finite"):
        scores_of(rule, [0.0, math.nan, 3.0], prediction)


@pytest.mark.parametrize(
    ("clip", "outside"),
    [((0.0, None), [True, False, False, False, False]), ((None, 2.0), [False, False, False, True, False]),
     ((0.0, 2.0), [True, False, False, True, False])],
)  # fmt: skip
def test_the_ends_of_a_range_are_in_it_and_nan_is_not_outside(clip, outside):
    assert outside_range(clip, np.array([-1e-300, 0.0, 2.0, 2.5, math.nan])).tolist() == outside
    assert outside_range(clip, np.array([0.0, 2.0])) is None


def test_a_range_is_compared_in_float64():
    # The float32 nearest to 99.9 is larger, so that a band that ends at 99.9 does not hold it.
    y = np.array([99.9, 1.0], dtype=np.float32)
    assert outside_range((0.0, 99.9), y).tolist() == outside_range((0.0, 99.9), y.astype(np.float64)).tolist()
    assert outside_range((float(np.float32(0.1)), float(np.float32(99.9))), y) is None
    assert band(ScoreRule(clip=(0.0, 99.9)), 50.0, [60.0])[0, 1] < y[0]
    for column in (np.array([3, 7], dtype=np.int8), np.array([3, 7], dtype=np.uint64), np.array([False, True])):
        assert outside_range((-1e9, 1e9), column) is None


@pytest.mark.parametrize(
    ("shape", "place", "row"),
    [((3,), (1,), 1), ((3, 2), (2, 1), 2), ((3, 4, 2), (0, 3, 1), 0), ((3, 2, 4), (1, 0, 2), 1)],
)
@pytest.mark.parametrize("end", [-1.0, 11.0])
def test_a_fresh_row_with_one_target_outside_is_a_violation_and_no_other_row_is(shape, place, row, end):
    y = np.full(shape, 5.0)
    y[place] = end
    fresh = ScoreRule(clip=(0.0, 10.0)).judging
    scores = scores_of(fresh, y, np.full(shape, 4.0))
    assert scores.tolist() == [math.inf if k == row else 1.0 for k in range(3)]


def test_a_step_outside_of_the_range_is_one_step_of_its_run():
    y, prediction = np.full((1, 4), 5.0), np.array([[4.0, 3.0, 2.0, 1.0]])
    y[0, 0] = 11.0
    for share, score in ((0.25, 2.0), (0.75, 4.0), (0.9, math.inf)):
        fresh = ScoreRule(gauge=Share(share), clip=(0.0, 10.0)).judging
        assert scores_of(fresh, y, prediction).tolist() == [score]


def test_a_refused_prediction_is_refused_outside_of_the_range_too():
    fresh = ScoreRule(clip=(0.0, 10.0)).judging
    with pytest.raises(InvalidInput, match="y_pred must be finite"):
        scores_of(fresh, [11.0, 5.0], [math.nan, 4.0])


def test_rows_that_left_the_range_are_counted_in_words():
    assert left_range_words(0) == ""
    assert left_range_words(1).endswith(": the row is outside of every band.")
    assert left_range_words(2) == (
        "In 2 rows y left its declared range, to which bands are clipped: these rows are outside of every band."
    )
