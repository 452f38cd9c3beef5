"""How the errors of a row make one score: the largest, an ellipsoid, an ellipsoid a step, or a share of the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pacband.core.arrays import Floats, as_numbers
from pacband.core.checks import check_choice, check_probability, check_symmetric
from pacband.core.shares import count_of_share
from pacband.exceptions import InvalidInput

__all__ = ["Gauge", "Matrix", "PointGauge", "Share", "as_gauge"]

Matrix: TypeAlias = tuple[tuple[float, ...], ...]
# The gauge of one step: the largest scaled error, an ellipsoid for all steps, or one ellipsoid for each step.
PointGauge: TypeAlias = str | Matrix | tuple[Matrix, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """The gauge of runs that keep at least a share of their H steps within the bound.

    The score of a run is the ⌈share·H⌉-th smallest of the scores of its steps. A run whose score is at most γ̄ has at
    least that share of its steps inside. The share counts as the decimal that you write: 0.99 of 100 steps are 99.

    Parameters
    ----------
    share : float in (0, 1)
        The share of the steps that must be inside.
    of : "max" or positive definite matrix, of shape (k, k) or (H, k, k)
        The gauge of one step: the largest scaled error of its k outputs, or an ellipsoid, as in `certify`.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> error = rng.standard_normal((500, 40))
    >>> cert = pacband.certify(error, 0 * error, gauge=pacband.Share(0.9), eps=0.1, delta=0.01)
    >>> print(cert.promise)
    With confidence 99 %, at least 90 % of future runs satisfy |yₜ − Tₜ(x)| ≤ 1.89723 in at least 90 % of the steps t.
    """

    share: float
    of: Any = "max"

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", check_probability("share", self.share))
        object.__setattr__(self, "of", _point_gauge(self.of))

    def place(self, n_steps: int) -> int:
        """Return the place of the run's score among the scores of its steps in increasing order, from 0."""
        return count_of_share(self.share, n_steps) - 1


Gauge: TypeAlias = str | Matrix | tuple[Matrix, ...] | Share


def as_gauge(gauge: Any) -> Gauge:
    """Return the gauge that a user passed, or raise."""
    return gauge if isinstance(gauge, Share) else _point_gauge(gauge)


def _point_gauge(gauge: Any) -> PointGauge:
    if isinstance(gauge, str):
        check_choice("gauge", gauge, ("max",))
        return gauge
    if isinstance(gauge, Share):
        raise InvalidInput("a Share is a gauge over steps: it cannot be the gauge of one step.")
    matrix = as_numbers("gauge", gauge, runs=True).astype(np.float64)
    if matrix.ndim == 3:
        return tuple(_positive_definite(each, f"gauge of step {step}") for step, each in enumerate(matrix))
    if matrix.ndim == 1 and matrix.size == 1:
        matrix = matrix.reshape(1, 1)
    return _positive_definite(matrix, "gauge")


def _positive_definite(matrix: Floats, name: str) -> Matrix:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(
            f"{name} must be 'max', a square matrix, or one square matrix for each step, got shape {matrix.shape}."
        )
    check_symmetric(name, matrix)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InvalidInput(f"{name} must be positive definite.") from None
    return tuple(tuple(float(value) for value in row) for row in matrix)
