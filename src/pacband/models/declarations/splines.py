"""Splines: scipy's constructor rebuilds them from knots, coefficients and a degree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]


def _extract(model: Any) -> dict[str, Any]:
    splines = [
        (np.asarray(spline.t), np.asarray(spline.c), int(spline.k), spline.extrapolate) for spline in model.bsplines_
    ]
    return {"splines": splines}


def _restore(model: Any, state: dict[str, Any]) -> None:
    made = []
    for spline in state.pop("splines"):
        if len(spline) != 4:
            raise Unsound("a spline does not have four parts")
        knots, coefficients, degree, beyond = spline
        sound = (
            all(type(part) is np.ndarray and part.dtype == np.float64 for part in (knots, coefficients))
            and type(degree) is int
            and degree == model.degree
            and (type(beyond) is bool or beyond == "periodic")
            and knots.ndim == 1
            and coefficients.ndim == 2
            and coefficients.flags.c_contiguous
            and len(coefficients) == len(knots) - degree - 1 >= degree + 1
            and bool(np.isfinite(knots).all() and np.isfinite(coefficients).all())
            and bool((np.diff(knots) >= 0).all())
        )
        if not sound:
            raise Unsound("a spline has knots or coefficients that do not fit its degree")
        try:
            made.append(BSpline(knots, coefficients, degree, extrapolate=beyond))
        except ValueError:
            raise Unsound("scipy cannot build a spline from these knots") from None
    if len(made) != state["n_features_in_"] or len({spline.c.shape for spline in made}) != 1:
        raise Unsound("the number of splines is not the number of features")
    # Without a bias, one spline of each feature is left out.
    if state["n_features_out_"] != len(made) * (made[0].c.shape[1] - (not model.include_bias)):
        raise Unsound("the number of columns does not match the splines")
    state["bsplines_"] = made


KINDS = (
    Kind(
        "sklearn.SplineTransformer",
        "sklearn.preprocessing",
        "SplineTransformer",
        declaration="n_features_in_!=nat splines!=list(tuple(f8|int|bool|str)) n_features_out_!=nat",
        not_saved="bsplines_",
        extract=_extract,
        restore=_restore,
    ),
)
