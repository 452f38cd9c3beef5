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
    triangle : ndarray of shape (k, k) or (H, k, k)
        C with CCᵀ = Σ, lower triangular: one for all steps, or one for each of H steps.
    widths : ndarray of shape (k,) or (H, k)
        w.
    """

    triangle: Floats
    widths: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Ellipsoid:
        """Factorize a positive definite matrix Σ, or one for each step."""
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        return cls(np.asarray(np.linalg.cholesky(matrix)), np.sqrt(diagonal))

    def box(self, parts: tuple[Floats, ...]) -> Floats:
        """Return σ̂w of every row and step, or of all rows at once where σ̂ is one."""
        return parts[0][..., None] * self.widths if parts else self.widths

    def scores(self, errors: Floats, parts: tuple[Floats, ...]) -> Floats:
        """Score one block of errors of shape (n,) or (n, k): one score a row. Of (n, H, k): one a row and step."""
        errors = errors[:, None] if errors.ndim == 1 else errors
        columns = np.ascontiguousarray(np.moveaxis(errors, -1, 0))
        squares = np.zeros(columns.shape[1:])
        solved: list[Floats] = []
        for output, column in enumerate(columns):
            left = column.copy()
            for before, known in enumerate(solved):
                left -= self.triangle[..., output, before] * known
            left /= self.triangle[..., output, output]
            solved.append(left)
            squares += left * left
        norm = np.sqrt(squares)
        if parts:
            norm /= parts[0]
        return np.asarray(np.maximum(norm, (np.abs(errors) / self.box(parts)).max(axis=-1)))
