"""The columns that a fitted model reads, as a system that checks types before the model must know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.estimators.columns import pick_columns
from pacband.exceptions import InvalidInput

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["ANY", "column_names", "input_types"]

# The type of a column that may hold anything: the model itself checks the cells.
ANY = "any"


def column_names(model: Certified) -> list[str] | None:
    """Return the names of the columns that a model reads, or None if it was fitted on an array."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def input_types(model: Certified, X: Any = None) -> list[str]:
    """Return the type of every column that a model reads: "double", "long", "boolean", "string" or "any".

    Parameters
    ----------
    model : Certified
        The fitted model.
    X : array-like or dataframe, optional
        Rows as they come in production. Without them every type is "any": a model does not know whether a column of
        numbers holds integers, and a system that expects another type of number refuses them.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband import CertifiedRegressor, datasets
    >>> X, y = datasets.paper_sample(1000, random_state=0)
    >>> rows = pd.DataFrame({"x": X[:, 0], "day": range(1000)})
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(rows, y)
    >>> input_types(model), input_types(model, rows)
    (['any', 'any'], ['double', 'long'])
    """
    names = column_names(model)
    if X is None:
        return [ANY] * int(model.n_features_in_)
    if names is None:
        return [_type_of_array(X)] * int(model.n_features_in_)
    import narwhals as nw

    frame = nw.from_native(pick_columns(X, names), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"X must be a dataframe, because the model was fitted on one, got {type(X).__name__}.")
    return [_type_of_series(series) for series in frame.iter_columns()]


def _type_of_array(X: Any) -> str:
    return "double" if np.asarray(X).dtype.kind == "f" else ANY


def _type_of_series(series: Any) -> str:
    """Return the type of a column. Integers and booleans with gaps have none that keeps both the gaps and the type."""
    import narwhals as nw

    if type(getattr(series.to_native(), "dtype", None)).__name__ == "ArrowDtype":
        # MLflow takes the texts of other dtypes of pandas only.
        return ANY
    if series.dtype.is_float():
        return "double"
    if series.dtype == nw.String:
        return "string"
    if series.is_null().any():
        return ANY
    if series.dtype.is_signed_integer():
        return "long"
    return "boolean" if series.dtype == nw.Boolean else ANY
