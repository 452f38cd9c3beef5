"""Samples on a line with exponential weights: far samples act through two carried sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.design import Regressors
from pacband.local.solvers.jobs import Job, Members, Piece, batches, grouped
from pacband.local.solvers.lowrank import regressors_of
from pacband.local.solvers.primal import Products, Rows, fit_primal

__all__ = ["jobs"]

_ALL = np.empty(0, dtype=np.intp)
_LOST = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class _Line:
    """Sorted samples in blocks, and what each block hears from the samples to its left and right.

    For x between two blocks, Σ_{x_j ≤ e} exp(−λ(x − x_j)) z_j = exp(−λ(x − e)) · Σ_{x_j ≤ e} exp(−λ(e − x_j)) z_j:
    all samples up to the last one e of a block weigh on every later point through one carried row, which moves from
    block to block by one multiplication. A point then meets the samples of its own block and two carried rows, in
    place of all samples, and no exponent is ever positive.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Where each sorted sample stood.
    points : ndarray of shape (n_samples,)
        Sorted.
    products : Products
        Of the sorted samples.
    edges : ndarray of shape (n_blocks + 1,)
        Where the blocks start.
    left, right : ndarray of shape (n_blocks, n_decays, size)
        Carried rows at the last sample before, and the first sample after, each block.
    """

    order: Rows
    points: Floats
    products: Products
    edges: Rows
    decays: Floats
    left: Floats
    right: Floats

    @classmethod
    def of(cls, design: Regressors, points: Floats, decays: Floats) -> _Line:
        order = np.argsort(points, kind="stable")
        points = points[order]
        products = Products(
            Regressors(design.matrix[order], design.centre, design.residual[order], design.phi, design.rotation)
        )
        n_blocks = math.isqrt(len(points) - 1) + 1
        edges = np.linspace(0, len(points), n_blocks + 1).astype(np.intp)
        first, last = points[edges[:-1]], points[edges[1:] - 1]
        left = np.zeros((n_blocks, len(decays), products.size))
        right = np.zeros_like(left)
        for k in range(n_blocks - 1):
            block = slice(edges[k], edges[k + 1])
            left[k + 1] = np.exp(-np.outer(decays, last[k] - points[block])) @ products.table(block)
            if k:
                left[k + 1] += np.exp(-decays * (last[k] - last[k - 1]))[:, None] * left[k]
        for k in range(n_blocks - 1, 0, -1):
            block = slice(edges[k], edges[k + 1])
            right[k - 1] = np.exp(-np.outer(decays, points[block] - first[k])) @ products.table(block)
            if k < n_blocks - 1:
                right[k - 1] += np.exp(-decays * (first[k + 1] - first[k]))[:, None] * right[k]
        return cls(order, points, products, edges, decays, left, right)

    def sums(self, k: int, x: Floats) -> Floats:
        """Packed sums for points x of block k, for every decay: shape (n_decays, len(x), size)."""
        block = slice(self.edges[k], self.edges[k + 1])
        here = self.points[block]
        gaps = np.abs(np.subtract.outer(x, here))
        before = x - self.points[block.start - 1] if k else np.zeros(len(x))
        after = self.points[block.stop] - x if block.stop < len(self.points) else np.zeros(len(x))
        reach = np.column_stack([gaps, before, after])
        rows = np.concatenate([self.products.table(block), np.empty((2, self.products.size))])
        packed = np.empty((len(self.decays), len(x), self.products.size))
        for m, decay in enumerate(self.decays):
            rows[-2], rows[-1] = self.left[k, m], self.right[k, m]
            np.matmul(np.exp(-decay * reach), rows, out=packed[m])
        return packed


def jobs(members: Members, X: Floats, room: int) -> Iterator[Job]:
    """Points sorted into the blocks of the samples; all decays of a design together."""
    for group in grouped(members, key=lambda member: (id(member[1].locality), id(member[1].design))):
        model = group[0][1]
        locality, design = model.locality, regressors_of(model)
        decays = sorted({member[1].weight.decay for member in group})
        line = _Line.of(design, locality.points[:, 0], np.array(decays))
        x = locality.norm.embed(X)[:, 0]
        order = np.argsort(x, kind="stable")
        starts = line.points[line.edges[1:-1]]
        bounds = np.concatenate([[0], np.searchsorted(x[order], starts), [len(x)]])
        each = 3 * len(decays) * line.products.size
        for k in range(len(bounds) - 1):
            for part in batches(bounds[k + 1] - bounds[k], each=each, room=room, most=512):
                yield _job(group, line, k, X, x, order[bounds[k] + part.start : bounds[k] + part.stop])


def _job(group: Members, line: _Line, k: int, X: Floats, x: Floats, place: Rows) -> Job:
    def run() -> list[Piece]:
        design, locality = regressors_of(group[0][1]), group[0][1].locality
        features = design.features(X[place])
        gaps = design.gaps(X[place], features)
        decays = {decay: m for m, decay in enumerate(line.decays)}
        weights = {decays[model.weight.decay]: model.weight for _, model in group}

        def weighted(points: Rows) -> tuple[Floats, Rows]:
            which, where = np.divmod(points, len(place))
            gamma = locality.distances(X[place[where]])
            for m in np.unique(which):
                gamma[which == m] = weights[m](gamma[which == m])
            return gamma, _ALL

        # All decays in one batch: point i under decay m is row m·n + i.
        sums = line.sums(k, x[place]).reshape(-1, line.products.size)
        lost = np.flatnonzero(sums[:, -1] < _LOST)
        if len(lost):
            sums[lost] = line.products.packed(weighted(lost)[0][:, line.order])

        pieces: list[Piece] = []
        for same_alpha in grouped(group, key=lambda member: member[1].alpha):
            chosen = np.array([decays[model.weight.decay] for _, model in same_alpha])
            flat = (chosen[:, None] * len(place) + np.arange(len(place))).ravel()
            whole = len(flat) == len(sums) and bool((np.diff(flat) == 1).all())
            some = sums if whole else sums[flat]

            def chosen_weights(points: Rows, flat: Rows = flat) -> tuple[Floats, Rows]:
                return weighted(flat[points])

            tiled = np.tile(features, (len(chosen), 1))
            fit = fit_primal(
                design,
                tiled,
                same_alpha[0][1].alpha,
                some,
                some[:, -1],
                chosen_weights,
                gaps=np.tile(gaps, len(chosen)),
                located=lambda points: X[place[points % len(place)]],
            )
            prediction, variance = (part.reshape(len(chosen), -1) for part in fit)
            pieces += [(index, place, prediction[m], variance[m]) for m, (index, _) in enumerate(same_alpha)]
        return pieces

    return run
