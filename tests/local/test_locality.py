"""Distances and nearest samples."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pacband.local.locality import Locality
from pacband.local.norms import resolve_norm
from pacband.local.weights import nearest


def test_a_matrix_of_rank_one_is_a_line():
    direction = np.array([1.0, -2.0, 0.5])
    locality = Locality(resolve_norm(np.outer(direction, direction), 3), np.eye(3))
    assert locality.is_line
    assert_allclose(locality.distances(np.zeros((1, 3))), [[1.0, 2.0, 0.5]])


@pytest.mark.parametrize("norm", [1, 2, np.inf])
@pytest.mark.parametrize("dims", [1, 3, 20])
@pytest.mark.parametrize("lattice", [False, True])
def test_index_finds_what_looking_at_all_samples_finds(norm, dims, lattice):
    rng = np.random.default_rng(1)
    X, points = rng.standard_normal((300, dims)), rng.standard_normal((40, dims))
    if lattice:  # many samples at one distance
        X, points = np.round(X), np.round(points)
    locality = Locality(resolve_norm(norm, dims), X)
    rows, distances = locality.nearest(points, 17)
    everything = locality.distances(points)
    assert_array_equal(rows, np.nonzero(nearest(everything, 17))[1].reshape(40, 17))
    assert_allclose(distances, np.take_along_axis(everything, rows, axis=1), rtol=1e-12)


def test_the_index_is_not_saved():
    locality = Locality(resolve_norm(2, 2), np.random.default_rng(2).standard_normal((50, 2)))
    before = locality.nearest(np.zeros((1, 2)), 3)
    assert len(vars(pickle.loads(pickle.dumps(locality)))) == 2
    assert_array_equal(pickle.loads(pickle.dumps(locality)).nearest(np.zeros((1, 2)), 3)[0], before[0])
