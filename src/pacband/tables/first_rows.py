"""The first rows of a stream, which are kept so that a screen can look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certification.terms import Terms
from pacband.checks import Finding
from pacband.checks.sample import FEWEST_ROWS
from pacband.checks.screening import screen_rows
from pacband.core.arrays import Numbers, as_numbers
from pacband.core.labels import as_labels
from pacband.draws import Units, Weighted
from pacband.exceptions import InvalidInput
from pacband.scores import Spread

__all__ = ["FirstRows"]

# So many rows are kept: the most of which a screen looks at every one.
_ROWS = 2 * FEWEST_ROWS


class FirstRows:
    """Keeps the first rows of a stream.

    Units are complete only at the end of the stream. They are looked at if all rows were kept: a part of a unit's rows
    has other scores than the whole unit.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._kept: list[tuple[npt.NDArray[Any], ...]] = []
        self._n_rows, self._complete = 0, True

    def add(self, target: Numbers, prediction: Numbers, spread: Spread, values: Any) -> None:
        """Add some rows; `values` are those of their draws, if every piece brings them. Keeps copies."""
        n_rows = min(len(target), _ROWS - self._n_rows)
        self._complete = self._complete and n_rows == len(target)
        if n_rows <= 0:
            return
        read = (target, prediction, *spread.parts, *self._values(values))
        kept = tuple(column[:n_rows].copy() for column in read)
        if self._kept and [part.shape[1:] for part in kept] != [part.shape[1:] for part in self._kept[0]]:
            # A scale may have one number a row, or one for each output: such pieces are not joined.
            self._complete = False
            return
        self._kept.append(kept)
        self._n_rows += n_rows

    def screen(self) -> list[Finding]:
        """Return evidence that the draws of the rows are not independent, or not from one distribution."""
        draws = self._terms.draws
        if isinstance(draws, Units) and not self._complete:
            return []
        target, prediction, *others = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        draws = draws.bind(others.pop()) if draws.columns else draws.take(np.arange(len(target)))
        try:
            sample = draws.sample(len(target))
        except InvalidInput:
            # No draw is among the first rows, although there are draws among all of them.
            return []
        spread = Spread(tuple(others), self._terms.scoring.min_scale)
        return screen_rows(self._terms.scoring, sample, target, prediction, spread)

    def _values(self, values: Any) -> list[npt.NDArray[Any]]:
        """Return the values that came with a piece: labels of units, or importance."""
        if not self._terms.draws.columns:
            return []
        return [as_numbers("importance", values) if isinstance(self._terms.draws, Weighted) else as_labels(values)]
