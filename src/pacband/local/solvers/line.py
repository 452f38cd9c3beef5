"""Samples on a line with exponential weights: far samples enter through sums that are prepared at fit.

The samples are sorted and cut into blocks. For x right of a block whose last sample is e,

    Σ_{x_j ≤ e} exp(−λ(x − x_j)) z_j = exp(−λ(x − e)) · Σ_{x_j ≤ e} exp(−λ(e − x_j)) z_j:

all samples up to e enter through one row of sums, the same for every such x. The row of the next block follows from it
by one multiplication. A point then needs the samples of its own block and two such rows, left and right, in place of
all samples. No exponent is ever positive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.fits.primal import fit_primal
from pacband.local.memory import PORTION, cut
from pacband.local.model import Model
from pacband.local.products import Products
from pacband.local.shared import grouped
from pacband.local.solvers.solver import Batch, Piece, Solver
from pacband.local.weights import UNDERFLOW

__all__ = ["Line"]


class Line(Solver):
    """One p × p system for each point, from sums over two thirds of √M samples and two prepared rows.

    - Prepared at fit: the products of the features (`Regressors.products`), the sorted samples, and for each decay two
      rows of sums for each of 3/2·√M blocks.
    - Memory of a batch: the sums of its points for every decay, and the products of one block.
    """

    def prepare(self, models: Sequence[Model]) -> None:
        """Sort the samples, and sum up both sides of each block for all decays in one pass."""
        fresh = [model for model in models if "line" not in model.prepared]
        for group in grouped(fresh, key=lambda model: (id(model.locality), id(model.design))):
            blocks = _Blocks.of(group[0].locality.points[:, 0])
            decays = sorted({model.weight.decay for model in group})
            sides = dict(zip(decays, _sum_sides(blocks, group[0].regressors.products, decays), strict=True))
            for model in group:
                model.prepared["line"] = _Prepared(blocks, sides[model.weight.decay])

    def batches(self, models: Sequence[Model], X: Floats, room: int) -> Iterator[Batch]:
        """Yield batches of sorted points for the models of each design, which share the products."""
        for group in grouped(models, key=lambda model: (id(model.locality), id(model.design))):
            blocks = _prepared(group[0]).blocks
            by_decay = grouped(group, key=lambda model: model.weight.decay)
            x = group[0].locality.norm.embed(X)[:, 0]
            order = np.argsort(x, kind="stable")
            each = 3 * len(by_decay) * group[0].regressors.products.size
            for part in cut(len(x), each=each, room=room, most=256):
                rows = order[part]
                yield _Batch(by_decay, blocks, X[rows], x[rows], rows)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Sorted samples, cut into 3/2·√M blocks.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The index of each sorted sample among the samples.
    points : ndarray of shape (n_samples,)
        The sorted samples.
    edges : ndarray of shape (n_blocks + 1,)
        Where the blocks start.
    """

    order: Indices
    points: Floats
    edges: Indices

    @classmethod
    def of(cls, points: Floats) -> _Blocks:
        order = np.argsort(points, kind="stable")
        n_blocks = min(len(points), 3 * math.isqrt(len(points)) // 2 + 1)
        return cls(order, points[order], np.linspace(0, len(points), n_blocks + 1).astype(np.intp))

    def __getitem__(self, k: int) -> slice:
        return slice(self.edges[k], self.edges[k + 1])

    def __len__(self) -> int:
        return len(self.edges) - 1

    def split(self, x: Floats) -> Iterator[tuple[int, slice]]:
        """Yield each block that has points of a sorted x, and where they are in x."""
        bounds = np.searchsorted(x, self.points[self.edges[1:-1]])
        bounds = np.concatenate([[0], bounds, [len(x)]])
        for k in np.flatnonzero(np.diff(bounds)):
            yield int(k), slice(bounds[k], bounds[k + 1])

    def distances(self, k: int, x: Floats) -> Floats:
        """Return the distances of points of block k to its samples, and to the samples before and after it."""
        block = self[k]
        here = np.abs(np.subtract.outer(x, self.points[block]))
        before = x - self.points[block.start - 1] if k else np.zeros(len(x))
        after = self.points[block.stop] - x if block.stop < len(self.points) else np.zeros(len(x))
        return np.column_stack([here, before, after])


class _Prepared(NamedTuple):
    """What is kept for a model: its blocks, and for each block the sums of all samples left and right of it."""

    blocks: _Blocks
    sides: Floats


def _prepared(model: Model) -> _Prepared:
    prepared: _Prepared = model.prepared["line"]
    return prepared


def _sum_sides(blocks: _Blocks, products: Products, decays: Sequence[float]) -> list[Floats]:
    """Return, for each decay, the sums at the last sample before and the first sample after each block.

    The decays share the table of each block, and nothing else: the sums of a decay have the same bits whichever other
    decays are prepared with it.

    Returns
    -------
    list of ndarray of shape (n_blocks, 2, size)
        Zero before the first block and after the last one.
    """
    first, last = blocks.points[blocks.edges[:-1]], blocks.points[blocks.edges[1:] - 1]
    inner = np.empty((len(decays), len(blocks), 2, products.size))
    for k in range(len(blocks)):
        points, table = blocks.points[blocks[k]], products.table(blocks.order[blocks[k]])
        distances = np.stack([last[k] - points, points - first[k]])
        for decay, own in zip(decays, inner, strict=True):
            np.matmul(np.exp(-decay * distances), table, out=own[k])
    gaps = np.diff(last, prepend=last[:1]), np.diff(first, append=first[-1:])
    sides = []
    for decay, own in zip(decays, inner, strict=True):
        (ahead, back), side = np.exp(-decay * np.array(gaps)), np.zeros_like(own)
        for k in range(len(blocks) - 1):
            side[k + 1, 0] = own[k, 0] + ahead[k] * side[k, 0]
        for k in range(len(blocks) - 1, 0, -1):
            side[k - 1, 1] = own[k, 1] + back[k] * side[k, 1]
        sides.append(side)
    return sides


@dataclass(frozen=True, eq=False)
class _Batch(Batch):
    """Points in increasing order, and the models of one design, those of one decay together.

    Attributes
    ----------
    by_decay : sequence of sequences of Model
    blocks : _Blocks
    X : ndarray of shape (n, n_features)
        The points.
    x : ndarray of shape (n,)
        The points on the line.
    rows : ndarray of shape (n,)
        Which rows of the whole X they are.
    """

    by_decay: Sequence[Sequence[Model]]
    blocks: _Blocks
    X: Floats
    x: Floats
    rows: Indices

    def solve(self) -> list[Piece]:
        """Fit every decay, and every alpha of it, from the sums of that decay."""
        pieces: list[Piece] = []
        design = self.by_decay[0][0].regressors
        points = design.at(self.X)
        for models, sums in zip(self.by_decay, self._sums(design.products), strict=True):
            weights_of = _Weights(models[0], self.X)
            lost = np.flatnonzero(sums[:, -1] < UNDERFLOW)
            for portion in cut(len(lost), each=len(self.blocks.points), room=PORTION):
                sums[lost[portion]] = design.products.packed(weights_of(lost[portion]))
            for same_alpha in grouped(models, key=lambda model: model.alpha):
                fit = fit_primal(design, points, same_alpha[0].alpha, sums, sums[:, -1], weights_of)
                pieces += [Piece(model, self.rows, *fit) for model in same_alpha]
        return pieces

    def _sums(self, products: Products) -> Floats:
        """Return the packed sums of every decay: shape (n_decays, n, size)."""
        sums = np.empty((len(self.by_decay), len(self.x), products.size))
        for k, part in self.blocks.split(self.x):
            distances = self.blocks.distances(k, self.x[part])
            own = self.blocks.order[self.blocks[k]]
            table = np.empty((len(own) + 2, products.size))
            products.write_table(own, table[:-2])
            for m, models in enumerate(self.by_decay):
                table[-2:] = _prepared(models[0]).sides[k]
                np.matmul(np.exp(-models[0].weight.decay * distances), table, out=sums[m, part])
        return sums


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of all samples at points of a batch, computed for the few points that need them."""

    model: Model
    X: Floats

    def __call__(self, points: Indices) -> Floats:
        return self.model.weight(self.model.locality.distances(self.X[points]))
