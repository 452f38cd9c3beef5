"""The weighted sums from which local fits in θ are made."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.memory import budget

__all__ = ["Products"]

# Up to this order, all systems of a batch are one product of Γ with a table; above, one product a point.
_TABLE_ORDER = 160
# A table that is not kept is computed in portions of this many numbers.
_PORTION = 1 << 22


class Products:
    """The weighted sums Σ_j Γ_j z_j z_jᵀ with z_j = (F_j, r_j), and Σ_j Γ_j, for batches of weights.

    For a batch they are ONE matrix product: Γ (points × samples) times the table of the (p+1)(p+2)/2 products
    z_ja z_jb of each sample, with a last column of ones.

    A table of at most a sixteenth of `working_memory` (64 MiB by default) is kept as long as the object lives. A larger
    one is computed again where it is needed.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, p)
        F.
    residual : ndarray of shape (n_samples,)
        r.

    Examples
    --------
    >>> products = Products(np.array([[2.0], [3.0]]), np.array([1.0, -1.0]))
    >>> products.table(np.array([0, 1]))  # F², Fr, r², 1
    array([[ 4.,  2.,  1.,  1.],
           [ 9., -3.,  1.,  1.]])
    >>> products.packed(np.array([[1.0, 0.5]]))
    array([[8.5, 0.5, 1.5, 1.5]])
    """

    def __init__(self, matrix: Floats, residual: Floats) -> None:
        self.samples = np.column_stack([matrix, residual])
        self.order = int(self.samples.shape[1])
        self.size = self.order * (self.order + 1) // 2 + 1
        self.by_table = self.order <= _TABLE_ORDER
        self._kept: Floats | None = None
        if self.by_table and len(self.samples) * self.size <= budget() // 16:
            self._kept = self.table(slice(None))

    @property
    def numbers_per_point(self) -> int:
        """Scratch space of the sums of one point."""
        return self.size if self.by_table else self.order**2 + 2 * int(self.samples.size)

    def table(self, rows: Indices | slice) -> Floats:
        """Return the products of these samples, lower triangle by rows, and a column of ones."""
        if self._kept is not None:
            return self._kept[rows]
        samples = self.samples[rows]
        return self._multiply(samples, np.empty((len(samples), self.size)))

    def write_table(self, rows: Indices, out: Floats) -> None:
        """Write the table of these samples to an array."""
        if self._kept is None:
            self._multiply(self.samples[rows], out)
        else:
            np.take(self._kept, rows, axis=0, out=out, mode="clip")  # "raise" writes to a copy first

    def _multiply(self, samples: Floats, out: Floats) -> Floats:
        start = 0
        for i in range(self.order):
            np.multiply(samples[:, : i + 1], samples[:, i : i + 1], out=out[:, start : start + i + 1])
            start += i + 1
        out[:, start] = 1.0
        return out

    def whole_table(self) -> Floats | None:
        """Return the table of all samples, for one prediction; None if it exceeds a quarter of `working_memory`."""
        if self._kept is None and (not self.by_table or len(self.samples) * self.size > budget() // 4):
            return None
        return self.table(slice(None))

    def sums(self, weights: Floats, whole: Floats | None = None) -> tuple[Floats, Floats]:
        """Return Σ Γ z zᵀ, packed or as a stack, and Σ Γ, for each row of weights.

        Parameters
        ----------
        weights : ndarray of shape (n, n_samples)
        whole : ndarray, optional
            The result of `whole_table`.
        """
        if not self.by_table:
            return self._one_by_one(weights)
        packed = self.packed(weights) if whole is None else weights @ whole
        return packed, packed[:, -1]

    def packed(self, weights: Floats) -> Floats:
        """Return the sums of table rows, shape (n, size); the last column is Σ Γ."""
        n_samples = len(self.samples)
        step = n_samples if self._kept is not None else max(64, min(budget() // 4, _PORTION) // self.size)
        packed = weights[:, :step] @ self.table(slice(0, step))
        for start in range(step, n_samples, step):
            packed += weights[:, start : start + step] @ self.table(slice(start, start + step))
        return packed

    def _one_by_one(self, weights: Floats) -> tuple[Floats, Floats]:
        stack = np.empty((len(weights), self.order, self.order))
        for roots, matrix in zip(np.sqrt(weights), stack, strict=True):
            active = roots > 0.0
            rows = self.samples[active] * roots[active, None]
            np.matmul(rows.T, rows, out=matrix)
        return stack, weights.sum(axis=1)
