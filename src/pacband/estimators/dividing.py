"""The promise of a certified estimator, and which of the rows given to `fit` calibrate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pacband.candidates.members import Member
from pacband.certificate import About
from pacband.certification.terms import Terms
from pacband.core.arrays import Indices, as_numbers, refuse_nonfinite
from pacband.core.column_kinds import table_columns
from pacband.draws import Draws
from pacband.estimators.division import Calibration, Division
from pacband.estimators.drawing import read_draws, without_column
from pacband.estimators.grouping import Grouping, read_labels
from pacband.estimators.predicting import Predicting
from pacband.estimators.splitting import calibration_parts, count_rows, divide_rows
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare
from pacband.scores.clip import refuse_outside

__all__ = ["Dividing"]


class Dividing(Predicting):
    """An estimator that divides its rows: some fit its members, the others calibrate."""

    eps: float
    delta: float
    rank: int | None
    rule: str
    side: str
    min_scale: float | None
    nonfinite: str
    gauge: Any
    clip: tuple[float | None, float | None] | None
    groups: Grouping
    about: About | Mapping[str, Any] | None
    calibration_size: int | float | None
    random_state: Any

    @abstractmethod
    def _share_delta(self) -> list[DeltaShare]:
        """Return the shares of δ that the certificates of this estimator need, known before any fit."""

    def split_rows(self, X: Any, y: Any, *, draws: Draws | None = None) -> tuple[Any, Any, Any, Any]:
        """Return (X_fit, X_cal, y_fit, y_cal), the split that `fit` makes of these rows with an integer random_state.

        X_fit and y_fit are None if nothing has to be fitted.
        """
        fit, calibrate = self.split_indices(X, y, draws=draws)
        return divide_rows(without_column(self.draws, X), y, fit, calibrate)

    def split_indices(self, X: Any, y: Any, *, draws: Draws | None = None) -> tuple[Indices | None, Indices | None]:
        """Return the positions of the rows that fit and of the rows that calibrate, as in `split_rows`.

        If nothing has to be fitted, both are None: all rows calibrate.
        """
        terms = replace(self._make_terms(), draws=read_draws(self.draws, draws, X))
        return self._split(without_column(self.draws, X), y, self._declare_members(), terms)

    def _make_terms(self) -> Terms:
        """Return the options of the promise, or raise."""
        if self.groups is not None and self.rank is not None:
            raise InvalidInput(f"rank must be None with groups, because each group has its own, got {self.rank!r}.")
        names = ("eps", "delta", "rank", "rule", "side", "min_scale", "nonfinite", "gauge", "clip", "about")
        # A family shares δ among its candidates by itself.
        return Terms.create(
            **{name: getattr(self, name) for name in names}, n_candidates=getattr(self, "n_candidates", 1)
        )

    def _refuse_outside(self, terms: Terms, y: Any) -> None:
        """Raise if a row given to `fit` has a target outside of the declared range, whether it fits or calibrates."""
        # Complex numbers are left to the models, which refuse them.
        if terms.scoring.clip is not None and np.asarray(y).dtype.kind != "c":
            refuse_outside(terms.scoring.clip, as_numbers("y", y))

    def _refuse_nonfinite(self, X: Any, y: Any) -> None:
        """Raise if a number is not finite, by its row of the whole table.

        Only for the automatic family: other models check their training rows themselves.
        """
        if self.reads_categories:
            refuse_nonfinite("y", as_numbers("y", y).astype(np.float64))
            for column in table_columns(X):
                if self.column_kinds_[column.name] == "number":
                    column.floats()

    def _count_draws(self, X: Any, y: Any, terms: Terms) -> Calibration:
        """Return the rows that calibrate, or raise unless every group has enough draws."""
        labels = read_labels(self.groups, X)
        return Calibration(X, y, labels, Division(terms, self._share_delta()).count(labels, count_rows(y)))

    def _split(
        self, X: Any, y: Any, declared: Mapping[str, Member], terms: Terms
    ) -> tuple[Indices, Indices] | tuple[None, None]:
        """Return training and calibration rows; None if nothing has to be fitted."""
        if not any(member.trainable for member in declared.values()):
            return None, None
        division = Division(terms, self._share_delta())
        return division.split(read_labels(self.groups, X), count_rows(y), self.calibration_size, self.random_state)

    def _separate(self, calibration: Any, training: Draws) -> tuple[Any, Any, Draws]:
        """Return the calibration rows that were given to `fit`, and their draws, or raise."""
        X, y, given = calibration_parts(calibration)
        fresh = read_draws(self.draws, given, X)
        if type(fresh.kind) is not type(training.kind):
            raise InvalidInput(
                f"the calibration rows must have the same kind of draws as X: calibration=(X_cal, y_cal, draws), got "
                f"{fresh.kind.kind} and {training.kind.kind}."
            )
        X = self._own_columns(without_column(self.draws, X))
        self._check_rows(X, y, reset=False, draws=fresh)
        return X, y, fresh
