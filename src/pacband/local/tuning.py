"""The parameters of a local kernel model that are "loo": read, checked and chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from pacband.core.arrays import Floats
from pacband.core.blas_threads import one_blas_thread
from pacband.core.checks import check_positive
from pacband.exceptions import InvalidInput
from pacband.local.kernels import resolve_kernel
from pacband.local.leave_one_out import different_samples
from pacband.local.locality import Locality
from pacband.local.search import MOST_NEIGHBORS, Search
from pacband.local.weights import resolve_weight

__all__ = ["LOO", "Tunable", "has_gamma", "is_loo"]

LOO = "loo"


def is_loo(value: Any) -> bool:
    """Whether a parameter is to be chosen by leave-one-out errors."""
    return isinstance(value, str) and value == LOO


def has_gamma(kernel: Any) -> bool:
    """Whether a kernel uses the parameter gamma."""
    return isinstance(kernel, str) and kernel in ("poly", "rbf", "sigmoid")


@dataclass(frozen=True)
class Tunable:
    """The parameters that may be "loo", and the error of those in use if one was."""

    gamma: Any
    alpha: Any
    decay: Any
    n_neighbors: Any
    error: float | None = None

    @property
    def names(self) -> list[str]:
        """The parameters that are "loo"."""
        return [name for name in ("gamma", "alpha", "decay", "n_neighbors") if is_loo(getattr(self, name))]

    def choose(
        self, form: tuple[Any, Any, Any], profile: Any, solver: Any, locality: Locality, X: Floats, y: Floats, seed: Any
    ) -> Tunable:
        """Return the parameters in use, after a search for those that are "loo".

        Parameters
        ----------
        form : tuple
            The parameters kernel, degree and coef0.
        profile, solver
            The parameters weight and solver.
        locality : Locality
        X, y : ndarray
            The samples.
        seed
            The parameter random_state.
        """
        free, (kernel, degree, coef0) = self.names, form
        if not free:
            return self
        kept = different_samples(X, y)
        if len(kept) < 3:
            raise InvalidInput(
                f"{free[0]}='loo' needs at least 3 different samples, got {len(kept)} (n_samples={len(y)})."
            )
        if "gamma" in free and not has_gamma(kernel):
            raise InvalidInput(f"gamma='loo' needs kernel 'poly', 'rbf' or 'sigmoid', got {kernel!r}.")
        if "n_neighbors" in free and solver in ("line", "dense"):
            raise InvalidInput(f"n_neighbors='loo' needs solver 'auto', 'lowrank' or 'neighbors', got {solver!r}.")
        # The search sees each sample once. With k copies of each, alpha and n_neighbors are k times as large.
        copies = len(y) / len(kept)
        # Read the given parameters, each with a stand-in for one that is not given.
        shape = resolve_kernel(kernel, None if "gamma" in free else self.gamma, degree, coef0, X)
        count = None if "n_neighbors" in free else self.n_neighbors
        weight = resolve_weight(profile, 1.0 if "decay" in free else self.decay, count)
        fixed: dict[str, float] = {} if "gamma" in free else {"gamma": shape.gamma}
        if "alpha" not in free:
            fixed["alpha"] = check_positive("alpha", self.alpha) / copies
        if "decay" not in free:
            fixed["decay"] = weight.decay
        if "n_neighbors" not in free:
            given = weight.n_neighbors
            fixed["near"] = MOST_NEIGHBORS if given is None else max(1, round(given / copies))
        if len(kept) < len(y):
            locality, X, y = Locality(locality.norm, X[kept]), X[kept], y[kept]
        order = check_random_state(seed).permutation(len(y))
        # Threads inside small factorizations only wait for each other.
        with one_blas_thread():
            found, error = Search(shape, weight, locality, X, y, order).best(fixed)
        if "n_neighbors" in free:
            count = round(copies * found.near) if found.near < len(y) - 1 else None
        gamma = found.gamma if "gamma" in free else self.gamma
        alpha = found.alpha * copies if "alpha" in free else self.alpha
        return Tunable(gamma, alpha, found.decay, count, error)
