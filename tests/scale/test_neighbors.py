"""The errors at the nearest neighbours."""

import numpy as np

from pacband.scale import NeighborScale
from support.noise import nought


def test_the_signal_is_the_mean_absolute_error_of_the_neighbours(rng):
    X, y = rng.uniform(-1, 1, (60, 1)), rng.standard_normal(60)
    scale = NeighborScale(nought, n_neighbors=7).fit(X, y)
    near = np.argsort(np.abs(X[:, 0] - 0.3))[:7]
    np.testing.assert_allclose(scale.predict([[0.3]]), scale.shrinkage_(np.abs(y[near]).mean(keepdims=True)))


def test_a_row_is_not_its_own_neighbour():
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    scale = NeighborScale(nought, n_neighbors=3).fit(X, y)
    places = scale.transformer_.transform(X)
    for row, others in enumerate(scale._search_others(places, np.arange(20), 3)):
        assert row not in others
        assert np.abs(others - row).max() <= 3
    copies = NeighborScale(nought, n_neighbors=3).fit(np.zeros((20, 1)), y)
    assert copies._search_others(np.zeros((20, 1)), np.arange(20), 3).shape == (20, 3)


def test_many_neighbours_are_chosen_where_the_noise_is_constant(rng):
    X = rng.uniform(-1, 1, (1500, 1))
    smooth = NeighborScale(nought).fit(X, rng.standard_normal(1500))
    rough = NeighborScale(nought).fit(X, np.where(np.sin(40 * X[:, 0]) > 0, 8.0, 1.0) * rng.standard_normal(1500))
    assert rough.n_neighbors_ < 64
    assert smooth.shrinkage_.share < 0.5 < rough.shrinkage_.share
