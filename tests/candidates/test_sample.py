"""The training rows of a search."""

import numpy as np
import pytest

from pacband import InvalidInput
from pacband.candidates import sample as sample_module
from pacband.candidates.sample import draw_sample
from support.automatic import draw
from support.twins import use_number


def test_the_target_is_standardised_and_every_row_is_in_one_test_fold(rng):
    X, y = draw(rng, 100)
    sample = draw_sample(X, y, np.random.RandomState(0))
    np.testing.assert_allclose(sample.location + sample.unit * sample.all_target, y)
    np.testing.assert_array_equal(sample.table, X)
    assert sorted(np.concatenate([test for _, test in sample.folds])) == list(range(100))
    assert all(not set(train) & set(test) for train, test in sample.folds)


def test_many_rows_are_screened_in_part_and_in_order(rng, monkeypatch):
    use_number(monkeypatch, sample_module, "_MOST_ROWS", 40)
    X, y = np.arange(100.0)[:, None], rng.standard_normal(100)
    sample, again, other = (draw_sample(X, y, np.random.RandomState(seed)) for seed in (0, 0, 1))
    assert len(sample.table) == 40 < len(sample.all_table)
    assert (np.diff(sample.table[:, 0]) > 0).all()
    np.testing.assert_array_equal(sample.target, sample.all_target[sample.table[:, 0].astype(int)])
    np.testing.assert_array_equal(sample.table, again.table)
    assert (sample.table != other.table).any()
    assert sample.seed == again.seed != other.seed


@pytest.mark.parametrize(("n", "n_folds"), [(2999, 5), (3000, 4), (15_000, 3)])
def test_more_rows_have_fewer_folds(rng, n, n_folds):
    assert len(draw_sample(rng.uniform(size=(n, 1)), rng.uniform(size=n), np.random.RandomState(0)).folds) == n_folds


def test_rows_and_targets_have_one_length(rng):
    with pytest.raises(InvalidInput, match="X and y must have one length, got 5 and 4"):
        draw_sample(rng.uniform(size=(5, 1)), rng.uniform(size=4), np.random.RandomState(0))
