"""The Parzen estimate as a function: a weighted root mean square."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local.norms import Norm
from pacband.local.parzen import fit_parzen, no_features, predict_parzen
from pacband.local.weights import resolve_weight


@pytest.mark.parametrize(
    ("dims", "weight", "n_neighbors", "solver"),
    [(1, "exponential", None, "line"), (2, "gaussian", None, "lowrank"), (2, "exponential", 9, "neighbors")],
)
def test_is_the_weighted_root_mean_square(dims, weight, n_neighbors, solver):
    rng = np.random.default_rng(0)
    X, errors, points = rng.uniform(-1, 1, (50, dims)), rng.standard_normal(50), rng.uniform(-1, 1, (6, dims))
    gamma = resolve_weight(weight, 2.0, n_neighbors)
    model = fit_parzen(X, errors, errors, gamma, Norm(2.0))
    assert model.solver == solver
    weights = gamma(Norm(2.0).distances(points, X))
    expected = np.sqrt(weights @ errors**2 / weights.sum(axis=1))
    assert_allclose(predict_parzen(model, points), expected, rtol=1e-12)


def test_there_are_no_features():
    assert no_features(np.zeros((3, 2))).shape == (3, 0)
