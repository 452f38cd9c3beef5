"""Checks of arguments: what is accepted, and errors that state the rule and the value."""

import math

import numpy as np
import pytest

import pacband
from pacband.core.checks import (
    check_choice,
    check_positive,
    check_positive_integer,
    check_probability,
    check_symmetric,
)
from pacband.exceptions import InvalidInput, InvalidScale


def test_a_probability_is_in_the_open_unit_interval():
    assert check_probability("eps", np.float32(0.5)) == 0.5
    for value in (0.0, 1, -0.1, math.nan, True, 10**400):
        with pytest.raises(InvalidInput, match=r"eps must be in \(0, 1\), got"):
            check_probability("eps", value)
    with pytest.raises(InvalidInput, match=r"eps must be a number in \(0, 1\), got 'x'"):
        check_probability("eps", "x")


def test_a_percentage_is_explained():
    with pytest.raises(InvalidInput, match=r"got 5\. For 5 % write 0\.05\.$"):
        check_probability("eps", 5)
    with pytest.raises(InvalidInput, match=r"eps is the share that may fail: if 95 % must hold, write 0\.05\.$"):
        check_probability("eps", 95)


@pytest.mark.parametrize("name", ["within", "share"])
def test_a_share_that_must_hold_is_not_turned_round(name):
    for percentage, share in ((99, "0.99"), (90, "0.9"), (5, "0.05"), (51, "0.51")):
        with pytest.raises(InvalidInput, match=rf"got {percentage}\. For {percentage} % write {share}\.$"):
            check_probability(name, percentage)
    for everything in (1, 1.0, 100):
        with pytest.raises(InvalidInput, match=r"If all (rows|steps) must be inside, (write 'all'|use gauge='max')\.$"):
            check_probability(name, everything)


def test_the_declared_shares_get_that_hint():
    with pytest.raises(InvalidInput, match=r"For 99 % write 0\.99\.$"):
        pacband.draws.Units([0, 1], 99)
    with pytest.raises(InvalidInput, match=r"For 90 % write 0\.9\.$"):
        pacband.Share(90)


@pytest.mark.parametrize("value", [1, 2.5, np.float32(0.5), np.int64(3), 5e-324, 1.7e308])
def test_positive_numbers_are_accepted(value):
    found = check_positive("width", value)
    assert type(found) is float
    assert found == float(value)


@pytest.mark.parametrize("value", [0, 0.0, -1.0, math.inf, math.nan, True, "1", b"1", None, [1.0, 2.0], 1j])
def test_all_others_are_refused_with_the_rule_and_the_value(value):
    with pytest.raises(InvalidInput) as caught:
        check_positive("width", value)
    assert str(caught.value) == f"width must be a positive finite number, got {value!r}."


def test_zero_and_the_type_of_the_error_are_choices_of_the_caller():
    assert check_positive("alpha", 0, or_zero=True) == 0.0
    with pytest.raises(InvalidInput, match="alpha must be zero or a positive finite number, got -1"):
        check_positive("alpha", -1, or_zero=True)
    with pytest.raises(InvalidScale, match="min_scale must be a positive finite number, got 0"):
        check_positive("min_scale", 0, error=InvalidScale)


def test_an_integer_beyond_all_floats_is_not_printed():
    with pytest.raises(InvalidInput, match=r"finite number, got an integer beyond the largest float\.$"):
        check_positive("width", 10**5000)


def test_a_positive_integer_is_no_float():
    assert check_positive_integer("rank", np.int64(3)) == 3
    for value, rule in ((0, "at least 1"), (True, "at least 1"), (2.0, "an integer"), ("2", "an integer")):
        with pytest.raises(InvalidInput, match=f"rank must be {rule}, got"):
            check_positive_integer("rank", value)


def test_a_choice_is_one_of_its_options():
    check_choice("side", "both", ["both", "upper"])
    for value in ("lower", None, ["both"]):
        with pytest.raises(InvalidInput, match="side must be one of 'both', 'upper', got"):
            check_choice("side", value, ["both", "upper"])


def test_a_matrix_is_symmetric_up_to_rounding():
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    check_symmetric("gauge", matrix)
    matrix[0, 1] += 1e-12
    check_symmetric("gauge", matrix)
    for changed in (1.1, math.nan, math.inf):
        matrix[0, 1] = changed
        with pytest.raises(InvalidInput, match=r"^gauge must be symmetric and finite\.$"):
            check_symmetric("gauge", matrix)


def test_an_integer_that_no_float_holds_is_no_probability():
    for value in (10**400, -(10**400), math.inf):
        with pytest.raises(InvalidInput):
            pacband.plan(value, 0.1)
        with pytest.raises(InvalidInput):
            pacband.Monitor(pacband.certify([1.0] * 100, [0.0] * 100, eps=0.1, delta=0.1), false_alarm_interval=value)
