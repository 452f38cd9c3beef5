"""One M × M system a point: the paper's formula without changes, and the reference for the other solvers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.fits.dual import fit_dual
from pacband.local.memory import cut
from pacband.local.model import Model
from pacband.local.shared import grouped
from pacband.local.solvers.solver import Batch, Piece, Solver

__all__ = ["Dense"]


class Dense(Solver):
    """One system of all samples for each point.

    - Prepared at fit: nothing beyond the Gram matrix, which is part of the design.
    - Memory of a batch: 2(M + 1)² numbers a point. Large systems are solved one by one, small ones in stacks.
    """

    # One system fills all cores, and two do not fit in the memory of one.
    parallel = False

    def prepare(self, models: Sequence[Model]) -> None:
        """Do nothing."""

    def batches(self, models: Sequence[Model], X: Floats, room: int) -> Iterator[Batch]:
        """Yield batches of points for the models of each locality, which share the distances."""
        for group in grouped(models, key=lambda model: id(model.locality)):
            size = len(group[0].locality.points) + 1
            for rows in cut(len(X), each=2 * size**2, room=room, most=max(1, (1 << 19) // size**2)):
                yield _Batch(group, X[rows], rows)


@dataclass(frozen=True, eq=False)
class _Batch(Batch):
    models: Sequence[Model]
    X: Floats
    rows: slice

    def solve(self) -> list[Piece]:
        distances = self.models[0].locality.distances(self.X)
        return [self._solve(model, model.weight(distances)) for model in self.models]

    def _solve(self, model: Model, weights: Floats) -> Piece:
        # Samples without weight at all of these points do not enter the system.
        active = np.flatnonzero(weights.any(axis=0))[None, :]
        gram, cross = model.design.gram(active), model.design.cross(self.X, active)
        return Piece(model, self.rows, *fit_dual(gram, cross, weights[:, active[0]], model.y[active], model.alpha))
