"""Views of the matrix for forests and for distances."""

import numpy as np

from pacband.candidates.views import encode_categories, scale_columns


def test_forests_get_indicators_and_numbers_with_gaps():
    table = np.array([[0.0, 5.0], [1.0, np.nan], [0.0, 7.0]])
    found = encode_categories((0,)).fit_transform(table)
    np.testing.assert_array_equal(found, [[1, 0, 5], [0, 1, np.nan], [1, 0, 7]])
    assert encode_categories(()) == "passthrough"


def test_distances_get_no_gaps_and_columns_of_one_size():
    table = np.column_stack([np.arange(50) % 3, np.geomspace(1, 1e9, 50)])
    table[7, 1] = np.nan
    found = scale_columns((0,), 2).fit_transform(table)
    assert np.isfinite(found).all()
    np.testing.assert_allclose([found[:, 0].mean(), found[:, 0].std()], [0.0, 1.0], atol=1e-9)
    ranks = scale_columns((0,), 2, n_quantiles=50).fit_transform(table)
    assert ranks[:, 0].min() == 0.0
    assert ranks[:, 0].max() == 1.0
