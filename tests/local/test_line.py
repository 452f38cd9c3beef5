"""Samples on a line: sums that are prepared at fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pacband.local import LocalKernelRidge, LocalRidge
from pacband.local.engine import prepare
from pacband.local.solvers import line


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 1))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 400])
@pytest.mark.parametrize("decay", [0.1, 5.0, 300.0])
def test_any_number_of_samples_gives_the_sums_of_all_of_them(n, decay):
    X, y = draw(n)
    points = np.concatenate([X, np.linspace(-3, 3, 50)[:, None]])
    lines, batched = LocalRidge(decay=decay).fit(X, y), LocalRidge(decay=decay, norm=np.eye(1), n_neighbors=n).fit(X, y)
    assert lines.solver_ == batched.solver_ == "line" or n == 1
    dense = LocalKernelRidge("poly", gamma=1, degree=1, decay=decay, solver="dense").fit(X, y)
    assert_allclose(
        lines.predict(points, return_std=True), dense.predict(points, return_std=True), rtol=1e-6, atol=1e-9
    )


def test_samples_and_points_that_are_equal():
    X, y = np.repeat([[0.0], [1.0], [1.0], [2.0]], 9, axis=0), np.arange(36.0)
    dense = LocalKernelRidge("linear", solver="dense").fit(X, y).predict(X, return_std=True)
    assert_allclose(LocalKernelRidge("linear", solver="line").fit(X, y).predict(X, return_std=True), dense, rtol=1e-9)


def test_points_in_one_block_and_in_all_blocks():
    X, y = draw(900)
    model = LocalKernelRidge(gamma=5, alpha=0.02, decay=3).fit(X, y)
    points = np.random.default_rng(1).uniform(-2.2, 2.2, (600, 1))
    together = np.array(model.predict(points, return_std=True))
    for few in (points[:1], np.sort(points, axis=0)[:20]):
        rows = [int(np.flatnonzero(points[:, 0] == x)[0]) for x in few[:, 0]]
        assert_allclose(model.predict(few, return_std=True), together[:, rows], rtol=1e-9)


def test_sums_of_a_decay_do_not_depend_on_the_family_it_is_prepared_with():
    X, y = draw(500)
    members = LocalKernelRidge(gamma=5).fit_grid(X, y, [{"decay": decay} for decay in (1, 2, 3)])
    for member in members:
        shared = member._model.prepared.pop("line")
        prepare([member._model])
        alone = member._model.prepared["line"]
        assert_array_equal(alone.sides, shared.sides)
        assert shared.sides.base is None  # one member that is kept does not keep the sums of all


def test_a_family_shares_the_blocks_and_the_products(monkeypatch):
    made = []
    of = line._Blocks.of.__func__
    monkeypatch.setattr(
        line._Blocks, "of", classmethod(lambda cls, points: made.append(len(points)) or of(cls, points))
    )
    X, y = draw(300)
    grid = [{"decay": decay, "alpha": alpha} for decay in (1, 2, 3) for alpha in (0.1, 0.2)]
    members = LocalKernelRidge(gamma=5).fit_grid(X, y, grid)
    assert len({id(member._model.design) for member in members}) == 1
    assert made == [300]
    LocalKernelRidge.predict_grid(members, X)
    members[2].predict(X)
    assert made == [300]
