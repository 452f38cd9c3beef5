"""The closed lists: all types and functions that a model file may name, by names of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn.utils.validation import check_array

from pacband.local.parzen import no_features
from pacband.scale.base import to_dense

__all__ = ["DTYPES", "FUNCTIONS", "SCALARS", "SPARSE", "TYPES"]

# The types of arrays and scalars, as they lie in the file: of fixed width, little end first.
DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")
SCALARS = {np.dtype(f"<{code}").type: code for code in DTYPES}
# What a parameter such as the `dtype` of an encoder may be.
TYPES: dict[str, Any] = {"float": float, "int": int, "bool": bool} | {
    np.dtype(code).name: np.dtype(code).type for code in DTYPES
}
SPARSE = {
    "csr": csr_array, "csc": csc_array, "csr_matrix": csr_matrix, "csc_matrix": csc_matrix,
}  # fmt: skip
_UFUNCS = (
    "abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh",
    "deg2rad", "degrees", "exp", "exp2", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "negative",
    "positive", "rad2deg", "radians", "reciprocal", "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc",
)  # fmt: skip


def _scores() -> dict[str, Callable[..., Any]]:
    from sklearn import feature_selection as selection

    names = ("f_regression", "r_regression", "mutual_info_regression", "f_classif", "chi2", "mutual_info_classif")
    return {f"sklearn.{name}": getattr(selection, name) for name in names}


# The functions that a file may ask for, by their names here. How boosting checks numbers beside categories is a partial
# of scikit-learn's check, and is made here anew.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"numpy.{name}": getattr(np, name) for name in _UFUNCS},
    **_scores(),
    "pacband.dense": to_dense,
    "pacband.nothing": no_features,
    "sklearn.check_floats": partial(check_array, dtype=[np.float64], ensure_all_finite=False),
}
