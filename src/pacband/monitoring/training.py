"""Rows and units of a stream that the model was fitted on: their small errors are no evidence for the promise."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pacband.certification.fitted import FittedModel, PredictedRows
from pacband.certification.reused_rows import SeenRows
from pacband.checks.warning import warn_of_promise
from pacband.core.labels import Label

__all__ = ["Training"]


class Training:
    """Counts the rows and units that a model was fitted on, and warns once if there are any.

    Attributes
    ----------
    n_rows : int
        How many rows the model was fitted on, in batches where these are more than chance explains.
    units : set of labels
        The units that the model was fitted on.
    """

    def __init__(self, model: FittedModel) -> None:
        self._rows = SeenRows(model.training_rows_)
        self.n_rows, self.units = 0, set[Label]()

    def find(self, rows: PredictedRows) -> int:
        """Return how many of the rows the model was fitted on. Warns if nothing was counted before. Counts nothing."""
        y = [rows.y] if np.ndim(rows.y) == 0 else rows.y
        found = self._rows.find(rows.X, y)
        if (found or rows.seen_units) and not (self.n_rows or self.units):
            what = f"{len(rows.seen_units)} of these units" if rows.seen_units else f"{found} of these rows"
            warn_of_promise(
                f"the model was fitted on {what}: the monitor counts them, but their errors are too small to test the "
                "promise. Watch only what came after the fit."
            )
        return found

    def add(self, found: int, rows: PredictedRows) -> None:
        """Count what `find` found."""
        self.n_rows += found
        self.units.update(rows.seen_units)

    def merge(self, others: Iterable[Training]) -> None:
        """Count what others have counted."""
        for other in others:
            self.n_rows += other.n_rows
            self.units |= other.units
