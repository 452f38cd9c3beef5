"""What one draw is, for an estimator: a column of X that its constructor names, or labels that `fit` receives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pacband.certification.terms import check_draws
from pacband.core.labels import as_labels, listed
from pacband.draws import Draws, Units, Weighted, draw_kind
from pacband.draws.declared import declare
from pacband.exceptions import InvalidInput, ReusedData

__all__ = ["draws_from_dict", "draws_to_dict", "read_draws", "refuse_shared_units", "without_column"]


def read_draws(option: Draws | None, given: Any, X: Any) -> Draws:
    """Return the draws that some rows make, with the values of their column, or raise.

    Parameters
    ----------
    option : Draws or None
        What the constructor declares. It has no data: it names a column of X.
    given : Draws or None
        What `fit` or `calibrate` received. It has the labels or weights of the rows.
    X : array-like or dataframe
        The rows, with the column.
    """
    if option is None:
        draws = check_draws(given)
        if draws.column is not None:
            raise InvalidInput(
                f"draws at fit must have one value per row, got the column {draws.column!r}: name a column of X in the "
                "constructor."
            )
        return draws
    if given is not None:
        raise InvalidInput("draws were declared in the constructor: they cannot be given again.")
    draws = check_draws(option)
    if isinstance(draws, (Units, Weighted)) and draws.column is None:
        raise InvalidInput(
            "draws in the constructor must name a column of X, because an estimator has no data: pass labels or "
            "weights to fit(X, y, draws=...)."
        )
    if draws.column is None:
        return draws
    frame = _as_frame(X)
    if frame is None:
        raise InvalidInput(
            f"draws name the column {draws.column!r}, so that X must be a dataframe, got {type(X).__name__}."
        )
    if draws.column not in frame.columns:
        raise InvalidInput(f"draws must name a column of X, {listed(frame.columns, 12)}; got {draws.column!r}.")
    return draws.bind(frame.get_column(draws.column).to_native())


def without_column(option: Draws | None, X: Any) -> Any:
    """Return X without the column that the draws are read from: it is not a feature. X need not have it."""
    column = option.column if isinstance(option, Draws) else None
    frame = None if column is None else _as_frame(X)
    return X if frame is None or column not in frame.columns else frame.drop(column).to_native()


def refuse_shared_units(training: Draws, calibration: Draws) -> None:
    """Raise if a unit has training rows and calibration rows: the model has seen it, so that it is no new unit."""
    if not isinstance(training, Units) or not isinstance(calibration, Units):
        return
    shared = sorted(set(as_labels(training.labels).tolist()) & set(as_labels(calibration.labels).tolist()), key=str)
    if shared:
        raise ReusedData(
            f"no {training.kind.noun} may have both training rows and calibration rows, because the promise is about "
            f"new ones: {len(shared)} have, {listed(shared)}."
        )


def draws_to_dict(draws: Draws) -> dict[str, Any]:
    """Return the draws of a constructor as values for a model file."""
    return {"column": draws.column, **draws.kind.to_dict()}


def draws_from_dict(content: Mapping[str, Any]) -> Draws:
    """Rebuild the draws of a constructor from `draws_to_dict`."""
    values = dict(content)
    column = values.pop("column")
    return declare(draw_kind(values), column)


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None if it is no dataframe."""
    if isinstance(X, np.ndarray):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None
