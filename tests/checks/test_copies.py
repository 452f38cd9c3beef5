"""Rows that repeat in every column."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.checks.copies import bits_without_ids, check_copies, column_bits, find_originals, may_repeat


def test_a_few_copies_of_continuous_rows_are_found(rng):
    y, x = rng.standard_normal(1000), rng.standard_normal((1000, 2))
    y[:3], x[:3] = y[500:503], x[500:503]
    finding = check_copies(y, [x], complete=True)
    assert finding.p_value == 0.0
    assert finding.seen == "3 of 1000 rows repeat another row in every column that does not number the rows"
    assert may_repeat(y)


def test_coarse_rows_agree_by_chance(rng):
    for levels in (3, 30, 300):
        x = rng.integers(0, levels, (2000, 2)).astype(float)
        y = x[:, 0] + rng.standard_normal(2000).round(1)
        assert check_copies(y, [x], complete=True).p_value == 1.0
    # A tree predicts a few values, and targets are rounded.
    prediction = rng.integers(0, 50, 5000) / 7.0
    assert check_copies((prediction + rng.standard_normal(5000)).round(2), [prediction], complete=False).p_value == 1.0


def test_targets_that_agree_after_rounding_to_float32_are_no_copies(rng):
    y = 100.0 + rng.random(20_000)
    assert len(np.unique(y.astype(np.float32))) < len(y) == len(np.unique(y))
    assert check_copies(y, [np.zeros(20_000)], complete=False).p_value == 1.0


def test_states_and_coarse_scores_are_no_copies(rng):
    resting = np.where(rng.random(500) < 0.1, 0.0, rng.standard_normal(500))
    assert (
        check_copies(resting, [np.where(resting == 0.0, 0.0, rng.standard_normal(500))], complete=False).p_value == 1.0
    )
    assert check_copies(np.r_[np.zeros(300), np.ones(100)], [np.zeros(400)], complete=False).p_value == 1.0
    assert check_copies(np.rint(2 * rng.standard_normal(600)), [np.zeros(600)], complete=False).p_value == 1.0
    # Predictions that agree after rounding to float32, of a constant target.
    assert check_copies(np.zeros(20_000), [100.0 + rng.random(20_000)], complete=False).p_value == 1.0


def test_a_coarse_target_beside_a_constant_agrees_by_chance(rng):
    assert check_copies(rng.integers(0, 1000, 500), [np.ones(500)], complete=True).p_value == 1.0


def test_few_rows_say_nothing():
    assert check_copies(np.zeros(8), [np.zeros(8)], complete=True) is None


def test_columns_of_every_type_are_told_apart(rng):
    frame = pd.DataFrame({"site": rng.choice(["a", "b"], 400), "x": rng.standard_normal(400)})
    bits = column_bits([frame["x"].to_numpy(), frame["site"].to_numpy(dtype=object), np.arange(400)])
    assert bits.shape == (400, 3)
    assert check_copies(np.ones(400), [bits], complete=True).seen.startswith("0 of 400")
    assert not may_repeat(np.arange(5.0))
    assert may_repeat(np.zeros((5, 2)))


def _copied(rng, times=3):
    """Return rows that come three times, shuffled, and with a new number each."""
    y, y_pred = rng.standard_normal((2, 1000))
    order = rng.permutation(np.repeat(np.arange(1000), times))
    return y[order], y_pred[order]


@pytest.mark.parametrize("number", [np.arange, lambda n: 10**12 + np.arange(n), lambda n: [f"k{i}" for i in range(n)]])
def test_a_column_that_numbers_rows_does_not_hide_copies(rng, number):
    y, y_pred = _copied(rng)
    frame = pd.DataFrame({"id": number(3000), "y": y, "yhat": y_pred})
    with pytest.warns(pacband.PromiseWarning, match="2000 of 3000 rows repeat another row"):
        pacband.certify_frame(frame, target="y", prediction="yhat")
    assert "duplicated rows" in {f.check for f in pacband.diagnose(y, y_pred, X=frame[["id"]]).findings}
    # The twin: rows that come once, with the same numbers.
    y, y_pred = rng.standard_normal((2, 3000))
    frame = frame.assign(y=y, yhat=y_pred)
    pacband.certify_frame(frame, target="y", prediction="yhat")
    assert pacband.diagnose(y, y_pred, X=frame[["id"]]).sound


def test_bits_leave_out_numbers_of_rows():
    assert bits_without_ids([np.arange(5)]).shape == (5, 0)
    assert bits_without_ids([np.arange(5), np.zeros(5)]).shape == (5, 1)


def test_a_row_that_another_unit_has_as_well_is_no_copy():
    X, y = np.array([[1.5], [1.5], [2.5], [1.5]]), np.array([0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(find_originals(X, y), [0, 2])
    np.testing.assert_array_equal(find_originals(X, y, np.array(["a", "a", "a", "b"])), [0, 2, 3])
