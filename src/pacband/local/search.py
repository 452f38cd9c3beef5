"""Choose the parameters of a local kernel model by its leave-one-out error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.local.kernels import Kernel
from pacband.local.leave_one_out import leave_one_out, others
from pacband.local.locality import Locality
from pacband.local.shared import grouped
from pacband.local.weights import Weight

__all__ = ["MOST_NEIGHBORS", "Search", "Setting"]

# In units of 1 / (median squared distance), k(x, x) and 1 / (median distance).
_GRID = {"gamma": (0.03, 0.2, 1.0, 5.0), "alpha": (1e-4, 3e-3, 0.1, 1.0), "decay": (0.1, 1.0, 5.0, 20.0)}
# What each may be, in the same units.
_LIMITS = {"gamma": (1e-3, 1e2), "alpha": (1e-8, 1e2), "decay": (1e-2, 1e3)}
_COUNT, MOST_NEIGHBORS = 50, 200
# Centres of the whole grid, of its best settings, and of the refinement; the last is less for large systems.
_FIRST, _SECOND, _THIRD = 100, 300, 1000
_WORK = 2e8
_KEPT = 12
# A move must lower the error by this part of it.
_GAIN = 1e-4
_FACTORS = (10.0**0.5, 10.0**0.25, 10.0**0.125)
# A batch of systems has this many numbers, which fit in the cache.
_BATCH = 1 << 18


@dataclass(frozen=True)
class Setting:
    """The parameters that a search chooses; `near` is n_neighbors."""

    gamma: float
    alpha: float
    decay: float
    near: int


@dataclass(frozen=True, eq=False)
class Search:
    """The leave-one-out errors of settings, and the best one.

    Attributes
    ----------
    kernel : Kernel
        Its gamma is replaced by that of each setting.
    weight : Weight
        Its decay is replaced by that of each setting.
    locality : Locality
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    order : ndarray of int
        The samples in random order: errors are computed at the first ones.
    """

    kernel: Kernel
    weight: Weight
    locality: Locality
    X: Floats
    y: Floats
    order: Indices

    def best(self, fixed: Mapping[str, float]) -> tuple[Setting, float]:
        """Return the setting with the least leave-one-out error, and this error (root mean square).

        A grid over all free parameters is tried at 100 samples, its best twelve settings at 300. From the best of them
        on, one parameter at a time is multiplied or divided by 10^½ (`near` by 2) as long as that helps, then each once
        by 10^¼ and by 10^⅛, at up to 1,000 samples. Every comparison is made at the same samples. The neighbours are
        always searched among all samples.

        Parameters
        ----------
        fixed : mapping
            The parameters that are not to be chosen, by their names in `Setting`.
        """
        units, most = self._units(), min(MOST_NEIGHBORS, len(self.y) - 1)
        axes = [
            (fixed[name],) if name in fixed else tuple(units[name] * value for value in values)
            for name, values in _GRID.items()
        ]
        near = min(int(fixed.get("near", _COUNT)), most)
        settings = [Setting(gamma, alpha, decay, near) for gamma, alpha, decay in product(*axes)]
        for centres in (_FIRST, _SECOND):
            errors = self.errors(settings, centres)
            settings = sorted(settings, key=errors.__getitem__)[:_KEPT]
        best = settings[0]
        limits = {name: (units[name] * low, units[name] * high) for name, (low, high) in _LIMITS.items()}
        limits = {name: limit for name, limit in (limits | {"near": (2, most)}).items() if name not in fixed}
        known: dict[tuple[Setting, int], float] = {}
        for factor in _FACTORS:
            best = self._descend(best, limits, factor, known)
        return best, self._error(best, best.near, known)

    def _descend(
        self,
        best: Setting,
        limits: Mapping[str, tuple[float, float]],
        factor: float,
        known: dict[tuple[Setting, int], float],
    ) -> Setting:
        """Move one free parameter at a time as long as the error falls, or once if the factor is small."""
        while True:
            before = best
            for name, (low, high) in limits.items():
                value = getattr(best, name)
                moves = (2 * value, value // 2) if name == "near" else (value * factor, value / factor)
                for moved in (replace(best, **{name: move}) for move in moves if low <= move <= high):
                    near = max(best.near, moved.near)
                    if self._error(moved, near, known) < (1.0 - _GAIN) * self._error(best, near, known):
                        best = moved
                        break
            if best == before or factor < _FACTORS[0]:
                return best

    def _error(self, setting: Setting, near: int, known: dict[tuple[Setting, int], float]) -> float:
        """Return the error of a setting at as many samples as there is time for with `near` neighbours."""
        centres = int(np.clip(_WORK / near**3, 2 * _FIRST, _THIRD))
        if (setting, centres) not in known:
            known[setting, centres] = self.errors([setting], centres)[setting]
        return known[setting, centres]

    def _units(self) -> dict[str, float]:
        """Return typical values of the parameters, from distances of random pairs and the diagonal of the kernel."""
        some = self.X[self.order[:500]]
        squared = np.einsum("nd,nd->n", some - (shifted := np.roll(some, 1, axis=0)), some - shifted)
        norm = self.locality.norm
        lengths = norm.lengths(norm.embed(some) - norm.embed(shifted))
        return {
            "gamma": 1.0 / _typical(squared),
            "decay": 1.0 / _typical(lengths),
            "alpha": float(np.abs(self.kernel.diagonal(some)).mean()) or 1.0,
        }

    def errors(self, settings: Iterable[Setting], n_centres: int) -> dict[Setting, float]:
        """Return the root mean square of the leave-one-out errors at the first samples of `order`, by setting.

        Settings share neighbours, and Gram matrices if they have the same gamma. An error that is not finite is ∞.
        """
        found: dict[Setting, float] = {}
        centres = self.order[:n_centres]
        for same_near in grouped(settings, key=lambda setting: setting.near):
            count = same_near[0].near
            sums = dict.fromkeys(same_near, 0.0)
            step = max(8, _BATCH // (count + 2) ** 2)
            for start in range(0, len(centres), step):
                self._add(sums, centres[start : start + step], count)
            found |= {setting: float(np.sqrt(total / len(centres))) for setting, total in sums.items()}
        return {setting: error if np.isfinite(error) else np.inf for setting, error in found.items()}

    def _add(self, sums: dict[Setting, float], centres: Indices, count: int) -> None:
        near, distances = others(self.locality, self.X, centres, count)
        rows = np.column_stack([near, centres])
        for same_gamma in grouped(sums, key=lambda setting: setting.gamma):
            gram = replace(self.kernel, gamma=same_gamma[0].gamma)(self.X[rows], self.X[rows])
            for same_decay in grouped(same_gamma, key=lambda setting: setting.decay):
                weights = replace(self.weight, decay=same_decay[0].decay, n_neighbors=None).of(distances)
                for setting in same_decay:
                    errors = leave_one_out(gram, weights, self.y[rows], setting.alpha)
                    sums[setting] += float(errors @ errors)


def _typical(distances: Floats) -> float:
    """Return the median of the distances that are not zero, as those of copies are; one if all are."""
    apart = distances[distances > 0.0]
    return float(np.median(apart)) if len(apart) else 1.0
