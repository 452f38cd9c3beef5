"""The draws that some rows make: how many there are is known before any score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, name_rows
from pacband.core.labels import Label
from pacband.exceptions import InvalidInput
from pacband.planning.averages import Evidence

__all__ = ["Sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """The draws that some rows make, known before any score.

    Attributes
    ----------
    n_draws : int
        How many draws there are; of those that are not certain, how many are.
    reduce : function
        Returns the scores of the draws from the scores of all rows.
    rows : array of int or None
        A row of every draw; None where every row is a draw.
    codes : array of int or None
        For every row the draw it belongs to; None where a draw has one row.
    certain : array of bool or None
        Whether a row is accepted for certain, where the importance is known as an interval: `reduce` then returns the
        scores of all rows that may be accepted.
    sizes : array of int or None
        The number of rows of every unit, where the promise is about units on average: `reduce` then returns the scores
        of all rows, unit by unit.
    units : list or None
        The label of every unit, if draws are units.
    series : bool
        Whether the rows must be in the order of time.
    """

    n_draws: int
    reduce: Callable[[Floats], Floats]
    rows: npt.NDArray[np.intp] | None = None
    codes: npt.NDArray[np.intp] | None = None
    certain: npt.NDArray[np.bool_] | None = None
    sizes: npt.NDArray[np.intp] | None = None
    units: list[Label] | None = None
    series: bool = False

    def assign(self, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the group of every draw from the groups of rows, or raise if a draw has rows of several groups."""
        if self.rows is None:
            return labels
        found = labels[self.rows]
        if self.codes is not None and (mixed := labels != found[self.codes]).any():
            which = "a unit" if self.units is None else f"unit {self.units[self.codes[mixed.argmax()]]!r}"
            raise InvalidInput(
                f"every unit must be in one group, for its rows are one draw: {which} has rows in several. In all, "
                f"units have another group in {name_rows(mixed)}. If groups overlap, every unit must be wholly inside "
                "or wholly outside of each."
            )
        return found

    def part(self, places: npt.NDArray[np.intp]) -> Sample:
        """Return some of the draws, by their places: what is known of them before any score."""
        certain = None if self.certain is None else self.certain[places]
        sizes = None if self.sizes is None else self.sizes[places]
        n_draws = len(places) if certain is None else int(np.count_nonzero(certain))
        if not n_draws:
            raise InvalidInput("no row of a group is accepted for certain: its lower importance is too small.")
        return replace(self, n_draws=n_draws, rows=None, codes=None, certain=certain, sizes=sizes)

    def scores_of_part(self, scores: Floats, places: npt.NDArray[np.intp]) -> Floats:
        """Return the scores of some of the draws from the scores of all of them."""
        if self.sizes is None:
            return scores[places]
        sizes = self.sizes[places]
        starts = (np.cumsum(self.sizes) - self.sizes)[places]
        # Row k of the part is row k of its unit, counted from where the unit starts.
        rows = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        return np.asarray(scores[rows])

    def one_score_each(self, scores: Floats) -> Floats:
        """Return one score for every draw from what `reduce` returned: of units on average, the largest of each."""
        return scores if self.sizes is None else np.maximum.reduceat(scores, np.cumsum(self.sizes) - self.sizes)

    def evidence_at(self, scores: Floats, gamma: float) -> Evidence:
        """Return how many rows of every unit exceed γ, where the promise is about units on average."""
        assert self.sizes is not None  # it is
        above = np.add.reduceat(scores > gamma, np.cumsum(self.sizes) - self.sizes, dtype=np.int64)
        return Evidence.of(above, self.sizes)

    def worst_at(self, scores: Floats, gamma: float) -> Floats:
        """Return the scores of the draws in the worst case for the bound γ.

        Where it is not certain which rows are accepted: all rows above γ that may be accepted, and at or below γ only
        those that certainly are.
        """
        return scores if self.certain is None else scores[(scores > gamma) | self.certain]
