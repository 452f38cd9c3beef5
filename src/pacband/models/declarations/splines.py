"""Splines: made again by scipy's own constructor, from knots, coefficients and a degree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline

from pacband.models.declare import Kind
from pacband.models.values import refuse

__all__ = ["KINDS"]


def _take(model: Any) -> dict[str, Any]:
    splines = [
        (np.asarray(spline.t), np.asarray(spline.c), int(spline.k), spline.extrapolate) for spline in model.bsplines_
    ]
    return {"splines": splines}


def _give(model: Any, state: dict[str, Any]) -> None:
    made = []
    for spline in state.pop("splines"):
        if len(spline) != 4:
            refuse("a spline has other than four parts")
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
            refuse("a spline has knots or coefficients that do not fit its degree")
        try:
            made.append(BSpline(knots, coefficients, degree, extrapolate=beyond))
        except ValueError:
            refuse("scipy makes no spline of these knots")
    if len(made) != state["n_features_in_"]:
        refuse("there are other splines than features")
    state["bsplines_"] = made


KINDS = (
    Kind(
        "sklearn.SplineTransformer",
        "sklearn.preprocessing",
        "SplineTransformer",
        declaration="splines!=list(tuple(f8|int|bool|str)) n_features_out_!=nat",
        left="bsplines_",
        take=_take,
        give=_give,
    ),
)
