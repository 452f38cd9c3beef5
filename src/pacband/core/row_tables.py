"""Some rows of a table, of an array, or of the values that belong to rows, as one of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacband.core.arrays import Indices

__all__ = ["take_parameters", "take_rows"]


def take_rows(table: Any, rows: Indices) -> Any:
    """Return these rows of an array, a list or a table of any dataframe library, as one of its kind."""
    from sklearn.utils import indexable

    (table,) = indexable(table)
    if isinstance(table, (list, tuple)):
        return [table[row] for row in rows]
    import narwhals as nw

    native = nw.from_native(table, eager_only=True, allow_series=True, pass_through=True)
    return native[rows].to_native() if isinstance(native, (nw.DataFrame, nw.Series)) else table[rows]


def take_parameters(parameters: Mapping[str, Any], n_rows: int, rows: Indices) -> dict[str, Any]:
    """Return parameters of a fit for some of n rows: a value for every row is indexed, any other stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> take_parameters({"sample_weight": [1.0, 2.0, 3.0], "verbose": True}, 3, np.array([2, 0]))
    {'sample_weight': [3.0, 1.0], 'verbose': True}
    """
    return {name: take_rows(value, rows) if _of_rows(value, n_rows) else value for name, value in parameters.items()}


def _of_rows(value: Any, n_rows: int) -> bool:
    """Whether this is an array, a series or a list with one value for every row."""
    if isinstance(value, (str, bytes, Mapping)) or callable(value):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and len(value) == n_rows
