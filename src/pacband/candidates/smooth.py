"""A Gaussian process with one length for each feature: sharp if y is a continuous function of few features.

Trees need many rows to follow such a surface. A process needs few, and its lengths show which features matter.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from pacband.core.arrays import Floats, blocks

__all__ = ["SmoothProcess", "evidence"]

# More lengths than this cannot be learnt from so few rows. With more features, one length serves all of them.
_MOST_LENGTHS = 30
# Bounds of the size of the function, of the lengths and of the noise, for features and a target of unit variance.
_SIZES, _LENGTHS, _NOISES = (1e-2, 1e3), (1e-1, 1e3), (1e-4, 1e1)


class SmoothProcess(RegressorMixin, BaseEstimator):
    r"""Gaussian process regression of standardised features and target, at a bounded cost.

    T(x) is the posterior mean for y = f(x) + noise with covariance

    .. math::

        \mathrm{cov}(f(x), f(z)) = s\, k(d), \qquad d^2 = \sum_j (x_j - z_j)^2 / ℓ_j^2.

    The size s, the lengths ℓ and the variance of the noise maximise the `evidence` (Rasmussen, Williams 2006, 5.4.1).

    Parameters
    ----------
    n_tune : int
        The hyper-parameters are estimated on at most this many rows.
    n_most : int
        The process is conditioned on at most this many rows, because its cost grows with their cube.
    max_iter : int
        Steps of the search for the hyper-parameters.
    kernel : {"gaussian", "matern"}
        k(d) = exp(−d²/2), whose functions are smooth; or the Matérn kernel (1 + √3 d) exp(−√3 d), whose functions have
        one derivative only.
    random_state : int, RandomState or None
        Seeds the draw of the rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (300, 3))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(300)
    >>> process = SmoothProcess(random_state=0).fit(X, y)
    >>> bool(process.lengths_[0] < 2 < process.lengths_[1:].min())
    True
    """

    def __init__(
        self,
        n_tune: int = 500,
        n_most: int = 3000,
        *,
        max_iter: int = 100,
        kernel: str = "gaussian",
        random_state: Any = None,
    ) -> None:
        self.n_tune = n_tune
        self.n_most = n_most
        self.max_iter = max_iter
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: Floats, y: Floats) -> Self:
        """Estimate the hyper-parameters on few rows, and condition on more."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        rows = check_random_state(self.random_state).permutation(len(y))
        tune, known = rows[: self.n_tune], rows[: self.n_most]
        n_lengths = X.shape[1] if X.shape[1] <= _MOST_LENGTHS else 1
        start = np.log([1.0, *[math.sqrt(X.shape[1])] * n_lengths, 0.1])
        bounds = np.log([_SIZES, *[_LENGTHS] * n_lengths, _NOISES])
        found = minimize(
            evidence,
            start,
            args=(X[tune], y[tune], self.kernel),
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter},
        )
        self.size_, self.lengths_, self.noise_ = _unpack(found.x, X.shape[1])
        self.known_ = X[known] / self.lengths_
        covariance = self._covariance(self.known_)
        covariance.flat[:: len(known) + 1] += self.noise_
        self.weights_ = cho_solve(cho_factor(covariance, lower=True, overwrite_a=True), y[known])
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the posterior mean."""
        scaled = np.asarray(X, dtype=np.float64) / self.lengths_
        return np.concatenate([self._covariance(scaled[rows]) @ self.weights_ for rows in blocks(len(scaled))])

    def _covariance(self, scaled: Floats) -> Floats:
        return self.size_ * _KERNELS[self.kernel](cdist(scaled, self.known_, "sqeuclidean"))[0]


def evidence(logs: Floats, X: Floats, y: Floats, kernel: str = "gaussian") -> tuple[float, Floats]:
    """Return the negative log-likelihood of (s, ℓ, noise), given as logs, and its gradient.

    With K the covariance of y and G = K⁻¹ − K⁻¹y yᵀK⁻¹, its derivative along K' is tr(G K')/2. Along log ℓ_j, K' is
    κ(d)(z_aj − z_bj)² with z = x/ℓ and κ = −2s ∂k/∂d². So the derivative is half of Σ W_ab (z_aj − z_bj)² with
    W = G∘κ, which is Σ_a (W1)_a z_aj² − zⱼᵀ W zⱼ: no array of n × n × features is needed.
    """
    size, lengths, noise = _unpack(logs, X.shape[1])
    scaled = X / lengths
    values, slopes = _KERNELS[kernel](cdist(scaled, scaled, "sqeuclidean"))
    covariance = size * values
    covariance.flat[:: len(y) + 1] += noise
    factor, _ = cho_factor(covariance, lower=True, overwrite_a=True)
    alpha = cho_solve((factor, True), y)
    loss = 0.5 * y @ alpha + np.log(np.diag(factor)).sum() + 0.5 * len(y) * math.log(2.0 * math.pi)
    inverse, _ = dpotri(factor, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    gain = inverse - np.outer(alpha, alpha)
    weighted = size * gain * slopes
    by_feature = weighted.sum(axis=1) @ scaled**2 - np.einsum("aj,aj->j", scaled, weighted @ scaled)
    by_length = by_feature if len(logs) == X.shape[1] + 2 else by_feature.sum(keepdims=True)
    by_size = 0.5 * size * np.vdot(gain, values)
    return float(loss), np.concatenate([[by_size], by_length, [0.5 * noise * np.trace(gain)]])


def _gaussian(squares: Floats) -> tuple[Floats, Floats]:
    """Return k and −2 ∂k/∂d², of squared distances."""
    values = np.exp(-0.5 * squares)
    return values, values


def _matern(squares: Floats) -> tuple[Floats, Floats]:
    """Return k and −2 ∂k/∂d², of squared distances."""
    distances = np.sqrt(3.0 * squares)
    tails = np.exp(-distances)
    return (1.0 + distances) * tails, 3.0 * tails


_KERNELS = {"gaussian": _gaussian, "matern": _matern}


def _unpack(logs: Floats, n_features: int) -> tuple[float, Floats, float]:
    values = np.exp(logs)
    return float(values[0]), np.broadcast_to(values[1:-1], n_features), float(values[-1])
