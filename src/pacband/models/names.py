"""The lists of all types and functions that a model file may name.

A file contains the names on these lists only, and never a module path. So no file can make pacband call another
function, and a function may move to another module without breaking files.
"""

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

# The types of arrays and scalars in a file: of fixed width, little-endian.
DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")
SCALARS = {np.dtype(f"<{code}").type: code for code in DTYPES}
# Types that a parameter may be, such as the `dtype` of an encoder.
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


def _score_functions() -> dict[str, Callable[..., Any]]:
    from sklearn import feature_selection as selection

    names = ("f_regression", "r_regression", "mutual_info_regression", "f_classif", "chi2", "mutual_info_classif")
    return {f"sklearn.{name}": getattr(selection, name) for name in names}


# The functions that a file may name. "sklearn.check_floats" is the check of numeric columns in histogram boosting;
# scikit-learn stores it as a partial.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"numpy.{name}": getattr(np, name) for name in _UFUNCS},
    **_score_functions(),
    "pacband.dense": to_dense,
    "pacband.nothing": no_features,
    "sklearn.check_floats": partial(check_array, dtype=[np.float64], ensure_all_finite=False),
}
