"""The dense solver: stacks of small systems, one by one for large ones, never two at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local import LocalKernelRidge
from pacband.local.solvers import SOLVERS


@pytest.mark.parametrize(("n", "most"), [(30, 545), (800, 1)])
def test_systems_are_stacked_while_they_fit_in_the_cache(n, most):
    X = np.random.default_rng(0).uniform(-1, 1, (n, 2))
    model = LocalKernelRidge(solver="dense").fit(X, X[:, 0])._model
    batches = list(SOLVERS["dense"].batches([model], np.zeros((600, 2)), room=1 << 40))
    assert max(len(batch.X) for batch in batches) == most
    assert sum(len(batch.X) for batch in batches) == 600
    assert not SOLVERS["dense"].parallel


def test_samples_without_weight_do_not_enter():
    X = np.array([[0.0], [0.1], [5.0]])
    near = LocalKernelRidge(weight="tricube", solver="dense").fit(X, [1.0, 2.0, 1e6])
    alone = LocalKernelRidge(weight="tricube", solver="dense", kernel="rbf", gamma=1.0).fit(X[:2], [1.0, 2.0])
    assert_allclose(near.predict([[0.05]], return_std=True), alone.predict([[0.05]], return_std=True), rtol=1e-9)
