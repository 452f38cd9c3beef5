"""The fitted local model: samples, weights, features and penalty."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from pacband.core.arrays import Floats
from pacband.local.design import Gram, Regressors
from pacband.local.locality import Locality
from pacband.local.units import rounding_error
from pacband.local.weights import Weight

__all__ = ["Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """One fitted local model: everything that T(x) and σ̂(x) depend on.

    Members of a family have the same `locality` and `design` objects wherever their parameters allow it. The solvers
    share work between models with identical objects.

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
        The targets, in units of `unit`.
    unit : float
        The power of two just below max|y|: squares of y neither overflow nor vanish.
    offset : float
        What was subtracted from the targets, and is added to T.
    """

    solver: str
    locality: Locality
    weight: Weight
    design: Regressors | Gram
    alpha: float
    y: Floats
    unit: float
    offset: float = 0.0

    @property
    def floor(self) -> float:
        """The least σ̂."""
        return rounding_error(self.y + self.offset / self.unit, self.unit)

    @property
    def regressors(self) -> Regressors:
        """The design of a model that is solved in θ."""
        assert isinstance(self.design, Regressors)
        return self.design

    @cached_property
    def prepared(self) -> dict[str, Any]:
        """What the solver prepared for this model alone. Copies, pickles and model files leave it out."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
