"""The weighting function Γ(x, z): how much a sample at z counts for a prediction at x (Section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive, check_positive_integer
from pacband.exceptions import InvalidInput

__all__ = ["UNDERFLOW", "Weight", "nearest", "resolve_weight"]


# Below the smallest normal number a sum of weights has lost its digits: the row is treated as underflowed.
UNDERFLOW = np.finfo(float).tiny


def _exponential(t: Floats) -> Floats:
    np.negative(t, out=t)
    return np.exp(t, out=t)


def _gaussian(t: Floats) -> Floats:
    np.multiply(t, t, out=t)
    return _exponential(t)


def _epanechnikov(t: Floats) -> Floats:
    np.multiply(t, t, out=t)
    np.subtract(1.0, t, out=t)
    return np.maximum(t, 0.0, out=t)


def _tricube(t: Floats) -> Floats:
    np.subtract(1.0, t * t * t, out=t)
    np.maximum(t, 0.0, out=t)
    return np.multiply(t * t, t, out=t)


# Each takes the scaled distance t = λ‖x − z‖, and overwrites it.
_PROFILES: dict[str, Callable[[Floats], Floats]] = {
    "exponential": _exponential,
    "gaussian": _gaussian,
    "epanechnikov": _epanechnikov,
    "tricube": _tricube,
}


@dataclass(frozen=True)
class Weight:
    """Γ(x, z) as a decreasing function of t = λ‖x − z‖.

    ============== ======================= ==================
    profile        Γ                       reach
    ============== ======================= ==================
    exponential    exp(−t)                 everywhere
    gaussian       exp(−t²)                everywhere
    epanechnikov   max(0, 1 − t²)          ‖x − z‖ < 1/λ
    tricube        max(0, 1 − t³)³         ‖x − z‖ < 1/λ
    a callable     the callable's, at t    the callable's
    ============== ======================= ==================

    With `n_neighbors` = L, Γ is zero beyond the L nearest samples; of samples at exactly the same distance the
    first in training order is taken.

    Where every weight underflows, the weights are divided by the largest one: exp(−λ(d − d_min)), and
    exp(−λ²(d² − d_min²)) for the gaussian. Where no sample is in reach, and for a callable, of which this quotient is
    not known, the nearest samples get weight one. In both cases some sample has weight, and the result is finite.

    Attributes
    ----------
    profile : str or callable
        One of the names above, or a function of the array t.
    decay : float
        λ > 0.
    n_neighbors : int or None
        L.
    """

    profile: str | Callable[[Floats], Any]
    decay: float
    n_neighbors: int | None = None

    def __call__(self, distances: Floats) -> Floats:
        """Return Γ of an array of distances whose rows are the points x: same shape, every row has a positive sum."""
        kept = None
        if self.n_neighbors is not None and self.n_neighbors < distances.shape[1]:
            kept = nearest(distances, self.n_neighbors)
        return self.of(distances, kept)

    def of(self, distances: Floats, kept: NDArray[np.bool_] | None = None) -> Floats:
        """Return Γ where only the samples marked in `kept` have weight."""
        weights = self._values(distances)
        if kept is not None:
            weights *= kept
        lost = weights.sum(axis=1) < UNDERFLOW
        if lost.any():
            far = distances[lost] if kept is None else np.where(kept[lost], distances[lost], np.inf)
            weights[lost] = self._relative(far)
        return weights

    def _values(self, distances: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = distances * self.decay
            if isinstance(self.profile, str):
                return _PROFILES[self.profile](scaled)
        weights = np.array(self.profile(scaled), dtype=np.float64)
        if weights.shape != distances.shape:
            raise InvalidInput(
                f"weight as a callable must keep the shape of the distances {distances.shape}, got {weights.shape}."
            )
        if not np.isfinite(weights).all() or (weights < 0.0).any():
            raise InvalidInput("weight as a callable must return finite numbers >= 0.")
        return weights

    def _relative(self, distances: Floats) -> Floats:
        closest = distances.min(axis=1, keepdims=True)
        if self.profile not in ("exponential", "gaussian"):
            return np.where(distances == closest, 1.0, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            excess = self.decay * (distances - closest)
            if self.profile == "gaussian":
                excess *= self.decay * (distances + closest)
        excess[distances == closest] = 0.0
        relative: Floats = np.exp(-excess)
        return relative


def nearest(distances: Floats, count: int) -> NDArray[np.bool_]:
    """Mark the `count` smallest distances of each row; of equal ones, the first.

    >>> import numpy as np
    >>> nearest(np.array([[3.0, 1.0, 1.0, 1.0]]), 2)
    array([[False,  True,  True, False]])
    """
    last = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
    kept: NDArray[np.bool_] = distances <= last
    for row in np.flatnonzero(kept.sum(axis=1) > count):
        tied = np.flatnonzero(distances[row] == last[row])
        surplus = int(kept[row].sum()) - count
        kept[row, tied[len(tied) - surplus :]] = False
    return kept


def resolve_weight(weight: Any, decay: Any, n_neighbors: Any) -> Weight:
    """Read the parameters `weight`, `decay` and `n_neighbors`.

    >>> import numpy as np
    >>> gamma = resolve_weight("epanechnikov", decay=0.5, n_neighbors=None)
    >>> gamma(np.array([[0.0, 1.0, 4.0]]))
    array([[1.  , 0.75, 0.  ]])
    >>> gamma(np.array([[7.0, 9.0, 8.0]]))
    array([[1., 0., 0.]])
    """
    if not callable(weight) and (not isinstance(weight, str) or weight not in _PROFILES):
        raise InvalidInput(f"weight must be one of {sorted(_PROFILES)} or a callable, got {weight!r}.")
    nearest = None if n_neighbors is None else check_positive_integer("n_neighbors", n_neighbors)
    return Weight(weight, check_positive("decay", decay), nearest)
