"""The matrix gauge: an ellipsoid and the box around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacband.core.arrays import Floats

__all__ = ["Ellipsoid"]


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid:
    """The gauge sqrt(eᵀ Σ⁻¹ e) and the box around its unit ball, with the half-widths w_k = sqrt(Σ_kk).

    By Cauchy and Schwarz |e_k| ≤ w_k·sqrt(eᵀ Σ⁻¹ e), with equality where the ball touches its box. In floating point
    the right side may be smaller than the left, above all if Σ is badly conditioned. Then a row whose score is γ would
    lie outside the box ± γσ̂w. So the score is the larger of both sides,

        max(sqrt(eᵀ Σ⁻¹ e)/σ̂, |e_1|/(σ̂w_1), …, |e_k|/(σ̂w_k)),

    which is the same number in exact arithmetic. Each of the last terms divides by the very product fl(σ̂w_k) by which
    `pacband.scores.arrays.band` multiplies. Hence a score of at most γ gives fl(|e_k|/fl(σ̂w_k)) ≤ γ for every k. With
    fl(σ̂w_k) as the scale, this is the case of one output, for which rounding γ outwards is enough.

    The norm is computed by a triangular solve. It is backward stable, and its operations are on whole columns, so that
    a row has the same score alone and among others.

    Attributes
    ----------
    triangle : ndarray of shape (k, k)
        C with CCᵀ = Σ, lower triangular.
    widths : ndarray of shape (k,)
        w.
    """

    triangle: Floats
    widths: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Ellipsoid:
        """Factorize a positive definite matrix Σ."""
        return cls(np.asarray(np.linalg.cholesky(matrix)), np.sqrt(np.diag(matrix)))

    def box(self, parts: tuple[Floats, ...]) -> Floats:
        """Return σ̂w of every row, or of all rows at once where σ̂ is one."""
        return parts[0][:, None] * self.widths if parts else self.widths

    def scores(self, errors: Floats, parts: tuple[Floats, ...]) -> Floats:
        """Score one block of errors."""
        columns = np.ascontiguousarray(errors.reshape(len(errors), -1).T)
        squares = np.zeros(len(errors))
        solved: list[Floats] = []
        for row, column in zip(self.triangle, columns, strict=True):
            left = column.copy()
            for factor, before in zip(row, solved, strict=False):
                left -= factor * before
            left /= row[len(solved)]
            solved.append(left)
            squares += left * left
        norm = np.sqrt(squares)
        if parts:
            norm /= parts[0]
        return np.asarray(np.maximum(norm, (np.abs(columns.T) / self.box(parts)).max(axis=1)))
