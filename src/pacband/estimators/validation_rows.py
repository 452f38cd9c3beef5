"""Rows that reach a model beside X and y, such as ``eval_set``: they are training rows, too.

Early stopping chooses the model by these rows, so that the model has seen them. pacband finds them among the parameters
of `fit`: a table and a column of equal length, alone, in pairs or in lists of pairs, under any name.
It cannot look into functions, nor into containers of other libraries such as ``xgboost.DMatrix``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pacband.core.row_hashes import Fingerprints, row_fingerprints
from pacband.estimators.seen_rows import refuse_seen_rows
from pacband.exceptions import ReusedData

__all__ = ["join_validation_rows"]


def join_validation_rows(
    training: Fingerprints, parameters: Mapping[str, Any], calibration: tuple[Any, Any]
) -> Fingerprints:
    """Return the fingerprints of the training rows and of the validation rows among the parameters of `fit`.

    Raises `ReusedData` if validation rows are calibration rows, beyond those that agree by chance.
    """
    found = training
    for names, pair in _pairs(parameters):
        prints = row_fingerprints(*pair)
        if prints is None:
            continue
        try:
            refuse_seen_rows(prints, *calibration, pair)
        except ReusedData as error:
            raise ReusedData(
                f"{names} must not hold rows that calibrate, because a model that stops early has seen them: {error} "
                "Separate the rows first: fit(X_train, y_train, calibration=(X_cal, y_cal), …), with validation rows "
                "that are in neither."
            ) from None
        found = np.concatenate([found, np.unique(prints[~np.isin(prints, found)])])
    return found


def _pairs(parameters: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Return every table with every column of the same length, and the names of their parameters."""
    parts = [(name, part, _shape(part)) for name, value in parameters.items() for part in _parts(value)]
    for name, table, shape in parts:
        for other, column, length in parts:
            if len(shape) == 2 and column is not table and length[:1] == shape[:1]:
                yield name if name == other else f"{name} and {other}", (table, column)


def _parts(value: Any) -> Iterator[Any]:
    """Return the tables and columns in a parameter: itself, or those in a list, at any depth."""
    if _shape(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _parts(part)


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of an array, a table, a list of numbers or of rows of numbers; nothing for all else."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return tuple(shape) if isinstance(shape, tuple) else ()
    if not isinstance(value, (list, tuple)) or not value:
        return ()
    if not isinstance(value[0], (list, tuple)):
        return () if hasattr(value[0], "shape") and np.ndim(value[0]) else (len(value),)
    widths = {len(row) if isinstance(row, (list, tuple)) else -1 for row in value}
    flat = len(widths) == 1 and not any(hasattr(cell, "__len__") and not isinstance(cell, str) for cell in value[0])
    return (len(value), *widths) if flat else ()
