"""How sharp a bound is, which rows have no band, and by how much bounds are rounded outwards."""

import math

import numpy as np
import pytest

from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import ScoreRule
from pacband.scores.arrays import band, bound, mean_bound, mean_offset, outwards, scores_of, unanswered

SIGMA = ((4.0, 1.0), (1.0, 9.0))


@pytest.mark.parametrize("gamma", [1.0, -1.0, 0.1, 3e300, 0.0, 5e-324, math.inf])
def test_outwards_is_up_by_no_more_than_four_units_in_the_last_place(gamma):
    rounded = float(outwards(gamma))
    assert rounded > gamma or gamma == math.inf
    assert rounded <= gamma + abs(gamma) * 2.0**-49 + 5e-324


def test_outwards_covers_the_three_roundings():
    # A relative error of 2⁻⁵³ each, in either direction.
    for gamma in (1.0, 1.5, 1.9999):
        assert float(outwards(gamma)) * (1 - 2.0**-53) ** 3 > gamma


def test_the_bound_of_rows_and_of_a_number():
    rule = ScoreRule(min_scale=0.5)
    factor = float(outwards(2.0))
    np.testing.assert_array_equal(bound(rule, 2.0, [1.0, 0.1]), [factor, factor * 0.5])
    alone = bound(rule, 2.0, 3.0)
    assert isinstance(alone, float)
    assert alone == factor * 3.0
    with pytest.raises(InvalidScale):
        bound(ScoreRule(), 2.0, 0.0)


def test_the_mean_bound_is_gamma_times_the_mean_scale_or_the_mean_width_of_the_box():
    assert mean_bound(ScoreRule(), 3.0, 2.0) == 6.0
    assert mean_bound(ScoreRule(gauge=SIGMA), 3.0, 2.0) == 3.0 * 2.0 * 2.5


@pytest.mark.parametrize(("side", "offset"), [("both", 0.0), ("upper", 1.5), ("lower", -1.5)])
def test_the_mean_offset_is_towards_the_bounded_side(side, offset):
    y, prediction = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, np.nan])
    assert mean_offset(ScoreRule(side=side), y, prediction) == offset


def test_without_any_prediction_the_offset_is_infinite():
    assert mean_offset(ScoreRule(side="upper"), np.ones(2), np.full(2, np.nan)) == math.inf
    assert mean_offset(ScoreRule(), np.ones(2), np.full(2, np.nan)) == 0.0


def test_rows_without_a_finite_prediction_are_counted_once():
    assert unanswered(np.array([1.0, np.nan, np.inf, 2.0])) == 2
    assert unanswered(np.array([[1.0, np.nan], [np.inf, np.nan], [1.0, 2.0]])) == 2
    assert unanswered(np.ones((3, 2))) == 0


@pytest.mark.parametrize(
    ("side", "ends"), [("both", [-2.0, 4.0]), ("upper", [-math.inf, 4.0]), ("lower", [-2.0, math.inf])]
)
def test_the_band_of_every_side(side, ends):
    np.testing.assert_allclose(band(ScoreRule(side=side), 3.0, [1.0]), [ends])
    np.testing.assert_allclose(band(ScoreRule(side=side), 3.0, [[1.0, 1.0]]), [[ends, ends]])


def test_every_row_may_have_its_own_gamma():
    np.testing.assert_allclose(band(ScoreRule(), np.array([1.0, 2.0]), [0.0, 0.0], [1.0, 3.0]), [[-1, 1], [-6, 6]])
    np.testing.assert_allclose(
        band(ScoreRule(), np.array([1.0, 2.0]), [[0.0, 1.0], [0.0, 1.0]])[..., 1], [[1.0, 2.0], [2.0, 3.0]]
    )


def test_the_band_of_a_pair_of_scales_and_of_a_matrix():
    np.testing.assert_allclose(band(ScoreRule(), 2.0, [1.0], ([1.0], [3.0])), [[-1.0, 7.0]])
    np.testing.assert_allclose(band(ScoreRule(gauge=SIGMA), 2.0, [[1.0, 1.0]], [0.5]), [[[-1.0, 3.0], [-2.0, 4.0]]])
    np.testing.assert_allclose(band(ScoreRule(gauge=((4.0,),)), 2.0, [1.0], [0.5]), [[-1.0, 3.0]])


def test_a_band_that_counts_violations_is_infinite_only_where_the_prediction_is():
    ends = band(ScoreRule(nonfinite="violate"), 1.0, [[0.0, np.nan], [0.0, 0.0]])
    np.testing.assert_allclose(ends, [[[-1, 1], [-math.inf, math.inf]], [[-1, 1], [-1, 1]]])


@pytest.mark.parametrize("side", ["both", "upper", "lower"])
def test_a_row_of_which_one_output_is_lost_has_an_infinite_score(side):
    y, prediction = np.zeros((3, 2)), np.array([[np.nan, 0.0], [1.0, 2.0], [-np.inf, 9.0]])
    scores = scores_of(ScoreRule(side=side, nonfinite="violate"), y, prediction)
    assert scores[0] == scores[2] == math.inf
    assert scores[1] == {"both": 2.0, "upper": -1.0, "lower": 2.0}[side]


def test_the_rows_that_overflow_are_named_for_several_outputs_as_well():
    y = np.array([[0.0, 0.0], [1.7e308, 0.0], [0.0, 0.0]])
    with pytest.raises(InvalidInput, match="the score overflows float64 in 1 row, row 1"):
        scores_of(ScoreRule(), y, -y)
    with pytest.raises(InvalidInput, match="the score overflows float64 in 1 row, row 1"):
        scores_of(ScoreRule(side="upper"), -y, y)


def test_a_missing_target_has_no_cure_and_a_missing_prediction_has_one():
    with pytest.raises(
        InvalidInput, match=r"y must be finite: it is NaN or infinite in 1 row, row 0 \(counting from 0\)\.$"
    ):
        scores_of(ScoreRule(), [np.nan, 1.0], [1.0, 1.0])
    with pytest.raises(
        InvalidInput, match=r"row 0 \(counting from 0\)\. With nonfinite='violate' they count as infinite errors\.$"
    ):
        scores_of(ScoreRule(), [1.0, 1.0], [np.nan, 1.0])


@pytest.mark.parametrize("y", [np.ones(3), np.ones((3, 3))])
def test_a_matrix_takes_as_many_outputs_as_it_has(y):
    with pytest.raises(InvalidInput, match=rf"a 2×2 gauge takes 2 outputs, got {1 if y.ndim == 1 else 3}\."):
        scores_of(ScoreRule(gauge=SIGMA), y, y)
