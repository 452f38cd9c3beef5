"""Which rows are looked at."""

import numpy as np
import pytest

from pacband.checks.sample import FEWEST_ROWS, MOST_ROWS, rows_to_look_at


@pytest.mark.parametrize("n_rows", [4001, 8760, 99_999, 1_000_000, 123_456_789])
def test_rows_are_in_order_never_twice_and_the_same_each_time(n_rows):
    looked = rows_to_look_at(n_rows)
    drawn = looked.rows[looked.n_first :]
    assert np.array_equal(looked.rows[: looked.n_first], np.arange(looked.n_first))
    assert (np.diff(drawn) > 0).all()
    assert 0 <= drawn[0] <= drawn[-1] < n_rows
    assert FEWEST_ROWS <= len(drawn) == looked.n_first <= MOST_ROWS
    rows_to_look_at.cache_clear()
    np.testing.assert_array_equal(rows_to_look_at(n_rows).rows, looked.rows)


def test_every_row_of_a_few_is_looked_at():
    looked = rows_to_look_at(4000)
    assert looked.rows == slice(0, 4000)
    assert looked.n_first == 0
