"""Every row is in one slice."""

import numpy as np

from pacband.reporting.figures.cuts import cut_rows, quantile_codes


def test_slices_hold_every_row_once(rng):
    column = np.round(rng.standard_normal(1001), 1)
    labels, codes = quantile_codes(column, 8)
    assert len(labels) == codes.max() + 1
    bounds = [tuple(map(float, label.split(" to "))) for label in labels]
    for k, (low, high) in enumerate(bounds):
        inside = column[codes == k]
        assert inside.max() <= high + 1e-9
        assert inside.min() >= low - 1e-9
    outside = rng.random(1001) < 0.1
    cut = cut_rows("x", column, outside, np.ones(1001))
    assert sum(cut.n_rows) == 1001
    assert sum(cut.n_violations) == outside.sum()
    labels, codes = quantile_codes(np.array([1.0, np.nan, 2.0]), 8)
    assert [labels[k] for k in codes] == ["1", "missing", "2"]
