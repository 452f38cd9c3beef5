"""The scale of every row: its floor, its mean, and what is refused."""

import numpy as np
import pytest

from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import ScoreRule, Spread, band, scores_of, spread_of


def test_min_scale_puts_a_floor_under_the_scale_on_both_sides():
    rule = ScoreRule(min_scale=0.5)
    scale = np.array([0.1, -3.0, np.nan, 2.0])
    np.testing.assert_array_equal(scores_of(rule, np.ones(4), np.zeros(4), scale), [2.0, 2.0, 2.0, 0.5])
    np.testing.assert_allclose(band(rule, 2.0, np.zeros(4), scale)[:, 1], [1.0, 1.0, 1.0, 4.0])


def test_the_mean_is_that_of_the_floored_scale():
    assert Spread((), None).mean() == 1.0
    assert spread_of(ScoreRule(min_scale=1.0), np.array([0.5, 3.0]), (2,)).mean() == 2.0
    pair = spread_of(ScoreRule(), (np.array([1.0, 3.0]), np.array([3.0, 5.0])), (2,))
    assert (pair.kind, pair.mean()) == ("asymmetric", 3.0)
    assert spread_of(ScoreRule(), 2.0, (3, 2)).mean() == 2.0


ONES = np.ones(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: scores_of(ScoreRule(), ONES, ONES, np.ones(2)), InvalidInput, r"scale must have one value per row of shape \(3,\), got shape \(2,\)"),
        (lambda: scores_of(ScoreRule(), ONES, ONES, (ONES,)), InvalidInput, r"a scale pair must be \(lower, upper\), got 1 parts"),
        (lambda: scores_of(ScoreRule(side="upper"), ONES, ONES, (ONES, ONES)), InvalidInput, "a scale pair .* needs side='both'"),
        (lambda: scores_of(ScoreRule(), ONES, ONES, [1.0, 0.0, -1.0]), InvalidScale, "scale must be positive and finite.*2 rows, the first 1, 2.*Declare a min_scale"),
        (lambda: scores_of(ScoreRule(), ONES, ONES, [1.0, np.nan, 1.0]), InvalidScale, "1 row, row 1"),
        (lambda: scores_of(ScoreRule(), ONES, ONES, [1.0, np.inf, 1.0]), InvalidScale, "1 row, row 1"),
        (lambda: scores_of(ScoreRule(), ONES, ONES, (ONES, [1.0, 1.0, 0.0])), InvalidScale, "1 row, row 2"),
        (lambda: scores_of(ScoreRule(min_scale=0.1), ONES, ONES, [1.0, np.inf, 1.0]), InvalidScale, "row 1"),
        (lambda: band(ScoreRule(), 1.0, ONES, [1.0, 0.0, 1.0]), InvalidScale, "1 row, row 1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()
