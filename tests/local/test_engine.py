"""Models are run together, in batches."""

import numpy as np
from numpy.testing import assert_allclose

from pacband.local import LocalKernelRidge, LocalRidge


def draw(dims):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (120, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(120), rng.uniform(-2, 2, (33, dims))


def test_progress_counts_points_times_members():
    X, y, points = draw(2)
    members = LocalKernelRidge(solver="dense").fit_grid(X, y, [{"decay": d} for d in (1, 2)])
    reports = []
    LocalKernelRidge.predict_grid(members, points, progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (66, 66)
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})


def test_mixed_families_can_be_predicted_together():
    X, y, points = draw(2)
    members = [LocalRidge().fit(X, y), LocalKernelRidge().fit(X, y), LocalKernelRidge(n_neighbors=9).fit(X, y)]
    for member, pair in zip(members, LocalRidge.predict_grid(members, points), strict=True):
        assert_allclose(pair, member.predict(points, return_std=True), rtol=1e-12)
