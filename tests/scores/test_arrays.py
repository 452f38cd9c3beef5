"""Scores and bands in numpy: every variant against its formula, and the band as the exact inverse of the score."""

import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import ScoreRule, arrays, band, scores_of
from pacband.scores.arrays import align, bound, mean_bound, mean_offset, outwards, unanswered

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
SCALES = st.floats(1e-3, 1e3)


def columns(n=50, k=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = n if k is None else (n, k)
    return rng.normal(size=shape), rng.normal(size=shape), rng.uniform(0.1, 3, size=shape)


@pytest.mark.parametrize(
    ("side", "formula"),
    [("both", np.abs), ("upper", lambda e: e), ("lower", lambda e: -e)],
)
def test_sides(side, formula):
    y, p, s = columns()
    np.testing.assert_array_equal(scores_of(ScoreRule(side=side), y, p), formula(y - p))
    np.testing.assert_array_equal(scores_of(ScoreRule(side=side), y, p, s), formula(y - p) / s)


def test_asymmetric_score_is_the_larger_of_the_two_sides():
    y, p, low = columns()
    high = columns(seed=1)[2]
    expected = np.maximum((y - p) / high, (p - y) / low)
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, (low, high)), expected)
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, (low, low)), scores_of(ScoreRule(), y, p, low))


def test_max_gauge_takes_the_largest_output():
    y, p, s = columns(k=3)
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, s), np.max(np.abs(y - p) / s, axis=1))
    np.testing.assert_array_equal(scores_of(ScoreRule(side="lower"), y, p, s), np.max((p - y) / s, axis=1))
    per_row = s[:, 0]
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, per_row), np.max(np.abs(y - p), axis=1) / per_row)


def test_float32_and_integers_are_computed_in_float64():
    y, p, s = (column.astype(np.float32) for column in columns())
    expected = np.abs(y.astype(np.float64) - p.astype(np.float64)) / s.astype(np.float64)
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, s), expected)
    np.testing.assert_array_equal(scores_of(ScoreRule(), np.array([1], np.uint8), np.array([2], np.uint8)), [1.0])


@pytest.mark.parametrize(
    "wrap",
    [list, tuple, pd.Series, pl.Series, lambda v: pd.Series(v, dtype="Float64"), lambda v: v[:, None],
     lambda v: [decimal.Decimal(x) for x in v], lambda v: pd.DataFrame({"y": v})],
    ids=["list", "tuple", "pandas", "polars", "nullable", "column", "decimals", "frame"],
)  # fmt: skip
def test_any_column_is_accepted(wrap):
    y, p, _ = columns(n=4)
    np.testing.assert_array_equal(scores_of(ScoreRule(), wrap(y), p), np.abs(y - p))


def test_rows_beyond_one_block_are_scored_alike():
    y, p, s = columns(n=40_000)
    np.testing.assert_array_equal(scores_of(ScoreRule(), y, p, s), np.abs(y - p) / s)
    ends = band(ScoreRule(), 2.0, p, s)
    np.testing.assert_allclose(ends, np.column_stack([p - 2 * s, p + 2 * s]), rtol=1e-14, atol=1e-14)


@given(
    hnp.arrays(np.float64, 20, elements=FLOATS),
    hnp.arrays(np.float64, 20, elements=FLOATS),
    hnp.arrays(np.float64, 20, elements=SCALES),
    hnp.arrays(np.float64, 20, elements=SCALES),
    st.sampled_from(["none", "symmetric", "pair", "upper", "lower"]),
)
def test_a_value_lies_in_the_band_whenever_its_score_is_at_most_gamma(y, p, low, high, kind):
    rule = ScoreRule(side=kind if kind in ("upper", "lower") else "both")
    scale = {"none": None, "pair": (low, high)}.get(kind, low)
    scores = scores_of(rule, y, p, scale)
    for gamma in scores:
        ends = band(rule, float(gamma), p, scale)
        within = (ends[:, 0] <= y) & (y <= ends[:, 1])
        assert within[scores <= gamma].all()
        # Outward rounding is no more than a few units in the last place.
        assert not within[scores > gamma + 1e-14 * abs(gamma) + 1e-9].any()


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_a_score_that_overflows_downwards_is_an_overflow_in_any_company(side):
    sign = -1.0 if side == "upper" else 1.0
    y, p, scale = np.array([sign * 1e300, 0.0, 0.0]), np.array([0.0, 0.0, np.nan]), np.array([1e-10, 1.0, 1.0])
    lenient = ScoreRule(side=side, nonfinite="violate")
    np.testing.assert_array_equal(scores_of(lenient, y, p, scale), [np.inf, 0.0, np.inf])
    np.testing.assert_array_equal(scores_of(lenient, y[:2], p[:2], scale[:2]), [np.inf, 0.0])
    two = np.array([[sign * 1e300, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(scores_of(lenient, two, np.zeros((2, 2)), scale[:2]), [np.inf, 0.0])
    with pytest.raises(InvalidInput, match="the score overflows float64 in 1 row, row 0"):
        scores_of(ScoreRule(side=side), y[:2], p[:2], scale[:2])
    chunks = [(y[i : i + 1], p[i : i + 1], scale[i : i + 1]) for i in range(3)] * 30
    whole = [np.concatenate(part) for part in zip(*chunks, strict=True)]
    options = {"eps": 0.9, "delta": 0.5, "side": side, "nonfinite": "violate"}
    one = pacband.certify(*whole, **options)
    many = pacband.certify_chunks(chunks, **options)
    assert (one.gamma, one.data_digest) == (many.gamma, many.data_digest)


def test_without_outward_rounding_a_tie_would_fall_out():
    # The rounded sum −1e-16 + 1.0 misses y = 1 although its score is exactly γ = 1.
    y, p = np.array([1.0]), np.array([-1e-16])
    gamma = scores_of(ScoreRule(), y, p)[0]
    assert p[0] + gamma < y[0]
    assert band(ScoreRule(), gamma, p)[0, 1] >= y[0]


def test_nonfinite_predictions_count_as_infinite_errors_on_every_side():
    p = np.array([0.0, np.nan, np.inf, -np.inf])
    for side in ("both", "upper", "lower"):
        rule = ScoreRule(side=side, nonfinite="violate")
        assert list(np.isinf(scores_of(rule, np.zeros(4), p))) == [False, True, True, True]
    ends = band(ScoreRule(nonfinite="violate"), 1.0, p)
    np.testing.assert_array_equal(ends[1:], [[-np.inf, np.inf]] * 3)


def test_a_nonfinite_output_is_seen_even_where_another_output_is_larger():
    p = np.array([[np.inf, 0.0], [0.0, 0.0]])
    with pytest.raises(InvalidInput, match="y_pred must be finite: it is NaN or infinite in 1 row, row 0"):
        scores_of(ScoreRule(side="upper"), np.ones((2, 2)), p)


ONES = np.ones(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: scores_of(ScoreRule(), ONES, np.ones(2)), InvalidInput, r"y and y_pred must have the same shape, got \(3,\) and \(2,\)"),
        (lambda: scores_of(ScoreRule(), ONES, np.ones((3, 2))), InvalidInput, "same shape"),
        (lambda: scores_of(ScoreRule(), [], []), InvalidInput, "y is empty"),
        (lambda: scores_of(ScoreRule(), 3.0, 3.0), InvalidInput, r"y must have shape \(n,\), \(n, k\) or \(n, H, k\), got \(\)"),
        (lambda: scores_of(ScoreRule(), ["a"], ["b"]), InvalidInput, "y must be numeric"),
        (lambda: scores_of(ScoreRule(), ["1.5"], [1.0]), InvalidInput, "y must be numeric"),
        (lambda: scores_of(ScoreRule(), [[1.0], [2.0, 3.0]], [1.0, 2.0]), InvalidInput, "y must be numeric and rectangular"),
        (lambda: scores_of(ScoreRule(), [1 + 2j], [1.0]), InvalidInput, "y must be numeric, got dtype complex128"),
        (lambda: scores_of(ScoreRule(), np.array(["2020-01-01"], "M8[D]"), [1.0]), InvalidInput, "y must be numeric"),
        (lambda: scores_of(ScoreRule(), [1.0, np.nan, np.inf], ONES), InvalidInput, r"y must be finite: it is NaN or infinite in 2 rows, the first 1, 2 \(counting from 0\)"),
        (lambda: scores_of(ScoreRule(), pd.Series([1.0, None, 1.0], dtype="Float64"), ONES), InvalidInput, "y must be finite.*row 1"),
        (lambda: scores_of(ScoreRule(), pl.Series([1, None, 1]), ONES), InvalidInput, "y must be finite.*row 1"),
        (lambda: scores_of(ScoreRule(), np.ma.masked_equal([1.0, 5.0, 1.0], 5.0), ONES), InvalidInput, "y must be finite.*row 1"),
        (lambda: scores_of(ScoreRule(), ONES, [1.0, np.nan, 1.0]), InvalidInput, "y_pred must be finite.*nonfinite='violate'"),
        (lambda: scores_of(ScoreRule(nonfinite="violate"), [np.nan, 1, 1], ONES), InvalidInput, "y must be finite"),
        (lambda: scores_of(ScoreRule(), [1.7e308, 0, 0], [-1.7e308, 0, 0]), InvalidInput, "the score overflows float64 in 1 row, row 0"),
        (lambda: band(ScoreRule(), 1.0, [1.0, np.nan]), InvalidInput, "y_pred must be finite"),
        (lambda: scores_of(ScoreRule(gauge=((1.0, 0.0), (0.0, 1.0))), np.ones((3, 3)), np.ones((3, 3))), InvalidInput, "a 2×2 gauge takes 2 outputs, got 3"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


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


def test_no_rows_have_no_bands():
    assert band(ScoreRule(), 1.0, []).shape == (0, 2)


def test_the_column_that_is_no_number_is_named():
    with pytest.raises(InvalidInput, match="y_pred must be numeric"):
        scores_of(ScoreRule(), [1.0], ["a"])
    with pytest.raises(InvalidInput, match="y_pred must be numeric"):
        band(ScoreRule(), 1.0, ["a"])
    with pytest.raises(InvalidInput, match="scale must be numeric"):
        bound(ScoreRule(), 1.0, ["a"])


def test_single_precision_is_rounded_outwards_in_double():
    gamma = np.float32(0.1)
    assert outwards(gamma).dtype == np.float64
    assert float(gamma) < float(outwards(gamma)) < float(gamma) * (1 + 1e-15)


def test_a_row_with_large_numbers_that_are_near_does_not_overflow():
    y, prediction = np.array([1.7e308, 1.7e308]), np.array([-1.7e308, 1.7e308])
    with pytest.raises(InvalidInput, match="the score overflows float64 in 1 row, row 0"):
        scores_of(ScoreRule(), y, prediction)


def test_own_scores_have_no_prediction_and_errors_need_one():
    own = ScoreRule.of_own_scores("raise")
    assert scores_of(own, [3.0, 1.0], None, None).tolist() == [3.0, 1.0]
    with pytest.raises(InvalidInput, match="pass the scores alone, without predictions"):
        scores_of(own, [3.0, 1.0], [0.0, 0.0], None)
    with pytest.raises(InvalidInput, match="y_pred must be given: the errors y − T"):
        scores_of(ScoreRule(), [3.0, 1.0], None, None)


@pytest.mark.parametrize("shape", [(9,), (9, 4), (9, 4, 3)])
def test_blocks_of_rows_have_as_many_numbers_whatever_the_shape_of_a_row(shape, monkeypatch):
    asked, blocks = [], arrays.blocks
    monkeypatch.setattr(arrays, "blocks", lambda *sizes: asked.append(sizes) or blocks(*sizes))
    scores_of(ScoreRule(), np.ones(shape), np.zeros(shape))
    band(ScoreRule(), 1.0, np.zeros(shape))
    assert asked == [(9, math.prod(shape[1:]))] * 2


def test_predictions_under_another_name_are_refused_by_that_name():
    with pytest.raises(InvalidInput, match="the prediction of 'a' must be numeric"):
        align(ScoreRule(), np.zeros(2), ["x", "y"], None, name="the prediction of 'a'")


def test_the_bound_of_runs_has_the_shape_of_their_scale():
    scale = np.arange(1.0, 13.0).reshape(2, 3, 2)
    np.testing.assert_allclose(bound(ScoreRule(), 2.0, scale), 2.0 * scale)
