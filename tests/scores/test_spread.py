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


RULE = ScoreRule()


@pytest.mark.parametrize(
    ("scale", "shape", "kind", "mean"),
    [
        (None, (3,), "none", 1.0),
        (2.0, (3,), "symmetric", 2.0),
        ([1.0, 2.0, 6.0], (3,), "symmetric", 3.0),
        ([1.0, 2.0, 6.0], (3, 2), "symmetric", 3.0),
        (np.array([[1.0, 3.0], [5.0, 7.0]]), (2, 2), "symmetric", 4.0),
        (([1.0, 2.0, 6.0], 5.0), (3,), "asymmetric", 4.0),
        (np.arange(1.0, 13.0).reshape(2, 6), (2, 3, 2), "symmetric", 6.5),
    ],
)
def test_kind_and_mean(scale, shape, kind, mean):
    spread = spread_of(RULE, scale, shape)
    assert (spread.kind, spread.mean()) == (kind, mean)
    for part in spread.block(slice(None)):
        assert np.broadcast_shapes(part.shape, shape) == shape


def test_the_scale_of_a_run_in_one_row_has_the_outputs_of_the_first_step_first():
    wide = np.arange(1.0, 13.0).reshape(2, 6)
    (part,) = spread_of(RULE, wide, (2, 3, 2)).parts
    assert [part[i, t, k] for i in range(2) for t in range(3) for k in range(2)] == wide.ravel().tolist()
    # One value a step is not a wide row.
    (part,) = spread_of(RULE, wide[:, :3], (2, 3, 2)).parts
    np.testing.assert_array_equal(part[:, :, 0], wide[:, :3])
    (part,) = spread_of(RULE, np.empty((0, 6)), (0, 3, 2)).parts
    assert part.shape == (0, 3, 2)
    with pytest.raises(InvalidInput, match=r"or a step and output \(n, H, k\) or \(n, H·k\)\.$"):
        spread_of(RULE, np.ones((2, 5)), (2, 3, 2))


def test_a_matrix_takes_one_scale_for_a_row():
    rule = ScoreRule(gauge=((1.0, 0.0), (0.0, 1.0)))
    assert spread_of(rule, [1.0, 2.0], (2, 2)).parts[0].shape == (2,)
    with pytest.raises(
        InvalidInput, match=r"scale must have one value per row of shape \(2,\), got shape \(2, 2\)\. A pair is a tuple"
    ):
        spread_of(rule, np.ones((2, 2)), (2, 2))
    with pytest.raises(InvalidInput, match=r"a scale pair .* needs side='both' and a gauge without a matrix"):
        spread_of(rule, ([1.0, 2.0], [1.0, 2.0]), (2, 2))


@pytest.mark.parametrize(
    ("scale", "shape", "hint"),
    [
        (np.ones(2), (3,), r" A pair is a tuple \(lower, upper\)\."),
        (np.ones(4), (3,), ""),
        (np.ones((3, 3)), (3,), ""),
        (np.ones((3, 3)), (3, 2), ""),
        (np.ones((4, 1)), (3, 2), ""),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(scale, shape, hint):
    with pytest.raises(
        InvalidInput, match=rf"scale must have one value per row of shape .*, got shape \([^)]*\)\.{hint}$"
    ):
        spread_of(RULE, scale, shape)


@pytest.mark.parametrize(("floor", "values"), [(None, [0.1, 2.0]), (0.5, [0.5, 2.0])])
def test_the_floor_is_put_under_the_scale(floor, values):
    (part,) = spread_of(ScoreRule(min_scale=floor), [0.1, 2.0], (2,)).block(slice(None))
    np.testing.assert_array_equal(part, values)
    assert part.dtype == np.float64


def test_a_scale_of_single_precision_becomes_double():
    for floor in (None, 0.5):
        (part,) = Spread((np.ones(2, dtype=np.float32),), floor).block(slice(None))
        assert part.dtype == np.float64


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_rows_with_a_scale_that_is_none_are_named(bad):
    scale = np.array([[1.0, 1.0], [1.0, bad], [1.0, 1.0]])
    with pytest.raises(
        InvalidScale, match=r"NaN or infinite in 1 row, row 1.*\. Declare a min_scale to put a floor under it\.$"
    ):
        spread_of(RULE, scale, (3, 2)).block(slice(None))
    pair = (np.ones(3), np.array([1.0, 1.0, bad]))
    with pytest.raises(InvalidScale, match="in 1 row, row 2"):
        spread_of(RULE, pair, (3,)).block(slice(None))


def test_where_there_is_a_floor_it_is_not_proposed():
    with pytest.raises(InvalidScale, match=r"in 1 row, row 0[^.]*\.$"):
        spread_of(ScoreRule(min_scale=0.5), [np.inf, 0.1], (2,)).block(slice(None))


def test_no_rows_have_a_scale_without_values():
    assert spread_of(RULE, [], (0,)).parts[0].shape == (0,)


def test_a_scale_that_is_no_number_is_named():
    with pytest.raises(InvalidInput, match="scale must be numeric"):
        spread_of(RULE, ["a"], (1,))
