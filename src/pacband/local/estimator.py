"""What the local models share as scikit-learn estimators: fitting, predicting, and both for a whole family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from joblib import hash as fingerprint
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.engine import Progress, evaluate
from pacband.local.locality import Locality
from pacband.local.norms import resolve_norm
from pacband.local.solvers.jobs import Model

__all__ = ["LocalRegressor", "Shared", "unit_of"]

Value = TypeVar("Value")


class Shared:
    """Parts of a fit that members of a family have in common, each made once."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def get(self, make: Callable[[], Value], *key: Any) -> Value:
        """The value made for an equal key before, or now."""
        print_ = tuple(_fingerprint(part) for part in key)
        if print_ not in self._made:
            self._made[print_] = make()
        value: Value = self._made[print_]
        return value

    def locality(self, norm: Any, X: Floats) -> Locality:
        """The samples as this norm sees them."""
        return self.get(lambda: Locality(resolve_norm(norm, X.shape[1]), X), "locality", norm)


def _fingerprint(part: Any) -> Hashable:
    try:
        return str(fingerprint(part))
    except Exception:  # a lambda or a closure cannot be pickled, but is itself in every clone
        return id(part)


def unit_of(y: Floats) -> float:
    """The power of two just below max|y|, or 1 if y is zero."""
    largest = float(np.abs(y).max())
    return 2.0 ** float(np.clip(np.floor(np.log2(largest)), -1000, 1000)) if largest else 1.0


class LocalRegressor(RegressorMixin, BaseEstimator, ABC):
    """A regressor that solves a weighted ridge problem of its own at every point it is asked about."""

    _model: Model

    @abstractmethod
    def _fit(self, X: Floats, y: Floats, unit: float, shared: Shared) -> Model:
        """Build the model from valid data, with y in units of `unit`."""

    def _threads(self) -> int | None:
        return None

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the samples, and prepare what every point will need.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return self._fit_valid(X, y.astype(np.float64), Shared())

    def _fit_valid(self, X: Floats, y: Floats, shared: Shared) -> Self:
        unit = shared.get(lambda: unit_of(y), "unit")
        scaled = shared.get(lambda: y / unit, "y")
        self._model = self._fit(X, scaled, unit, shared)
        self.solver_ = self._model.solver
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """T(x), and with `return_std` also σ̂(x).

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

    def fit_grid(self, X: Any, y: Any, grid: Sequence[Mapping[str, Any]]) -> list[Self]:
        """Fit one clone for each set of parameters, sharing distances, factorizations and indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        grid : sequence of mappings
            The parameters in which each member differs from this estimator, as from
            `sklearn.model_selection.ParameterGrid`.

        Returns
        -------
        list of estimators
            Fitted, in the order of the grid; each is what `fit` would have given alone.
        """
        shared = Shared()
        members: list[Self] = []
        for parameters in grid:
            member = clone(self).set_params(**parameters)
            if not members:
                X, y = validate_data(member, X, y, dtype=np.float64, y_numeric=True)
                y = y.astype(np.float64)
            else:
                member.n_features_in_ = members[0].n_features_in_
                if hasattr(members[0], "feature_names_in_"):
                    member.feature_names_in_ = members[0].feature_names_in_
            members.append(member._fit_valid(X, y, shared))
        return members

    @staticmethod
    def predict_grid(
        members: Sequence[LocalRegressor], X: Any, *, progress: Progress | None = None
    ) -> list[tuple[Floats, Floats]]:
        """T(x) and σ̂(x) of every member of a family, with the work they share done once.

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
            raise InvalidInput("members must hold at least one fitted estimator, got none.")
        for member in members:
            check_is_fitted(member, "solver_")
            valid = validate_data(member, X, dtype=np.float64, reset=False)
        return evaluate([member._model for member in members], valid, n_jobs=members[0]._threads(), progress=progress)
