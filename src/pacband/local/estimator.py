"""What the local models share as scikit-learn estimators: fitting, predicting, and both for a whole family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted, validate_data

from pacband.core.arrays import Floats
from pacband.core.progress import Progress
from pacband.exceptions import InvalidInput
from pacband.local.engine import evaluate, prepare
from pacband.local.model import Model
from pacband.local.shared import Shared
from pacband.local.units import unit_of

__all__ = ["LocalRegressor"]


class LocalRegressor(RegressorMixin, BaseEstimator, ABC):
    """A regressor that solves a weighted ridge problem at every point x, with weights that depend on x."""

    _model: Model

    @abstractmethod
    def _fit(self, X: Floats, y: Floats, unit: float, shared: Shared) -> Model:
        """Return the model of checked data, with y in units of `unit`."""

    def _offset(self, y: Floats) -> float:
        """Return what is subtracted from y before the fit, and added to T."""
        return 0.0

    def _threads(self) -> int | None:
        return None

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the samples, and prepare what every prediction needs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._fit_checked(X, y.astype(np.float64), Shared(alone=True))
        prepare([self._model])
        return self

    def _fit_checked(self, X: Floats, y: Floats, shared: Shared) -> None:
        offset = self._offset(y)
        unit = shared.get(lambda: unit_of(y - offset), "unit", offset)
        scaled = shared.get(lambda: (y - offset) / unit, "y", offset)
        self._model = replace(self._fit(X, scaled, unit, shared), offset=offset)
        self.solver_ = self._model.solver

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return T(x), and with `return_std` also σ̂(x).

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        return_std : bool
            Also return σ̂.

        Returns
        -------
        ndarray of shape (n,), or a pair of them
            T(x), or (T(x), σ̂(x)) with σ̂ > 0.
        """
        check_is_fitted(self, "solver_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        ((prediction, scale),) = evaluate([self._model], X, n_jobs=self._threads())
        return (prediction, scale) if return_std else prediction

    def fit_grid(self, X: Any, y: Any, grid: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]) -> list[Self]:
        """Fit one clone for each set of parameters. The clones share distances, factorizations and indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        grid : sequence of mappings, or mapping of sequences
            The parameters in which each member differs from this estimator; or the values of each parameter, of which
            all combinations are members, as in `sklearn.model_selection.ParameterGrid`.

        Returns
        -------
        list of estimators
            Fitted, in the order of the grid. Each predicts what it would predict if it were fitted alone.
        """
        shared = Shared()
        members: list[Self] = []
        for parameters in ParameterGrid(grid) if isinstance(grid, Mapping) else grid:
            member = clone(self).set_params(**parameters)
            if not members:
                X, y = validate_data(member, X, y, dtype=np.float64, y_numeric=True)
                y = y.astype(np.float64)
            else:
                member.n_features_in_ = members[0].n_features_in_
                if hasattr(members[0], "feature_names_in_"):
                    member.feature_names_in_ = members[0].feature_names_in_
            member._fit_checked(X, y, shared)
            members.append(member)
        prepare([member._model for member in members])
        return members

    @staticmethod
    def predict_grid(
        members: Sequence[LocalRegressor], X: Any, *, progress: Progress | None = None
    ) -> list[tuple[Floats, Floats]]:
        """Return T(x) and σ̂(x) of every member of a family. Work that they share is done once.

        Parameters
        ----------
        members : sequence of fitted estimators
            As returned by `fit_grid`.
        X : array-like of shape (n, n_features)
        progress : callable, optional
            Called with (done, total) after every batch; the counts are points times members.

        Returns
        -------
        list of (prediction, scale)
            In the order of the members; what `predict(X, return_std=True)` of each gives.
        """
        if not members:
            raise InvalidInput("members must contain at least one fitted estimator, got none.")
        for member in members:
            check_is_fitted(member, "solver_")
            valid = validate_data(member, X, dtype=np.float64, reset=False)
        return evaluate([member._model for member in members], valid, n_jobs=members[0]._threads(), progress=progress)
