"""A bound holds as printed, wherever it is printed; and what is printed of a candidate is what holds of it."""

import numpy as np
import pytest

import pacband
from pacband.core.wording import bound

GAMMA = 1.2345612


@pytest.fixture
def y():
    return np.random.default_rng(0).permutation(np.r_[np.zeros(1000), np.full(1000, GAMMA)])


def test_every_print_of_a_bound_is_rounded_up(y):
    cert = pacband.certify(y, 0 * y, eps=0.05, delta=1e-6)
    assert bound(GAMMA) == "1.23457"
    assert "1.23457" in cert.promise
    assert "1.23457" in cert._repr_html_()
    assert "1.23456" not in cert._repr_html_()
    curve = pacband.certify_curve(y, 0 * y, delta=1e-6)
    assert "bound 1.23457" in str(curve)


def test_the_violation_to_expect_is_printed_only_if_nothing_was_chosen_by_the_scores(y):
    assert "the expected violation" in str(pacband.certify(y, 0 * y))
    point = pacband.certify_curve(y, 0 * y, delta=1e-6).certificate(0.05)
    assert not point.chosen_beforehand
    assert "the expected violation" not in str(point)
    assert "expected violation" not in point._repr_html_()


def test_a_group_is_not_called_a_candidate(y):
    groups = pacband.certify_groups(y, 0 * y, np.arange(2000) % 2, eps=0.1, delta=0.01)
    for part in groups.groups.values():
        assert "for all 2 certificates at once" in part.promise
        assert "candidate" not in part.promise


def test_a_curve_takes_one_eps(y):
    assert pacband.certify_curve(y, 0 * y, delta=1e-6, eps=0.05).levels == (0.05,)
