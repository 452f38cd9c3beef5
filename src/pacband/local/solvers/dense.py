"""One M × M system a point: the paper's formula as it stands, and the reference for the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.solvers.dual import fit_dual
from pacband.local.solvers.jobs import Job, Members, Piece, batches, grouped

__all__ = ["jobs"]


def jobs(members: Members, X: Floats, room: int) -> Iterator[Job]:
    """One point a job where systems are large, a stack of them where they are small."""
    for group in grouped(members, key=lambda member: id(member[1].locality)):
        size = len(group[0][1].locality.points) + 1
        most = max(1, (1 << 19) // size**2)
        for rows in batches(len(X), each=2 * size**2, room=room, most=most):
            yield _job(group, X[rows], rows)


def _job(group: Members, X: Floats, place: slice) -> Job:
    def run() -> list[Piece]:
        pieces: list[Piece] = []
        distances = group[0][1].locality.distances(X)
        for index, model in group:
            weights = model.weight(distances)
            # Samples without weight at any of these points have no part in it.
            active = np.flatnonzero(weights.any(axis=0))[None, :]
            gram, cross = model.design.gram(active), model.design.cross(X, active)
            fit = fit_dual(gram, cross, weights[:, active[0]], model.y[active], model.alpha)
            pieces.append((index, place, *fit))
        return pieces

    return run
