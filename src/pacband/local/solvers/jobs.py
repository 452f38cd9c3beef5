"""The work of a prediction, cut into jobs that fit the memory budget."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from pacband.core.arrays import Floats
from pacband.local.design import Gram, Regressors
from pacband.local.locality import Locality
from pacband.local.weights import Weight

__all__ = ["Job", "Model", "Piece", "batches", "budget", "grouped"]

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Model:
    """One fitted local model: everything that T(x) and σ̂(x) depend on.

    Members of a family hold the same `locality` and `design` objects wherever their parameters allow it, and
    that identity is what the solvers share work by.

    Attributes
    ----------
    solver : str
        "dense", "lowrank", "line" or "neighbors".
    locality : Locality
        The samples as the norm sees them.
    weight : Weight
        Γ.
    design : Regressors or Gram
        What the fit regresses on.
    alpha : float
        Σ_θ = alpha·I in the basis of the design.
    y : ndarray of shape (n_samples,)
        In units of `unit`.
    unit : float
        The power of two just below max|y|: squares of y neither overflow nor vanish.
    """

    solver: str
    locality: Locality
    weight: Weight
    design: Regressors | Gram
    alpha: float
    y: Floats
    unit: float

    @property
    def floor(self) -> float:
        """The least σ̂: the rounding error of the largest |y|, or the smallest normal number."""
        return max(float(np.finfo(float).eps * np.abs(self.y).max()) * self.unit, float(np.finfo(float).tiny))


# (which member, which rows, T, σ̂²)
Piece: TypeAlias = tuple[int, NDArray[np.intp] | slice, Floats, Floats]
Job: TypeAlias = Callable[[], list[Piece]]


def budget() -> int:
    """How many numbers fit in scikit-learn's `working_memory` (in MiB, `sklearn.set_config`)."""
    return int(get_config()["working_memory"] * 2**20 / 8)


def batches(n: int, *, each: int, room: int, most: int) -> Iterator[slice]:
    """Cut n rows that need `each` numbers of scratch space into slices that fit in `room`, of at most `most` rows."""
    step = max(1, min(most, room // each))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Items of equal key together, in order of first appearance.

    >>> grouped([1, 2, 3, 4], key=lambda n: n % 2)
    [[1, 3], [2, 4]]
    """
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


Member: TypeAlias = tuple[int, Model]
Members: TypeAlias = Sequence[Member]
