"""The paper's example: y = (10 + n₁)x + 10 sin(4x) + 5 + n₂, where the distribution of the error is known.

x is uniform on [−2.5, 2.5]; n₁ and n₂ are Gaussian with mean zero and variances 7 and 3. Given x, the error of the best
predictor T(x) = 10x + 10 sin(4x) + 5 is Gaussian with variance 7x² + 3. So the true violation probability of any bound
can be computed and compared with the promise.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive_integer, check_probability

__all__ = ["paper_bound", "paper_predictor", "paper_sample", "paper_scale", "paper_violation"]


HALF_RANGE = 2.5
VARIANCE_SLOPE = 7.0
VARIANCE_OFFSET = 3.0


def paper_sample(n_samples: int, *, random_state: Any = None) -> tuple[Floats, Floats]:
    """Draw (X, y) from the paper's example; X has shape (n_samples, 1).

    `random_state` is a seed or a `numpy.random.Generator`.

    Examples
    --------
    >>> X, y = paper_sample(3, random_state=0)
    >>> X.shape, y.shape
    ((3, 1), (3,))
    """
    rng = np.random.default_rng(random_state)
    n_samples = check_positive_integer("n_samples", n_samples)
    x = rng.uniform(-HALF_RANGE, HALF_RANGE, n_samples)
    slope_noise = np.sqrt(VARIANCE_SLOPE) * rng.standard_normal(n_samples)
    offset_noise = np.sqrt(VARIANCE_OFFSET) * rng.standard_normal(n_samples)
    return x[:, None], paper_predictor(x) + slope_noise * x + offset_noise


def paper_predictor(X: npt.ArrayLike) -> Floats:
    """Return the best prediction T(x) = 10x + 10 sin(4x) + 5."""
    x = _column(X)
    return np.asarray(10.0 * x + 10.0 * np.sin(4.0 * x) + 5.0)


def paper_scale(X: npt.ArrayLike) -> Floats:
    """Return the true standard deviation of the error, σ(x) = sqrt(7x² + 3)."""
    return np.asarray(np.sqrt(VARIANCE_SLOPE * _column(X) ** 2 + VARIANCE_OFFSET))


def paper_bound(X: npt.ArrayLike, eps: float = 0.05) -> Floats:
    """Return the sharpest bound at every x. It needs the true distribution, which is unknown in practice.

    P{|y − T(x)| > b(x)} = ε with b(x) = −Φ⁻¹(ε/2)·σ(x): 1.96·sqrt(7x² + 3) at ε = 0.05.
    """
    return -float(ndtri(check_probability("eps", eps) / 2)) * paper_scale(X)


def paper_violation(bound: Any, *, n_nodes: int = 200) -> float:
    """Return the true violation probability P{|y − T(x)| > bound(x)}, by Gauss-Legendre quadrature over x.

    `bound` is a number or a function of x.

    Examples
    --------
    >>> round(paper_violation(paper_bound), 12)
    0.05
    """
    nodes, weights = _quadrature(n_nodes)
    x = HALF_RANGE * nodes
    width = bound(x) if callable(bound) else np.full_like(x, bound)
    # The sum of the weights is two, and there are two tails: both factors cancel.
    return float(np.dot(weights, ndtr(-width / paper_scale(x))))


@cache
def _quadrature(n_nodes: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return nodes, weights


def _column(X: npt.ArrayLike) -> Floats:
    x = np.asarray(X, dtype=np.float64)
    return x[:, 0] if x.ndim == 2 else x
