"""How a row becomes a score: one rule, the same at calibration and at prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pacband.core.arrays import as_numbers
from pacband.core.checks import check_choice, check_positive, check_symmetric
from pacband.exceptions import InvalidInput, InvalidScale

__all__ = ["SCALE_KINDS", "Matrix", "ScoreRule", "scale_kind"]

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

SIDES = ("both", "upper", "lower")
# The side of a rule for own scores: the row is its score, and no error is computed.
OWN = "own"
POLICIES = ("raise", "violate")
# How rows are scored, by the number of parts that the scale has: none, σ̂, or the pair (σ̂⁻, σ̂⁺).
SCALE_KINDS = ("none", "symmetric", "asymmetric")


def scale_kind(scale: Any) -> str:
    """Return the kind of a scale that a user passed: None, one, or a tuple (lower, upper)."""
    return SCALE_KINDS[0 if scale is None else 2 if isinstance(scale, tuple) else 1]


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """The options that decide the score of a row.

    `pacband.scores.arrays` evaluates the rule in numpy, `pacband.scores.expressions` in any dataframe engine, to the
    same bits.

    Attributes
    ----------
    side : {"both", "upper", "lower", "own"}
        Which errors count; "own" if the user computes the scores.
    gauge : "max" or tuple of tuples of float
        For several outputs: the largest scaled error, or the norm of a positive definite matrix.
    min_scale : float or None
        The declared floor of σ̂, used where σ̂ is below it or NaN.
    nonfinite : {"raise", "violate"}
        Whether a NaN or infinite prediction is refused, or counted as an infinite error.
    """

    side: str = "both"
    gauge: str | Matrix = "max"
    min_scale: float | None = None
    nonfinite: str = "raise"

    @classmethod
    def create(cls, *, side: Any, gauge: Any, min_scale: Any, nonfinite: Any) -> ScoreRule:
        """Build the rule from what a user passed, or raise."""
        check_choice("side", side, SIDES)
        check_choice("nonfinite", nonfinite, POLICIES)
        if isinstance(gauge, str):
            check_choice("gauge", gauge, ("max",))
        else:
            if side != "both":
                raise InvalidInput(f"a matrix gauge has no sides: side must be 'both', got {side!r}.")
            gauge = _positive_definite(gauge)
        if min_scale is not None:
            min_scale = check_positive("min_scale", min_scale, error=InvalidScale)
        return cls(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite)

    @classmethod
    def of_own_scores(cls, nonfinite: Any) -> ScoreRule:
        """Build the rule for scores that the user computes, or raise."""
        check_choice("nonfinite", nonfinite, POLICIES)
        return cls(side=OWN, nonfinite=nonfinite)

    @property
    def own(self) -> bool:
        """Whether the user computes the scores."""
        return self.side == OWN

    @property
    def matrix(self) -> Matrix | None:
        """The matrix of the gauge, or None where the gauge is "max"."""
        return None if isinstance(self.gauge, str) else self.gauge


def _positive_definite(gauge: Any) -> Matrix:
    matrix = as_numbers("gauge", gauge).astype(np.float64)
    if matrix.ndim == 1 and matrix.size == 1:
        matrix = matrix.reshape(1, 1)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"gauge must be 'max' or a square matrix, got shape {matrix.shape}.")
    check_symmetric("gauge", matrix)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InvalidInput("gauge must be positive definite.") from None
    return tuple(tuple(float(value) for value in row) for row in matrix)
