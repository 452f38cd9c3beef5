"""The probability that uniform order statistics cross a boundary, exactly.

Drop N uniform points on (0, 1) and count those at or below t. For times t₁ < … < t_m and counts c₁ ≤ … ≤ c_m,
`crossing_probability` is the probability that the count at some t_j is below c_j.

Conditioned on having N points by time one, a Poisson process of rate N is this count. A convolution with Poisson
weights takes the law of the count from t_j to t_{j+1}. The part of the law below c_{j+1} has crossed there for the
first time. It is multiplied by the chance of ending at N, and removed from the law:

    P(cross) = Σ_j Σ_{c < c_j} f_j(c) · Poisson(N − c; N(1 − t_j)) / Poisson(N; N).

(Noé, 1972, and Moscovich and Nadler, 2017, compute the probability of *not* crossing. Its complement loses all digits
if crossing is rare.) All terms are positive, so that the relative error stays near that of one Poisson
weight, 1e-12, however small the result is. Counts that are improbable enough are treated as crossed: the result is
rounded up.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln

from pacband.core.arrays import Floats

__all__ = ["crossing_probability"]

# From this many products on, a convolution by Fourier transforms is quicker than a direct one. Its error is
# 1e-16 in all (measured), not of each term, so that it serves down to an accuracy of `_TRANSFORMS`.
_MANY = 1 << 20
_TRANSFORMS = 1e-14
# The series of ln k! − ln(√(2πk)·(k/e)^k) in odd powers of 1/k: Stirling's error, exact to 1e-16 from k = 16 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def crossing_probability(n_samples: int, times: Floats, counts: npt.NDArray[np.int64], *, accuracy: float) -> float:
    """Return P{fewer than c_j of N uniform points lie at or below t_j, for some j}.

    The result is at least the true probability and exceeds it by at most twice the `accuracy`, rounding aside.

    Examples
    --------
    >>> # One point or both above 1/2, or both above 1/4: all but both below 1/2 with one of them below 1/4.
    >>> round(crossing_probability(2, np.array([0.25, 0.5]), np.array([1, 2]), accuracy=1e-12), 9)
    0.8125
    """
    # On the condition that N points fall by time one, a chance grows to at most 1/Poisson(N; N) times itself.
    at_end = float(_log_poisson(np.array([n_samples]), n_samples)[0])
    negligible = accuracy * math.exp(at_end) / (2 * len(times))
    low, mass, now, crossed = 0, np.ones(1), 0.0, 0.0
    for time, count in zip(times.tolist(), counts.tolist(), strict=True):
        if time > now:
            shift, weights = _poisson_weights(n_samples * (time - now), negligible)
            mass, low, now = _convolve(mass, weights, accuracy), low + shift, time
        below = min(max(count - low, 0), len(mass))
        if below:
            crossed += float(mass[:below] @ _chance_of_ending(n_samples, np.arange(low, low + below), time, at_end))
        # The count at t is Poisson(Nt). Counts above its window are left out: after a transform they contain only
        # rounding errors.
        most = min(n_samples, _window(n_samples * time, negligible)[1])
        mass, low = mass[below : max(below, most + 1 - low)], low + below
        if not len(mass):
            break
    return min(1.0, crossed + accuracy)


def _window(mean: float, negligible: float) -> tuple[int, int]:
    """Return the first and the last count of a window that a Poisson count leaves with a chance of `negligible`.

    By Bernstein, P(X ≤ μ − x) ≤ exp(−x²/2μ) and P(X ≥ μ + x) ≤ exp(−x²/(2μ + 2x/3)).
    """
    depth = math.log(2.0 / negligible)
    first = max(0, math.floor(mean - math.sqrt(2.0 * depth * mean)))
    return first, math.ceil(mean + depth / 3.0 + math.sqrt(depth * depth / 9.0 + 2.0 * depth * mean))


def _poisson_weights(mean: float, negligible: float) -> tuple[int, Floats]:
    """Return the first count and the probabilities of a window that leaves out a chance of `negligible`."""
    first, last = _window(mean, negligible)
    return first, np.exp(_log_poisson(np.arange(first, last + 1), mean))


def _convolve(mass: Floats, weights: Floats, accuracy: float) -> Floats:
    if accuracy < _TRANSFORMS or len(mass) * len(weights) < _MANY:
        return np.convolve(mass, weights)
    size = len(mass) + len(weights) - 1
    padded = next_fast_len(size, real=True)
    product = irfft(rfft(mass, padded) * rfft(weights, padded), padded)[:size]
    return np.asarray(np.maximum(product, 0.0))


def _chance_of_ending(n_samples: int, counts: npt.NDArray[np.int64], time: float, at_end: float) -> Floats:
    """Return P{N points at time one | c points at t} / P{N points at time one}; the denominator is exp(at_end)."""
    if time >= 1.0:
        return np.where(counts == n_samples, math.exp(-at_end), 0.0)
    return np.asarray(np.exp(_log_poisson(n_samples - counts, n_samples * (1.0 - time)) - at_end))


def _log_poisson(counts: npt.NDArray[np.int64], mean: float) -> Floats:
    """Return ln(e^(−μ) μ^k / k!) by Loader's split, −½ ln 2πk − Stirling's error − (k ln(k/μ) + μ − k).

    The last term is near (k − μ)²/2μ: taken as such it has no large parts to cancel.
    """
    k = np.maximum(counts, 1).astype(np.float64)
    excess = (k - mean) / mean
    deviance = mean * ((1.0 + excess) * np.log1p(excess) - excess)
    logs = -0.5 * np.log(2.0 * math.pi * k) - _stirling_error(k) - deviance
    return np.asarray(np.where(counts == 0, -mean, logs))


def _stirling_error(k: Floats) -> Floats:
    inverse = 1.0 / k
    square = inverse * inverse
    series = np.full_like(k, _STIRLING[-1])
    for coefficient in _STIRLING[-2::-1]:
        series *= square
        series += coefficient
    series *= inverse
    small = k < 16.0
    if not small.any():
        return np.asarray(series)
    direct = gammaln(k + 1.0) - (k + 0.5) * np.log(k) + k - 0.5 * math.log(2.0 * math.pi)
    return np.where(small, direct, series)
