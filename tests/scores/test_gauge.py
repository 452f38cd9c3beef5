"""Gauges: a share of the steps, one matrix for each step, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import InvalidInput, Share, certify
from pacband.scores.gauge import as_gauge


@given(st.integers(1, 400), st.integers(1, 999))
def test_the_place_of_a_share_is_exact_by_the_decimal_as_written(n_steps, thousandths):
    share = Share(thousandths / 1000)
    assert share.place(n_steps) == math.ceil(Fraction(thousandths, 1000) * n_steps) - 1


def test_a_float_that_is_a_little_more_than_its_decimal_does_not_ask_for_one_more_step():
    # 0.07·100 in floats is 7.000000000000001, whose ceiling is 8.
    assert math.ceil(0.07 * 100) == 8
    assert Share(0.07).place(100) == 6
    assert Share(np.float64(0.07)) == Share(0.07)


def test_a_gauge_is_a_value_of_plain_numbers():
    matrices = np.array([np.eye(2), 4 * np.eye(2)])
    assert as_gauge(matrices) == (((1.0, 0.0), (0.0, 1.0)), ((4.0, 0.0), (0.0, 4.0)))
    assert as_gauge(Share(0.9, of=np.eye(2))) == Share(0.9, of=((1.0, 0.0), (0.0, 1.0)))
    assert as_gauge("max") == "max"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Share(1.0), r"share must be in \(0, 1\), got 1.0"),
        (lambda: Share("most"), "share must be a number"),
        (lambda: Share(0.9, of="min"), "gauge must be one of 'max', got 'min'"),
        (lambda: Share(0.9, of=Share(0.9)), "it cannot be the gauge of one step"),
        (lambda: Share(0.9, of=-np.eye(2)), "gauge must be positive definite"),
        (lambda: as_gauge([np.eye(2), -np.eye(2)]), "gauge of step 1 must be positive definite"),
        (lambda: as_gauge([np.eye(2), [[1.0, 0.5], [0.0, 1.0]]]), "gauge of step 1 must be symmetric"),
        (lambda: as_gauge(np.ones((2, 3, 2))), r"one square matrix for each step, got shape \(3, 2\)"),
        (lambda: as_gauge(np.ones((2, 2, 2, 2))), r"gauge must have shape"),
        (lambda: certify(np.ones(9), np.ones(9), gauge=Share(0.9), eps=0.5, delta=0.5), "a gauge over steps needs runs"),
        (lambda: certify(np.ones((9, 3, 2)), np.ones((9, 3, 2)), gauge=[np.eye(2)] * 2, eps=0.5, delta=0.5), "it has 2, and the runs have 3 steps"),
        (lambda: certify(np.ones((9, 3, 2)), np.ones((9, 3, 2)), gauge=np.eye(3), eps=0.5, delta=0.5), "a 3×3 gauge takes 3 outputs, got 2"),
        (lambda: certify(np.ones((9, 3, 2)), np.ones((9, 3, 2)), gauge=Share(0.5, of=np.eye(2)), side="upper", eps=0.5, delta=0.5), "a matrix gauge has no sides"),
        (lambda: certify(np.ones((9, 3, 2)), np.ones((9, 3, 2)), scale=(1.0, 1.0), gauge=[np.eye(2)] * 3, eps=0.5, delta=0.5), "a gauge without a matrix"),
    ],
)  # fmt: skip
def test_what_is_no_gauge_is_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
