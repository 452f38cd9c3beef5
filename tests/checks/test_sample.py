"""Which rows are looked at."""

import numpy as np
import pytest

from pacband.checks.sample import FEWEST_ROWS, MOST_ROWS, RUN, rows_to_look_at


@pytest.mark.parametrize("n_rows", [4001, 8760, 99_999, 1_000_000, 123_456_789])
def test_rows_are_in_order_never_twice_and_the_same_each_time(n_rows):
    rows = rows_to_look_at(n_rows)
    assert (np.diff(rows) > 0).all()
    assert 0 <= rows[0] <= rows[-1] < n_rows
    assert FEWEST_ROWS <= len(rows) <= MOST_ROWS
    assert np.count_nonzero(np.diff(rows) == 1) >= len(rows) * (RUN - 1) // RUN
    rows_to_look_at.cache_clear()
    np.testing.assert_array_equal(rows_to_look_at(n_rows), rows)


def test_every_row_of_a_few_is_looked_at():
    assert rows_to_look_at(4000) == slice(0, 4000)
    assert rows_to_look_at(4001, at_least=MOST_ROWS) == slice(0, 4001)
