"""Scores and signed errors of some draws, as the checks take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.checks.transforms import centred_ranks, centred_signs, middle
from pacband.core.arrays import Floats, Numbers
from pacband.core.labels import factorize
from pacband.draws import Sample
from pacband.scores import ScoreRule, Spread, score_rows

__all__ = ["ScoredDraws", "Others", "Picked", "Series"]

Picked: TypeAlias = slice | npt.NDArray[np.intp]
# Returns the other columns of a table at some rows, by name.
Others: TypeAlias = Callable[[Picked], Mapping[str, npt.NDArray[Any]]]
Series: TypeAlias = dict[str, Floats | None]


@dataclass(frozen=True, eq=False)
class ScoredDraws:
    """Some draws, in their order.

    Attributes
    ----------
    rows : slice or array of int
        The row of every draw; the first row of a unit.
    scores : array
        The score of every draw.
    errors : array or None
        The signed error of every draw; summed over outputs. None for units, whose rows have several errors, for own
        scores, and where a prediction may be missing.
    groups : array of int or None
        The group of every draw, if the promise is made within groups.
    """

    rows: Picked
    scores: Floats
    errors: Floats | None
    groups: npt.NDArray[np.intp] | None

    @classmethod
    def of(
        cls,
        draws: Picked,
        scoring: ScoreRule,
        sample: Sample,
        target: Numbers,
        prediction: Numbers,
        spread: Spread,
        groups: npt.NDArray[Any] | None = None,
    ) -> ScoredDraws:
        """Score some draws. If a draw is a row, only these rows are scored."""
        codes = None if groups is None else factorize(groups)[1]
        signed = sample.codes is None and not scoring.own and scoring.nonfinite == "raise"
        rows = draws if sample.rows is None else sample.rows[draws]
        y, guess = target[rows], prediction[rows]
        if sample.rows is None:
            scores = score_rows(scoring, y, guess, spread.at(rows))
        else:
            scores = sample.one_score_each(sample.reduce(score_rows(scoring, target, prediction, spread)))[draws]
        errors = np.subtract(y, guess, dtype=np.float64) if signed else None
        return cls(
            rows,
            scores,
            errors if errors is None or errors.ndim == 1 else errors.reshape(len(errors), -1).sum(axis=1),
            None if codes is None else codes[rows],
        )

    def ranks(self) -> Series:
        """Return the centred ranks of scores and errors, within groups if there are groups."""
        return {name: centred_ranks(values, self.groups) for name, values in self.values().items()}

    def signs(self) -> Series:
        """Return whether scores and errors are above the middle, centred: quicker than ranks. Groups need ranks."""
        if self.groups is not None:
            return self.ranks()
        return {name: centred_signs(values, middle(values)) for name, values in self.values().items()}

    def values(self) -> dict[str, Floats]:
        """Return scores and errors, by the names that the series have."""
        return {"scores": self.scores} if self.errors is None else {"scores": self.scores, "errors": self.errors}
