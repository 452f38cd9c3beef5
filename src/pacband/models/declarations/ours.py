"""The estimators of pacband: scales, local models, and the parts of the automatic family."""

from __future__ import annotations

from typing import Any

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_ENDS = "lower_!=model upper_!=model floor_=num shrinkage_=@PairShrinkage|none"
_TABLE = {
    "pacband.scale": {
        "EnsembleScale": "estimator_!=model models_=none|list(model) shrinkage_!=@Shrinkage",
        "FloorScale": "scale_!=model floor_!=num",
        "LeverageScale": "features_=none|model _centre!=f[q] _unit!=f[q] _root!=f[q,r] _share_of_intercept!=num "
        "noise_!=num shrinkage_=none|@Shrinkage",
        "NeighborScale": "errors_!=f[n] transformer_=none|model index_!=@NearestNeighbors n_neighbors_!=int "
        "shrinkage_!=@Shrinkage",
        "ParzenScale": "errors_!=f[n] transformer_=none|model _model!=@Model",
        "ProductScale": "scales_!=list(model) powers_!=list(num)",
        "QuantileBand": f"{_ENDS} centre_=model|none",
        "QuantileScale": f"{_ENDS} estimator_=model|none",
        "ResidualScale": "errors_!=f[n] regressor_!=model shrinkage_!=@Shrinkage _origin=num",
        "StdScale": "estimator_!=model floor_!=num",
    },
    "pacband.local": {
        "LocalKernelRidge": "_model!=@Model solver_!=str rank_=int|none gamma_=num|none alpha_=num decay_=num "
        "n_neighbors_=int|none loo_error_=num|none",
        "LocalRidge": "_model!=@Model solver_!=str",
    },
    "pacband.candidates.stack": {"Averaged": "", "Band": ""},
    "pacband.candidates.defaults": {"LogOfStandardised": "least_!=num most_!=num"},
    "pacband.candidates.ridge": {"LeaveOneOutRidge": "coef_!=f[p] intercept_!=num penalty_=num"},
    "pacband.candidates.smooth": {
        "SmoothProcess": "size_!=num lengths_!=f[q] noise_!=num known_!=f[n,q] weights_!=f[n]"
    },
    "pacband.candidates.reader": {
        "TableReader": "kept_!=tuple(nat) categories_!=dict(t[*]) novelty_!=dict(num) names_!=list(str) "
        "categorical_!=tuple(nat) ranges_=f[q,r]"
    },
    "pacband.candidates.windows": {"ShortestWindow": "forest_!=model _values!=list(f8[*,*])"},
}


def _check_band(band: Any) -> None:
    if type(band.stack).__name__ != "Stack":
        raise Unsound("a pacband.Band has no stack")


def _check_reader(reader: Any) -> None:
    n_columns = len(reader.names_)
    if not all(k < n_columns for k in reader.kept_) or not set(reader.categories_) <= set(reader.kept_):
        raise Unsound("a pacband.TableReader has columns without names")
    if hasattr(reader, "ranges_") and reader.ranges_.shape != (3, len(reader.kept_)):
        raise Unsound("a pacband.TableReader has not one range for each column")


_CHECKS = {"Band": _check_band, "TableReader": _check_reader}

KINDS = tuple(
    Kind(
        f"pacband.{name}", module, name, declaration=declaration, check=_CHECKS.get(name), also_unfitted=name == "Band"
    )
    for module, table in _TABLE.items()
    for name, declaration in table.items()
)
