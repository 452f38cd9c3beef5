"""A band as columns of a dataframe."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput

__all__ = ["as_columns"]


def as_columns(X: Any, prediction: Any, ends: Floats) -> Any:
    """Return prediction, lower and upper as a dataframe of the library of X; with k outputs, numbered from 0."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"output='frame' needs a dataframe X, got {type(X).__name__}.")
    prediction = np.asarray(prediction)
    outputs = [""] if prediction.ndim == 1 else [f"_{k}" for k in range(prediction.shape[1])]
    tables = np.dstack([prediction.reshape(len(ends), -1), ends.reshape(len(ends), -1, 2)])
    columns = {
        f"{name}{output}": np.ascontiguousarray(tables[:, k, part])
        for k, output in enumerate(outputs)
        for part, name in enumerate(("prediction", "lower", "upper"))
    }
    # The columns are added to X first, so that they get its index. Then X is dropped.
    series = [nw.new_series(name, values, backend=frame.implementation) for name, values in columns.items()]
    return frame.with_columns(*series).select(*columns).to_native()
