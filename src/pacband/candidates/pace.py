"""The pace of a search: how long a model will take at least, since a cheaper one of its kind took so long."""

from __future__ import annotations

from typing import Any

from pacband.candidates.fitting import compare_costs

__all__ = ["Pace"]


class Pace:
    """The time of each model so far, so that a trial of a costlier one need not tell that it takes too long.

    Parameters
    ----------
    n_rows : int
        The rows of one fit.
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._seconds: dict[type, dict[float, float]] = {}

    def least_seconds(self, model: Any) -> float:
        """Return how many seconds a model needs at least; 0 if nothing is known."""
        compared = compare_costs(model, self._n_rows)
        if compared is None:
            return 0.0
        kind, cost = compared
        known = self._seconds.get(kind, {})
        return max((seconds * cost / cheap for cheap, seconds in known.items() if cheap <= cost), default=0.0)

    def record(self, model: Any, seconds: float) -> None:
        """Keep how long a model took; infinite if the time was too little."""
        compared = compare_costs(model, self._n_rows)
        if compared is not None:
            kind, cost = compared
            self._seconds.setdefault(kind, {})[cost] = seconds
