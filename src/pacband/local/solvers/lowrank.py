"""A basis of p columns: all p × p systems of a batch of points are one matrix product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.design import Regressors
from pacband.local.solvers.jobs import Job, Members, Model, Piece, batches, grouped
from pacband.local.solvers.primal import Products, Rows, fit_primal

__all__ = ["jobs", "regressors_of"]

_ALL = np.empty(0, dtype=np.intp)


def regressors_of(model: Model) -> Regressors:
    """The design of a model whose solver works in θ."""
    assert isinstance(model.design, Regressors)
    return model.design


def jobs(members: Members, X: Floats, room: int) -> Iterator[Job]:
    """Batches of points; distances once a batch, Γ once a weight, sums once a weight and design."""
    products = {id(model.design): Products(regressors_of(model)) for _, model in members}
    numbers = max(table.numbers_per_point for table in products.values())
    for group in grouped(members, key=lambda member: id(member[1].locality)):
        n_samples = len(group[0][1].locality.points)
        for rows in batches(len(X), each=5 * n_samples + numbers, room=room, most=512):
            yield _job(group, products, X[rows], rows)


def _job(group: Members, products: dict[int, Products], X: Floats, place: slice) -> Job:
    def run() -> list[Piece]:
        pieces: list[Piece] = []
        distances = group[0][1].locality.distances(X)
        designs = {id(model.design): regressors_of(model) for _, model in group}
        features = {key: design.features(X) for key, design in designs.items()}
        gaps = {key: design.gaps(X, features[key]) for key, design in designs.items()}
        for same_weight in grouped(group, key=lambda member: member[1].weight):
            weights = same_weight[0][1].weight(distances)

            def weighted(points: Rows, weights: Floats = weights) -> tuple[Floats, Rows]:
                return weights[points], _ALL

            for same_design in grouped(same_weight, key=lambda member: id(member[1].design)):
                key = id(same_design[0][1].design)
                sums, total = products[key].sums(weights)
                for index, model in same_design:
                    fit = fit_primal(
                        designs[key],
                        features[key],
                        model.alpha,
                        sums,
                        total,
                        weighted,
                        gaps=gaps[key],
                        located=lambda points: X[points],
                    )
                    pieces.append((index, place, *fit))
        return pieces

    return run
