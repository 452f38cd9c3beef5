"""Group labels: which row belongs to which group."""

import numpy as np

from pacband.core.labels import locate_rows


def test_rows_are_located_among_as_many_labels_as_there_are(rng):
    names = [f"group {k}" for k in range(20_000)]
    codes = rng.integers(0, len(names), 50_000)
    places = {name: k for k, name in enumerate(names)}
    assert np.array_equal(locate_rows(np.array(names, dtype=object)[codes], places), codes)
    assert np.array_equal(locate_rows(np.array(names)[codes], places), codes)
