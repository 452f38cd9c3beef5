"""Bounds to compare with: what the paper sets its method against.

`markov_bound` and `gaussian_bound` have **no** finite-sample guarantee: they hold only if the standard deviation they
are given is the true one (and, for the second, if the errors are Gaussian), which data alone cannot show.
`largest_error` has a guarantee, and a wide bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from pacband.certificate import Certificate
from pacband.certification import certify
from pacband.core.checks import check_probability

__all__ = ["gaussian_bound", "largest_error", "markov_bound"]


def markov_bound(sigma: npt.ArrayLike, eps: float = 0.05) -> npt.NDArray[np.float64]:
    """Return σ(x)/sqrt(ε), by Markov's inequality for (y − T(x))².

    Not certified: it holds if σ² is the true mean squared error at x, and then for any distribution of the
    errors; an estimate of σ that is too small makes it fail. Usually far too wide.

    Examples
    --------
    >>> markov_bound([1.0, 2.0], eps=0.04)
    array([ 5., 10.])
    """
    return np.asarray(sigma, dtype=np.float64) / math.sqrt(check_probability("eps", eps))


def gaussian_bound(sigma: npt.ArrayLike, eps: float = 0.05) -> npt.NDArray[np.float64]:
    """Return γ_ε·σ(x) with γ_ε = −Φ⁻¹(ε/2), 1.96 at ε = 0.05.

    Not certified: it holds if the errors are Gaussian with mean zero and σ is their true standard deviation.

    Examples
    --------
    >>> gaussian_bound([1.0, 2.0]).round(2)
    array([1.96, 3.92])
    """
    return np.asarray(sigma, dtype=np.float64) * -float(ndtri(check_probability("eps", eps) / 2))


def largest_error(
    y: Any, y_pred: Any, scale: Any = None, *, eps: float = 0.05, delta: float = 1e-6, **options: Any
) -> Certificate:
    """Return the certificate of the largest calibration error (Tempo, Bai and Dabbene, 1997).

    Certified: with N ≥ ln(1/δ)/ε rows it holds as any certificate does. But the bound grows with N, where that
    of `certify` converges: more data make it wider. It is `certify(..., rule="maximum")`.

    Examples
    --------
    >>> largest_error(range(300), [0] * 300).gamma
    299.0
    """
    return certify(y, y_pred, scale, eps=eps, delta=delta, rule="maximum", **options)
