"""The L nearest samples of each point: small systems in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.design import Regressors
from pacband.local.fits.dual import fit_dual
from pacband.local.fits.primal import fit_primal
from pacband.local.memory import cut
from pacband.local.model import Model
from pacband.local.shared import grouped
from pacband.local.solvers.solver import Batch, Piece, Solver

__all__ = ["Neighbors"]


class Neighbors(Solver):
    """One system of the L nearest samples for each point; of p features, if these are fewer.

    - Prepared at fit: the index of the samples (`Locality.index`).
    - Memory of a batch: 4 systems and 4 copies of the L samples a point. The systems of a batch take some 4 MiB, which
      fit in the cache.
    """

    def prepare(self, models: Sequence[Model]) -> None:
        """Build the index of each locality."""
        for model in models:
            if _count(model) < len(model.locality.points):
                _ = model.locality.index

    def batches(self, models: Sequence[Model], X: Floats, room: int) -> Iterator[Batch]:
        """Yield batches of points that are near each other, for the models of each locality and L."""
        for group in grouped(models, key=lambda model: (id(model.locality), _count(model))):
            count, order = _count(group[0]), max(_order(model) for model in group)
            each = 4 * (order + 1) ** 2 + 4 * count * (order + X.shape[1] + 4)
            most = max(16, min(512, (1 << 19) // (order + 1) ** 2))
            sweep = group[0].locality.sweep(X)
            for rows in cut(len(X), each=each, room=room, most=most):
                yield _Batch(group, count, X[sweep[rows]], sweep[rows])


def _count(model: Model) -> int:
    n_samples = len(model.locality.points)
    return min(n_samples, model.weight.n_neighbors or n_samples)


def _order(model: Model) -> int:
    """Return the order of the systems of a model: p if it is solved in θ, else L."""
    rank = model.design.matrix.shape[1] if isinstance(model.design, Regressors) else len(model.y)
    return min(int(rank), _count(model))


@dataclass(frozen=True, eq=False)
class _Batch(Batch):
    models: Sequence[Model]
    count: int
    X: Floats
    rows: Indices

    def solve(self) -> list[Piece]:
        """Search neighbours once; compute Gram matrices or products of features once a design."""
        near, distances = self.models[0].locality.nearest(self.X, self.count)
        pieces: list[Piece] = []
        for models in grouped(self.models, key=lambda model: id(model.design)):
            in_theta = _order(models[0]) < self.count
            fit = _Primal(models[0].regressors, self.X, near) if in_theta else _Dual(models[0], self.X, near)
            pieces += [Piece(model, self.rows, *fit(model, model.weight.of(distances))) for model in models]
        return pieces


class _Dual:
    """The fit through the Gram matrices of the neighbours."""

    def __init__(self, model: Model, X: Floats, near: Indices) -> None:
        self.gram = model.design.gram(near)
        self.cross = model.design.cross(X, near)
        self.near = near

    def __call__(self, model: Model, weights: Floats) -> tuple[Floats, Floats]:
        return fit_dual(self.gram, self.cross, weights, model.y[self.near], model.alpha)


class _Primal:
    """The fit in θ from the features of the neighbours."""

    def __init__(self, design: Regressors, X: Floats, near: Indices) -> None:
        self.design = design
        self.points = design.at(X)
        self.samples = np.concatenate([design.matrix[near], design.residual[near][:, :, None]], axis=2)
        self.near = near

    def __call__(self, model: Model, weights: Floats) -> tuple[Floats, Floats]:
        rooted = self.samples * np.sqrt(weights)[:, :, None]
        stack = np.swapaxes(rooted, 1, 2) @ rooted
        total = weights.sum(axis=1)
        return fit_primal(self.design, self.points, model.alpha, stack, total, weights.__getitem__, samples=self.near)
