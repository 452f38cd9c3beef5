"""Draws of rows that come in pieces: the same draws as from all rows at once, however the rows are cut.

Between pieces are kept the largest score of every unit, the place in a series, or the state of the random numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pacband.core.arrays import Floats, as_numbers
from pacband.core.labels import Label, as_labels, factorize, refuse_two_spellings
from pacband.draws.declared import Draws, Rows, Spaced, Units
from pacband.draws.weighted import Weighted
from pacband.exceptions import InvalidInput

__all__ = ["DrawStream", "stream_draws"]


class DrawStream(ABC):
    """Takes the scores of rows, piece by piece, and returns the scores of draws.

    Parameters
    ----------
    draws : Draws
        What a draw is. If columns were named in place of values, every piece brings its values.
    """

    def __init__(self, draws: Draws, *values: Any) -> None:
        self._named = bool(draws.columns)
        self._values = () if self._named else values
        self.n_rows = 0

    def take(self, scores: Floats, given: Any = None) -> Floats:
        """Return the scores of the draws that a piece of rows completes; `given` are its labels or its importance."""
        values = self._values_of(len(scores), given)
        self.n_rows += len(scores)
        return self._take(scores, *values)

    def finish(self) -> Floats:
        """Return the scores of the draws that were not complete before the last row, or raise if there is no draw."""
        for values in self._values:
            if len(values) != self.n_rows:
                raise InvalidInput(
                    f"the chunks and the values of draws must have one length, got {self.n_rows} and {len(values)}."
                )
        return self._finish()

    def _values_of(self, n_rows: int, given: Any) -> tuple[Any, ...]:
        """Return the values of the next rows: those that came with them, or their part of all values."""
        if self._named != (given is not None):
            rule = "must bring" if self._named else "must not bring"
            raise InvalidInput(f"a chunk {rule} the labels or the importance of its rows as its fourth part.")
        if self._named:
            return (given,)
        return tuple(values[self.n_rows : self.n_rows + n_rows] for values in self._values)

    @abstractmethod
    def _take(self, scores: Floats, *values: Any) -> Floats:
        """Return the scores of complete draws."""

    def _finish(self) -> Floats:
        return np.empty(0)


class _RowStream(DrawStream):
    def _take(self, scores: Floats, *values: Any) -> Floats:
        return scores


class _SpacedStream(DrawStream):
    """Carries the place in the series from piece to piece."""

    def __init__(self, draws: Spaced) -> None:
        super().__init__(draws)
        self._gap = draws.kind.gap

    def _take(self, scores: Floats, *values: Any) -> Floats:
        before = self.n_rows - len(scores)
        return scores[(-before - 1) % self._gap :: self._gap]

    def _finish(self) -> Floats:
        if self.n_rows < self._gap:
            raise InvalidInput(f"gap must not exceed the number of rows, {self.n_rows}, got {self._gap}.")
        return np.empty(0)


class _WeightedStream(DrawStream):
    """Carries the random numbers from piece to piece."""

    def __init__(self, draws: Weighted) -> None:
        super().__init__(draws, *([] if draws.columns else [as_numbers("importance", draws.importance)]))
        self._draws, self._accept, self._n_accepted = draws, draws.acceptance(), 0

    def _take(self, scores: Floats, *values: Any) -> Floats:
        (accepted,) = self._accept(*self._draws.bind(*values).weights(len(scores)))
        self._n_accepted += int(np.count_nonzero(accepted))
        return scores[accepted]

    def _finish(self) -> Floats:
        if not self._n_accepted:
            raise InvalidInput("no row was accepted: importance is too small against at_most.")
        return np.empty(0)


class _UnitStream(DrawStream):
    """Carries the largest score of every unit from piece to piece."""

    def __init__(self, draws: Units) -> None:
        super().__init__(draws, *([] if draws.columns else [as_labels(draws.labels, draws.kind.plural)]))
        self._draws = draws
        self._largest: dict[Label, float] = {}

    def _take(self, scores: Floats, *values: Any) -> Floats:
        largest = self._draws.bind(*values).sample(len(scores)).reduce(scores)
        names, _ = factorize(as_labels(values[0]))
        for name, score in zip(names, largest.tolist(), strict=True):
            self._largest[name] = max(score, self._largest.get(name, score))
        return np.empty(0)

    def _finish(self) -> Floats:
        refuse_two_spellings(self._largest, self._draws.kind.plural)
        return np.fromiter(self._largest.values(), np.float64, len(self._largest))


def stream_draws(draws: Draws) -> DrawStream:
    """Return what makes draws of rows that come in pieces, or raise if all rows are needed at once."""
    if isinstance(draws, Rows):
        return _RowStream(draws)
    if isinstance(draws, Spaced):
        return _SpacedStream(draws)
    if isinstance(draws, Weighted) and not draws.kind.interval:
        return _WeightedStream(draws)
    if isinstance(draws, Units) and draws.kind.within == "all":
        return _UnitStream(draws)
    what = f"within={draws.kind.within!r}" if isinstance(draws, Units) else "an interval of importance"
    raise InvalidInput(
        f"{what} needs all rows at once: use certify, or certify_frame with a table of DuckDB or polars."
    )
