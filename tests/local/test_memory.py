"""Predictions stay within the memory budget."""

import tracemalloc

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone

from pacband.local import LocalKernelRidge, LocalRidge
from pacband.local.memory import cut


def draw(n=150, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize(
    ("estimator", "dims", "n_samples"),
    [
        (LocalKernelRidge(gamma=0.5, n_jobs=1), 1, 500),
        (LocalKernelRidge(gamma=0.5, n_jobs=1, weight="gaussian"), 1, 500),
        (LocalRidge(weight="gaussian"), 3, 2000),
        (LocalRidge(n_neighbors=30), 3, 2000),
        (LocalKernelRidge(n_neighbors=30, n_jobs=1), 3, 2000),
    ],
)
def test_memory_stays_within_the_budget_and_batches_do_not_change_the_answer(estimator, dims, n_samples):
    X, y = draw(n_samples, dims)
    points = draw(3000, dims, seed=1)[0]
    model = clone(estimator).fit(X, y)
    whole = model.predict(points, return_std=True)
    with sklearn.config_context(working_memory=2):
        tracemalloc.start()
        small = model.predict(points, return_std=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert_allclose(small, whole, rtol=1e-10, atol=1e-13)
    # Some 8 MiB of table, results and cache-sized portions stand beside the batches; N × M alone would be 12 to 48.
    assert peak < 10 * 2**20


@pytest.mark.parametrize(
    ("n", "each", "room", "most"), [(10, 3, 7, 100), (10, 3, 700, 4), (10, 100, 7, 5), (0, 1, 1, 1)]
)
def test_slices_cover_all_rows_and_fit(n, each, room, most):
    slices = list(cut(n, each=each, room=room, most=most))
    assert [row for rows in slices for row in range(n)[rows]] == list(range(n))
    for rows in slices:
        size = rows.stop - rows.start
        assert size == 1 or (size <= most and size * each <= room)


@pytest.mark.parametrize(
    ("weight", "decay", "noise", "far"),
    [("exponential", 2.0, 0.2, 1e4), ("exponential", 80.0, 0.0, 1.0), ("gaussian", 12.0, 0.0, 1.0)],
)
def test_points_that_need_all_samples_take_them_in_portions(weight, decay, noise, far):
    """Far outside the samples the weights are computed anew; where the fit is nearly perfect, its residuals are."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40_000, 1))
    y = np.abs(X[:, 0]) + noise * rng.standard_normal(40_000)
    model = LocalRidge(alpha=1e-14, decay=decay, weight=weight).fit(X, y)
    points = np.linspace(0.7, 0.8, 256)[:, None] * far
    with sklearn.config_context(working_memory=64):
        tracemalloc.start()
        model.predict(points, return_std=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 150 * 2**20
