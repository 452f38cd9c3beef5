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
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_random_state

from pacband.core.arrays import Floats, blocks

__all__ = ["SmoothProcess", "evidence"]

# More lengths than this cannot be learnt from so few rows. With more features, one length serves all of them.
_MOST_LENGTHS = 30
# The hyper-parameters are searched on so many rows first. A start on fewer rows ends at worse ones: with a length for
# each feature, 100 rows can be interpolated without noise, and a search on more rows does not leave that optimum.
_FIRST_ROWS = 500
# Covariances are computed for so many rows at once: with 8,000 known rows they take 16 MB.
_ROWS_AT_ONCE = 256
# How many evaluations of the evidence a search takes, as measured: for each step, and to start.
_STEP, _START = 1.3, 3.0
# Bounds of the size of the function, of the lengths and of the noise, for features and a target of unit variance.
# The least noise is that of a simulator, 0.01 % of the standard deviation of the target. With a thousandth of this
# variance, a covariance of thousands of rows could be singular in double precision.
_SIZES, _LENGTHS, _NOISES = (1e-2, 1e3), (1e-1, 1e3), (1e-8, 1e1)


class SmoothProcess(RegressorMixin, BaseEstimator):
    r"""Gaussian process regression of standardised features and target, at a bounded cost.

    T(x) is the posterior mean for y = f(x) + noise with covariance

    .. math::

        \mathrm{cov}(f(x), f(z)) = s\, k(d), \qquad d^2 = \sum_j (x_j - z_j)^2 / ℓ_j^2.

    The size s, the lengths ℓ and the variance of the noise maximise the `evidence` (Rasmussen, Williams 2006, 5.4.1).

    Parameters
    ----------
    n_tune : int
        The hyper-parameters are estimated on at most this many rows; if these are more than 500, after a first search
        on 500 of them.
    n_most : int
        The process is conditioned on at most this many rows, because its cost grows with their cube.
    max_iter : int
        Steps of each search for the hyper-parameters. Further steps rarely change the predictions.
    kernel : {"gaussian", "rational", "matern"}
        k(d) = exp(−d²/2), whose functions are smooth and vary at one length; the rational quadratic kernel
        (1 + d²/4)⁻², whose functions are smooth and vary at many lengths; or the Matérn kernel (1 + √3 d) exp(−√3 d),
        whose functions have one derivative only.
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
        max_iter: int = 15,
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
        n_lengths = X.shape[1] if X.shape[1] <= _MOST_LENGTHS else 1
        logs = np.log([1.0, *[math.sqrt(X.shape[1])] * n_lengths, 0.1])
        bounds = np.log([_SIZES, *[_LENGTHS] * n_lengths, _NOISES])
        for n_few in self._searches(len(y)):
            data, options = (X[rows[:n_few]], y[rows[:n_few]], self.kernel), {"maxiter": self.max_iter}
            logs = minimize(evidence, logs, data, "L-BFGS-B", jac=True, bounds=bounds, options=options).x
        self.size_, self.lengths_, self.noise_ = _unpack(logs, X.shape[1])
        known = rows[: self.n_most]
        self.known_ = X[known] / self.lengths_
        covariance = np.empty((len(known), len(known)))
        for part in blocks(len(known), size=_ROWS_AT_ONCE):
            covariance[part] = self._covariance(self.known_[part])
        covariance.flat[:: len(known) + 1] += self.noise_
        # The transpose, which is equal, has the order of columns that LAPACK overwrites.
        self.weights_ = cho_solve(cho_factor(covariance.T, lower=True, overwrite_a=True), y[known])
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the posterior mean."""
        scaled = np.asarray(X, dtype=np.float64) / self.lengths_
        parts = blocks(len(scaled), size=_ROWS_AT_ONCE)
        # Not a product of BLAS, which adds up one row in another order than many: the weights are large and cancel.
        return np.concatenate([(self._covariance(scaled[rows]) * self.weights_).sum(axis=1) for rows in parts])

    def shorten(self, n_rows: int) -> tuple[SmoothProcess, float]:
        """Return a process whose fit to so many rows is short, and how many times as long that of this one takes.

        On tables of 250 to 5,000 rows the estimate is 0.7 to 1.4 times the time.
        """
        short = clone(self).set_params(n_most=self.n_tune, max_iter=1)
        return short, self._cost(n_rows) / short._cost(n_rows)

    def _searches(self, n_rows: int) -> list[int]:
        """Return how many rows each search for the hyper-parameters uses."""
        n_tune = min(self.n_tune, n_rows)
        return [*([_FIRST_ROWS] if n_tune > _FIRST_ROWS else []), n_tune]

    def _cost(self, n_rows: int) -> float:
        """Return how many evaluations of the evidence on all rows of the last search a fit is worth.

        An evaluation grows with the cube of the rows. To condition on r times as many rows is worth r²: a solution
        takes fewer operations than an evaluation, and more rows are worked on faster.
        """
        sizes = self._searches(n_rows)
        evaluations = sum((size / sizes[-1]) ** 3 for size in sizes) * (_START + _STEP * self.max_iter)
        return evaluations + (min(self.n_most, n_rows) / sizes[-1]) ** 2

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


def _rational(squares: Floats) -> tuple[Floats, Floats]:
    """Return k and −2 ∂k/∂d², of squared distances."""
    roots = 1.0 / (1.0 + squares / 4.0)
    values = roots**2
    return values, values * roots


def _matern(squares: Floats) -> tuple[Floats, Floats]:
    """Return k and −2 ∂k/∂d², of squared distances."""
    distances = np.sqrt(3.0 * squares)
    tails = np.exp(-distances)
    return (1.0 + distances) * tails, 3.0 * tails


_KERNELS = {"gaussian": _gaussian, "rational": _rational, "matern": _matern}


def _unpack(logs: Floats, n_features: int) -> tuple[float, Floats, float]:
    values = np.exp(logs)
    return float(values[0]), np.broadcast_to(values[1:-1], n_features), float(values[-1])
