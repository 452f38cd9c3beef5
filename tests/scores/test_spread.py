"""The scale of every row: its shapes, its floor, and its mean."""

import numpy as np
import pytest

from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import ScoreRule
from pacband.scores.spread import Spread, spread_of

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
    ],
)
def test_kind_and_mean(scale, shape, kind, mean):
    spread = spread_of(RULE, scale, shape)
    assert (spread.kind, spread.mean()) == (kind, mean)
    for part in spread.block(slice(None)):
        assert np.broadcast_shapes(part.shape, shape) == shape


def test_a_matrix_takes_one_scale_for_a_row():
    rule = ScoreRule(gauge=((1.0, 0.0), (0.0, 1.0)))
    assert spread_of(rule, [1.0, 2.0], (2, 2)).parts[0].shape == (2,)
    with pytest.raises(
        InvalidInput, match=r"scale must have one value per row of shape \(2,\), got shape \(2, 2\)\. A pair is a tuple"
    ):
        spread_of(rule, np.ones((2, 2)), (2, 2))
    with pytest.raises(InvalidInput, match=r"a scale pair .* needs side='both' and gauge='max'"):
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
        InvalidInput, match=rf"scale must have one value per row of shape .*, got shape \(.*\)\.{hint}$"
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
