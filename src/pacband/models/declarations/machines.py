"""Support vector machines and nearest neighbours. Compiled code uses their arrays, so they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
# Others are refused: norms of the points, for example, would be used without a check.
_METRIC_PARAMETERS = frozenset(("p", "w", "V", "VI"))
_MACHINE = (
    "n_features_in_!=nat "
    "support_!=i4[s] support_vectors_!=f8[*,*]|sparse _n_support!=i4[2] dual_coef_!=f8[1,s]|matrix intercept_!=f8[1] "
    "_dual_coef_!=f8[1,s]|matrix _intercept_!=f8[1] _probA!=f8[0] _probB!=f8[0] _gamma!=num _sparse!=bool "
    "shape_fit_!=tuple(nat) fit_status_=int _num_iter=i4[1] n_iter_=int|i4 _effective_probability=bool"
)


def _check_machine(model: Any) -> None:
    """Raise unless every support vector of a libsvm model has a coefficient and the right number of features."""
    vectors, coefficients, positions = model.support_vectors_, model._dual_coef_, model.support_
    n_vectors, sparse = len(positions), model._sparse
    sound = model.kernel in _KERNELS and len(model.shape_fit_) == 2 and np.isfinite(model._gamma)
    sound = sound and coefficients.shape == model.dual_coef_.shape == (1, n_vectors)
    for matrix in (vectors, coefficients, model.dual_coef_):
        sound = sound and issparse(matrix) == sparse
    if sound and sparse:
        # libsvm reads the stored coefficients in order, one for each vector.
        sound = (
            len(coefficients.data) == n_vectors
            and vectors.indices.dtype == np.int32
            and all(matrix.format == "csr" and matrix.dtype == np.float64 for matrix in (vectors, coefficients))
        )
    if model.kernel == "precomputed":
        # The vectors are columns of X, given by their positions.
        sound = sound and not sparse and vectors.shape in ((0, 0), (n_vectors, 0))
        sound = sound and bool(((positions >= 0) & (positions < model.shape_fit_[0])).all())
    else:
        sound = sound and vectors.shape == (n_vectors, model.n_features_in_)
    # A regressor has no probabilities. libsvm would use their attributes without a check.
    sound = sound and not getattr(model, "_effective_probability", False) and not getattr(model, "probability", False)
    if not sound or int(model._n_support[0]) != n_vectors:
        raise Unsound("a support vector machine has vectors without coefficients or columns")


def _extract_points(model: Any) -> dict[str, Any]:
    return {"points": model._fit_X} | ({"targets": model._y} if hasattr(model, "_y") else {})


def _restore_index(model: Any, state: dict[str, Any]) -> None:
    """Fit again: fitting only builds the index, and the index depends on the points only."""
    if not set(model.metric_params or ()) <= _METRIC_PARAMETERS or not isinstance(model.metric, str):
        raise Unsound("nearest neighbours have an unknown metric")
    points = state.pop("points")
    if points.shape[1] != state["n_features_in_"]:
        raise Unsound("nearest neighbours do not have the stated number of columns")
    if getattr(model, "weights", None) not in (None, "uniform", "distance"):
        raise Unsound("nearest neighbours have unknown weights")
    targets = (state.pop("targets"),) if "targets" in state else ()
    if targets and len(targets[0]) != points.shape[0]:
        raise Unsound("nearest neighbours have different numbers of targets and points")
    try:
        model.fit(points, *targets)
    except (TypeError, ValueError):
        raise Unsound("nearest neighbours have points that cannot be indexed") from None


_NOT_SAVED = "_fit_X _y _tree _fit_method effective_metric_ effective_metric_params_ n_samples_fit_"

KINDS = (
    *(
        Kind(
            f"sklearn.{name}",
            "sklearn.svm",
            name,
            declaration=_MACHINE,
            not_saved="class_weight_",
            check=_check_machine,
        )
        for name in ("SVR", "NuSVR")
    ),
    *(
        Kind(
            f"sklearn.{name}",
            "sklearn.neighbors",
            name,
            declaration="n_features_in_!=nat points!=n[n,p]|sparse" + targets,
            not_saved=_NOT_SAVED,
            extract=_extract_points,
            restore=_restore_index,
        )
        for name, targets in (
            ("KNeighborsRegressor", " targets!=n[n]|n[n,*]"),
            ("RadiusNeighborsRegressor", " targets!=n[n]|n[n,*]"),
            ("NearestNeighbors", ""),
        )
    ),
)
