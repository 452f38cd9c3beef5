"""Many rows are a density."""

import numpy as np

import pacband


def test_many_rows_are_a_density_and_never_markers(axes, rng):
    y = rng.standard_normal(50_000)
    cert = pacband.certify(y, np.zeros(50_000))
    pacband.plot_band(cert, y, np.zeros(50_000), x=rng.random(50_000), ax=axes)
    assert sum(len(points.get_offsets()) for points in axes.collections if hasattr(points, "get_offsets")) <= 2
    # One of the rows inside, one of those outside.
    assert len(axes.get_images()) == 2
