"""A basis of p features: the p × p systems of all points of a batch are one matrix product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pacband.core.arrays import Floats
from pacband.local.fits.primal import fit_primal
from pacband.local.memory import cut
from pacband.local.model import Model
from pacband.local.shared import grouped
from pacband.local.solvers.solver import Batch, Piece, Solver

__all__ = ["LowRank"]


class LowRank(Solver):
    """One p × p system for each point, from sums over all samples.

    - Prepared at fit: the products of the features of each sample (`Regressors.products`).
    - Memory of a batch: 5M numbers a point for distances and weights, and the sums. A table of products that is too
      large to be kept is computed once a prediction, or in portions.
    """

    def prepare(self, models: Sequence[Model]) -> None:
        """Compute the products of each design."""
        for model in models:
            _ = model.regressors.products

    def batches(self, models: Sequence[Model], X: Floats, room: int) -> Iterator[Batch]:
        """Yield batches of points for the models of each locality, which share the distances."""
        tables = {id(model.design): model.regressors.products.whole_table() for model in models}
        numbers = max(model.regressors.products.numbers_per_point for model in models)
        for group in grouped(models, key=lambda model: id(model.locality)):
            n_samples = len(group[0].locality.points)
            for rows in cut(len(X), each=5 * n_samples + numbers, room=room, most=512):
                yield _Batch(group, tables, X[rows], rows)


@dataclass(frozen=True, eq=False)
class _Batch(Batch):
    models: Sequence[Model]
    tables: Mapping[int, Floats | None]
    X: Floats
    rows: slice

    def solve(self) -> list[Piece]:
        """Compute distances once, features once a design, Γ once a weight, sums once a weight and design."""
        pieces: list[Piece] = []
        distances = self.models[0].locality.distances(self.X)
        designs = {id(model.design): model.regressors for model in self.models}
        points = {key: design.at(self.X) for key, design in designs.items()}
        for same_weight in grouped(self.models, key=lambda model: model.weight):
            weights = same_weight[0].weight(distances)
            for same_design in grouped(same_weight, key=lambda model: id(model.design)):
                design, key = same_design[0].regressors, id(same_design[0].design)
                sums, total = design.products.sums(weights, self.tables[key])
                for model in same_design:
                    fit = fit_primal(design, points[key], model.alpha, sums, total, weights.__getitem__)
                    pieces.append(Piece(model, self.rows, *fit))
        return pieces
