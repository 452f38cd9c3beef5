"""What the `fit` of a member gets beside X and y, such as ``sample_weight``: for its predictor and for its scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacband.core.arrays import Indices
from pacband.core.row_tables import take_parameters

__all__ = ["FitParams"]


@dataclass(frozen=True, eq=False)
class FitParams:
    """The parameters of the fit of a predictor and of its scale, by their names."""

    predictor: Mapping[str, Any] = field(default_factory=dict)
    scale: Mapping[str, Any] = field(default_factory=dict)

    def take(self, n_rows: int, rows: Indices) -> FitParams:
        """Return the parameters for some of n rows."""
        return FitParams(take_parameters(self.predictor, n_rows, rows), take_parameters(self.scale, n_rows, rows))
