"""Which solver a local model uses: the given one, or the quickest one that fits it."""

from __future__ import annotations

from typing import Any

from pacband.exceptions import InvalidInput
from pacband.local.locality import Locality
from pacband.local.weights import Weight

__all__ = ["check_solver", "choose_for_features", "uses_few"]

_NAMES = ("auto", "dense", "lowrank", "line", "neighbors")


def check_solver(solver: Any, weight: Weight, locality: Locality) -> str:
    """Return the parameter `solver`, or raise if it is unknown or does not fit the weights."""
    if not isinstance(solver, str) or solver not in _NAMES:
        raise InvalidInput(f"solver must be one of {list(_NAMES)}, got {solver!r}.")
    if solver == "neighbors" and weight.n_neighbors is None:
        raise InvalidInput("solver='neighbors' needs n_neighbors, got None.")
    if solver == "line":
        if weight.profile != "exponential":
            raise InvalidInput(f"solver='line' needs weight='exponential', got {weight.profile!r}.")
        if weight.n_neighbors is not None:
            raise InvalidInput(f"solver='line' needs n_neighbors=None, got {weight.n_neighbors!r}.")
        if not locality.is_line:
            raise InvalidInput(
                f"solver='line' needs distances along one direction, got {locality.points.shape[1]} dimensions."
            )
    return solver


def uses_few(weight: Weight, locality: Locality) -> bool:
    """Whether only some of the samples have weight."""
    return weight.n_neighbors is not None and weight.n_neighbors < len(locality.points)


def choose_for_features(weight: Weight, locality: Locality) -> str:
    """Return the quickest solver for a model with a basis of features.

    >>> import numpy as np
    >>> from pacband.local.norms import Norm
    >>> line = Locality(Norm(2.0), np.zeros((9, 1)))
    >>> [choose_for_features(Weight(profile, 1.0), line) for profile in ("exponential", "gaussian")]
    ['line', 'lowrank']
    """
    if uses_few(weight, locality):
        return "neighbors"
    return "line" if locality.is_line and weight.profile == "exponential" else "lowrank"
