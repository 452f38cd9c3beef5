"""Tables as a matrix of numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pacband import OutOfRange
from pacband.candidates import reader as module
from pacband.candidates.reader import TableReader
from support.automatic import mixed_table


def test_numpy_objects_are_read_as_frames_are(rng):
    columns, _ = mixed_table(rng, 60)
    frame = pd.DataFrame(columns)
    reader = TableReader().fit(frame)
    np.testing.assert_array_equal(TableReader().fit(frame.to_numpy(object)).transform(frame), reader.transform(frame))
    assert reader.kept_ == (0, 1, 2)
    assert reader.categorical_ == (0,)


def test_numbers_beyond_the_range_of_the_fit_are_warned_of_if_chance_does_not_explain_them(rng):
    table = pd.DataFrame({"day": rng.permutation(1000), "kind": rng.choice(["a", "b"], 1000), "x": rng.random(1000)})
    reader = TableReader().fit(table)
    reader.transform(table)
    later = table.assign(day=table.day + 1.0)
    reader.transform(later)  # one of 1,000 days
    reader.transform(later.iloc[:1].assign(day=2000.0))  # a single row can be beyond the range by chance
    reader.transform(later.iloc[:9].assign(day=np.nan))
    with pytest.warns(OutOfRange, match="column 'day' is beyond .* in 60 of 60 rows") as found:
        reader.transform(table.assign(day=[2000.0] * 60 + [np.nan] * 940))
    assert [warning.message.column for warning in found] == ["day"]
    with pytest.warns(OutOfRange, match="column 'day' is beyond the range that it had in the fit in 5 of 9 rows, far"):
        reader.transform(later.iloc[:10].assign(day=[2000.0, -1, 2000, 2000, -1, 5, 6, 7, 8, np.nan]))


def test_rows_that_depend_on_each_other_may_be_beyond_a_range_together(rng):
    TableReader().fit(rng.random((400, 2)), independent=False).transform(rng.random((100, 2)) + 5.0)


@pytest.mark.parametrize("n", [2, 10, 500, 100_000])
def test_the_share_beyond_the_range_is_bounded(n):
    share = module._bound_beyond(n)
    # The share inside of the range of n uniform numbers is at most s with probability n·sⁿ⁻¹ − (n − 1)·sⁿ.
    inside = 1.0 - share
    assert n * inside ** (n - 1) - (n - 1) * inside**n == pytest.approx(module._FALSE_ALARM / 2, rel=1e-6)


def test_rows_of_the_distribution_of_the_fit_are_not_warned_of(rng, monkeypatch):
    """The probability of a warning for any of 4,000 columns is at most 1e-6."""
    monkeypatch.setattr(module, "_FALSE_ALARM", 1e-6 / 4000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutOfRange)
        for _ in range(200):
            numbers = rng.standard_cauchy((130, 20))
            TableReader().fit(numbers[:30]).transform(numbers[30:])
