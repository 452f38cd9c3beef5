"""Columns of a dataframe: those that a model reads, and a band as new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput

__all__ = ["as_columns", "band_names", "pick_columns"]


def band_names(n_outputs: int | None) -> list[str]:
    """Return the names of the columns; with k outputs they are numbered from 0, and None is one output unnumbered."""
    outputs = [""] if n_outputs is None else [f"_{k}" for k in range(n_outputs)]
    return [f"{name}{output}" for output in outputs for name in ("prediction", "lower", "upper")]


def as_columns(X: Any, prediction: Any, ends: Floats) -> Any:
    """Return prediction, lower and upper as a dataframe of the library of X, with the names of `band_names`."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"output='frame' needs a dataframe X, got {type(X).__name__}.")
    prediction = np.asarray(prediction)
    names = band_names(None if prediction.ndim == 1 else prediction.shape[1])
    # A row of `table` has prediction, lower and upper of the first output, then those of the next.
    table = np.dstack([prediction.reshape(len(ends), -1), ends.reshape(len(ends), -1, 2)]).reshape(len(ends), -1)
    columns = {name: np.ascontiguousarray(table[:, k]) for k, name in enumerate(names)}
    # The columns are added to X first, so that they get its index. Then X is dropped.
    series = [nw.new_series(name, values, backend=frame.implementation) for name, values in columns.items()]
    return frame.with_columns(*series).select(*columns).to_native()


def pick_columns(X: Any, names: Sequence[str]) -> Any:
    """Return the columns of these names, in this order, as a dataframe of the library of X; other tables as they are.

    Raises `InvalidInput` if columns are missing. Columns of other names are left out, as the command line does.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"y": [1.0], "b": [2.0], "a": [3.0]})
    >>> list(pick_columns(table, ["a", "b"]).columns)
    ['a', 'b']
    """
    if isinstance(X, np.ndarray):
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or list(frame.columns) == list(names):
        return X
    if missing := [name for name in names if name not in frame.columns]:
        raise InvalidInput(
            f"X must have the columns that the model was fitted on, {listed(names, 12)}: {listed(missing, 12)} "
            f"{'is' if len(missing) == 1 else 'are'} missing. It has {listed(frame.columns, 12)}."
        )
    return frame.select(*(frame.get_column(name) for name in names)).to_native()
