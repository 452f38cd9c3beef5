"""The solver of the nearest samples: in θ, or through Gram matrices, whichever is smaller."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import PolynomialFeatures

from pacband.local import LocalKernelRidge, LocalRidge
from pacband.local.fits.dual import fit_dual
from pacband.local.fits.primal import fit_primal
from support.twins import put_in_place


def draw(n=120, dims=2):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(n), rng.uniform(-2, 2, (40, dims))


@pytest.mark.parametrize(("n_neighbors", "fit"), [(4, "fit_dual"), (6, "fit_dual"), (7, "fit_primal")])
def test_the_smaller_system_is_solved_and_both_agree(monkeypatch, n_neighbors, fit):
    X, y, points = draw()
    used = []
    for whole in (fit_dual, fit_primal):
        put_in_place(monkeypatch, whole, lambda *a, f=whole, **k: used.append(f.__name__) or f(*a, **k))
    model = LocalRidge(PolynomialFeatures(2), alpha=0.3, n_neighbors=n_neighbors).fit(X, y)  # six features
    found = model.predict(points, return_std=True)
    assert set(used) == {fit}
    kernel = LocalKernelRidge(
        lambda A, B: PolynomialFeatures(2).fit_transform(A) @ PolynomialFeatures(2).fit_transform(B).T,
        alpha=0.3,
        n_neighbors=n_neighbors,
    )
    assert_allclose(found, kernel.fit(X, y).predict(points, return_std=True), rtol=1e-8)


def test_as_many_neighbours_as_samples_need_no_index():
    X, y, points = draw()
    all_of_them = LocalKernelRidge(solver="neighbors", n_neighbors=500).fit(X, y)
    assert "index" not in vars(all_of_them._model.locality)
    dense = LocalKernelRidge(solver="dense").fit(X, y)
    assert_allclose(all_of_them.predict(points), dense.predict(points), rtol=1e-9)
    assert "index" not in vars(all_of_them._model.locality)
