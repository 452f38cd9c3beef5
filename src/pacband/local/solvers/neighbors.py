"""Only the L nearest samples: a batch of small systems, found by an index of the samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.design import Regressors
from pacband.local.solvers.dual import fit_dual
from pacband.local.solvers.jobs import Job, Members, Model, Piece, batches, grouped
from pacband.local.solvers.primal import Rows, fit_primal

__all__ = ["jobs"]


def jobs(members: Members, X: Floats, room: int) -> Iterator[Job]:
    """Batches of points; neighbours once a batch and L, Gram matrices once a batch and kernel."""
    for group in grouped(members, key=lambda member: (id(member[1].locality), _count(member[1]))):
        count = _count(group[0][1])
        order = max(_order(model) for _, model in group)
        each = 4 * (order + 1) ** 2 + 4 * count * (order + X.shape[1] + 4)
        most = max(16, min(512, (1 << 19) // (order + 1) ** 2))  # some 4 MiB of systems: what a cache holds
        sweep = group[0][1].locality.sweep(X)
        for rows in batches(len(X), each=each, room=room, most=most):
            yield _job(group, count, X[sweep[rows]], sweep[rows])


def _count(model: Model) -> int:
    n_samples = len(model.locality.points)
    return min(n_samples, model.weight.n_neighbors or n_samples)


def _in_theta(model: Model) -> bool:
    return isinstance(model.design, Regressors) and model.design.matrix.shape[1] < _count(model)


def _order(model: Model) -> int:
    if isinstance(model.design, Regressors) and _in_theta(model):
        return int(model.design.matrix.shape[1])
    return _count(model)


def _job(group: Members, count: int, X: Floats, place: Rows) -> Job:
    def run() -> list[Piece]:
        pieces: list[Piece] = []
        rows, distances = group[0][1].locality.nearest(X, count)
        for same_design in grouped(group, key=lambda member: id(member[1].design)):
            fit = (_Primal if _in_theta(same_design[0][1]) else _Dual)(same_design[0][1], X, rows)
            for index, model in same_design:
                pieces.append((index, place, *fit(model, model.weight.of(distances))))
        return pieces

    return run


class _Dual:
    def __init__(self, model: Model, X: Floats, rows: Rows) -> None:
        self.gram = model.design.gram(rows)
        self.cross = model.design.cross(X, rows)
        self.rows = rows

    def __call__(self, model: Model, weights: Floats) -> tuple[Floats, Floats]:
        return fit_dual(self.gram, self.cross, weights, model.y[self.rows], model.alpha)


class _Primal:
    def __init__(self, model: Model, X: Floats, rows: Rows) -> None:
        assert isinstance(model.design, Regressors)
        self.design = model.design
        self.features = model.design.features(X)
        self.samples = np.concatenate([model.design.matrix[rows], model.design.residual[rows][:, :, None]], axis=2)
        self.rows = rows

    def __call__(self, model: Model, weights: Floats) -> tuple[Floats, Floats]:
        rooted = self.samples * np.sqrt(weights)[:, :, None]
        stack = np.swapaxes(rooted, 1, 2) @ rooted

        def weighted(points: Rows) -> tuple[Floats, Rows]:
            return weights[points], self.rows[points]

        return fit_primal(self.design, self.features, model.alpha, stack, weights.sum(axis=1), weighted)
