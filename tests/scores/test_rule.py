"""How a row becomes a score: the options of the rule, checked."""

import math

import numpy as np
import pytest

from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import SCALE_KINDS, ScoreRule, scale_kind


def create(**options):
    return ScoreRule.create(**{"side": "both", "gauge": "max", "min_scale": None, "nonfinite": "raise", **options})


def test_the_kind_of_a_scale_is_the_number_of_its_parts():
    ones = np.ones(3)
    assert tuple(scale_kind(scale) for scale in (None, ones, (ones, ones))) == SCALE_KINDS
    assert [scale_kind(scale) for scale in (2.0, [1.0, 2.0])] == ["symmetric", "symmetric"]


def test_a_rule_is_a_value_of_plain_numbers():
    gauge = np.array([[2.0, 0.5], [0.5, 1.0]])
    rule = create(gauge=gauge, min_scale=np.float32(0.5))
    assert rule == create(gauge=gauge.tolist(), min_scale=0.5)
    assert hash(rule) == hash(create(gauge=gauge, min_scale=0.5))
    assert rule.matrices == (rule.gauge,) == (((2.0, 0.5), (0.5, 1.0)),)
    assert type(rule.min_scale) is float
    assert create().matrices == ()
    assert create(gauge=[4.0]).matrices == (((4.0,),),)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: create(side="up"), InvalidInput, "side must be one of 'both', 'upper', 'lower', got 'up'"),
        (lambda: create(nonfinite="drop"), InvalidInput, "nonfinite must be one of 'raise', 'violate', got 'drop'"),
        (lambda: create(min_scale=0.0), InvalidScale, "min_scale must be a positive finite number, got 0.0"),
        (lambda: create(min_scale="1"), InvalidScale, "min_scale must be"),
        (lambda: create(gauge="min"), InvalidInput, "gauge must be one of 'max', got 'min'"),
        (lambda: create(side="upper", gauge=np.eye(2)), InvalidInput, "a matrix gauge has no sides"),
        (lambda: create(gauge=np.ones((2, 3))), InvalidInput, "gauge must be 'max', a square matrix"),
        (lambda: create(gauge=[[1, 2], [0, 1]]), InvalidInput, "symmetric"),
        (lambda: create(gauge=[[1, 2], [2, 1]]), InvalidInput, "positive definite"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


def rule(**options):
    return ScoreRule.create(**{"side": "both", "gauge": "max", "min_scale": None, "nonfinite": "raise", **options})


def test_a_rule_has_the_options_that_were_passed():
    made = rule(side="upper", min_scale=2, nonfinite="violate")
    assert made == ScoreRule(side="upper", gauge="max", min_scale=2.0, nonfinite="violate")
    assert isinstance(made.min_scale, float)
    assert rule(gauge=[4.0]).gauge == ((4.0,),)
    assert rule(gauge=[[2.0, 1.0], [1.0, 2.0]]).matrices == (((2.0, 1.0), (1.0, 2.0)),)
    assert rule().matrices == ()


@pytest.mark.parametrize("floor", [0.0, -1.0, math.inf, math.nan, True, "1", 10**400])
def test_a_floor_is_a_positive_finite_number(floor):
    with pytest.raises(InvalidScale, match="min_scale must be a positive finite number, got"):
        rule(min_scale=floor)


@pytest.mark.parametrize(
    ("gauge", "message"),
    [
        ([["a"]], "gauge must be numeric"),
        ([1.0, 2.0], r"gauge must be 'max', a square matrix, .*, got shape \(2,\)"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], r"a square matrix, .*, got shape \(2, 3\)"),
        ([[math.inf, 0.0], [0.0, 1.0]], "gauge must be symmetric and finite"),
        ([[1.0, 0.5], [0.5 * (1 + 1e-7), 1.0]], "gauge must be symmetric and finite"),
        ([[1.0, 0.5], [0.5 * (1 + 1.5e-10), 1.0]], "gauge must be symmetric and finite"),
        ([[1e-10, 1e-11], [2e-11, 1e-10]], "gauge must be symmetric and finite"),
        ([[1.0, 2.0], [2.0, 1.0]], "gauge must be positive definite"),
    ],
)
def test_a_gauge_is_a_positive_definite_matrix(gauge, message):
    with pytest.raises(InvalidInput, match=message):
        rule(gauge=gauge)


def test_a_gauge_is_symmetric_but_for_rounding():
    assert rule(gauge=[[1.0, 0.5], [0.5 * (1 + 0.5e-10), 1.0]]).matrices


def test_fresh_rows_outside_of_the_range_are_violations_and_calibration_refuses_them():
    made = rule(side="upper", clip=(0.0, None))
    assert made.outside == "raise"
    assert made.judging == ScoreRule(side="upper", clip=(0.0, None), outside="violate")
    assert rule().judging == rule()
