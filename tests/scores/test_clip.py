"""Targets with a known range: which ranges there are, and what clipping does to the ends of a band."""

import math

import numpy as np
import pytest

from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule, band, scores_of
from pacband.scores.clip import check_clip, range_assumption


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
