"""Which rows fit and which calibrate, and whether these suffice: from labels and numbers of draws alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certification.terms import Terms
from pacband.checks.frames import columns_of_frame
from pacband.checks.scored import Others
from pacband.core.arrays import Indices
from pacband.core.labels import Label, group_rows
from pacband.draws import Draws, Rows, Sample, Spaced, Units, Weighted
from pacband.estimators.splitting import calibration_draws, draw_rows, latest_rows, rows_of_units
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import DeltaShare

__all__ = ["Calibration", "Division"]

Labels = npt.NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Calibration:
    """The rows that calibrate, the group of each, and the number of draws of each group."""

    X: Any
    y: Any
    labels: Labels
    sizes: tuple[int, ...]

    @property
    def others(self) -> Others | None:
        """The columns of X, if they have names: they may be labels of rows that belong together."""
        return columns_of_frame(self.X)


@dataclass(frozen=True)
class Division:
    """Divides rows between fit and calibration, so that no draw is on both sides.

    Attributes
    ----------
    terms : Terms
        The promise, and the draws that the rows make.
    shares : sequence of DeltaShare
        The shares of δ that the certificates need.
    """

    terms: Terms
    shares: Sequence[DeltaShare]

    def count(self, labels: Labels, n_rows: int) -> tuple[int, ...]:
        """Return the number of draws of every group, or raise unless every group has enough."""
        sample = self.terms.draws.sample(n_rows)
        parts = self._draws_by_group(labels, n_rows, sample)
        # Of draws that are not certain, only those that are count.
        sizes = {label: sample.n_draws if label is None else sample.part(part).n_draws for label, part in parts.items()}
        for label, size in sizes.items():
            try:
                self._check_enough(size, len(parts))
            except NotEnoughSamples as error:
                raise _within(label, error) from None
        return tuple(sizes.values())

    def split(
        self, labels: Labels, n_rows: int, size: int | float | None, random_state: Any
    ) -> tuple[Indices, Indices]:
        """Return the rows that fit and the rows that calibrate, or raise unless these suffice.

        Draws are chosen at random, from every group. Of a series, the latest rows calibrate.
        """
        draws = self.terms.draws
        sample = draws.sample(n_rows)
        by_draws = isinstance(draws, (Units, Spaced))
        parts = self._draws_by_group(labels, n_rows, sample if by_draws else Rows().sample(n_rows))
        planned = max(self.terms.choose_samples(share.among(len(parts))) for share in self.shares)
        if isinstance(draws, Weighted):
            # Only some of the rows are accepted as draws.
            planned = math.ceil(planned * n_rows / sample.n_draws)
        sizes = {}
        for label, rows in parts.items():
            sizes[label] = self._calibration_draws(label, len(rows), planned, size)
            if not isinstance(draws, Weighted):
                try:
                    self._check_enough(sizes[label], len(parts))
                except NotEnoughSamples as error:
                    kept = f"{sizes[label]} of {len(rows)} {self._counted} were kept for calibration"
                    raise _within(label, error.within(f"{kept} (see calibration_size)")) from None
        if isinstance(draws, Spaced):
            return latest_rows(n_rows, sizes[None], draws.kind.gap)
        fit, calibrate = draw_rows(parts, sizes, random_state)
        return rows_of_units(sample, fit, calibrate) if isinstance(draws, Units) else (fit, calibrate)

    @property
    def _counted(self) -> str:
        """What a size counts."""
        draws: Draws = self.terms.draws
        return draws.kind.counted if isinstance(draws, Units) else "draws" if isinstance(draws, Spaced) else "rows"

    def _draws_by_group(self, labels: Labels, n_rows: int, sample: Sample) -> dict[Label | None, Indices]:
        """Return the places of every group's draws; without groups, all of them under None."""
        if labels is None:
            return {None: np.arange(sample.n_draws)}
        if len(labels) != n_rows:
            raise InvalidInput(f"groups must give one label per row: {n_rows} rows, got {len(labels)} labels.")
        if isinstance(self.terms.draws, Spaced):
            raise InvalidInput("Spaced draws cannot be combined with groups: fit the series of every group by itself.")
        return dict(group_rows(sample.assign(labels)).items())

    def _check_enough(self, n_draws: int, n_groups: int) -> None:
        """Raise unless N draws of one group have a rank at every share of δ."""
        for share in self.shares:
            self.terms.choose_rank(n_draws, share.among(n_groups))

    def _calibration_draws(self, label: Label | None, n_draws: int, planned: int, size: int | float | None) -> int:
        """Return how many of the draws of a group calibrate."""
        if n_draws < 2:
            where = "" if label is None else f" in group {label!r}"
            raise InvalidInput(
                f"fit needs at least 2 {self._counted}, one to fit and one to calibrate, got "
                f"n_samples={n_draws}{where}."
            )
        return calibration_draws(size, n_draws, planned, self._counted)


def _within(label: Label | None, error: NotEnoughSamples) -> NotEnoughSamples:
    return error if label is None else error.within(f"group {label!r}")
