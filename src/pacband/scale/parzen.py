"""The Parzen estimate of σ̂(x) around a given predictor: the paper's first form."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.utils.validation import check_is_fitted, validate_data

from pacband.exceptions import InvalidInput
from pacband.local.design import Array, Regressors
from pacband.local.engine import evaluate
from pacband.local.estimator import unit_of
from pacband.local.locality import Locality
from pacband.local.norms import resolve_norm
from pacband.local.ridge import feature_solver
from pacband.local.solvers.jobs import Model
from pacband.local.weights import resolve_weight

__all__ = ["ParzenScale"]


class ParzenScale(BaseEstimator):
    r"""A scale σ̂(x) > 0 from the errors a predictor makes near x.

    The Parzen estimate of the paper (Section 3) for a predictor T,

    .. math::

        σ̂^2(x) = \frac{\sum_j Γ(x, x_j)\,(y_j - T(x_j))^2}{\sum_j Γ(x, x_j)}.

    It is a local ridge fit with no regressors at all, and is computed as one.

    Parameters
    ----------
    estimator : estimator or callable
        T. A fitted estimator or a callable X ↦ T(x) is used as it is; wrap a fitted one in
        `sklearn.frozen.FrozenEstimator` if it is to stay fitted through `clone`. An estimator that is not
        fitted is fitted in folds, and each error is taken from a fit that has not seen its sample: errors on the
        samples of a fit are too small, and most so where the model is most flexible.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`pacband.local.LocalRidge`.
    cv : int
        Folds for an estimator that is not fitted: sample i is in fold i mod cv.

    Attributes
    ----------
    errors_ : ndarray of shape (n_samples,)
        y − T(x) at the samples.

    Notes
    -----
    σ̂ is at least the rounding error of the data, 2.2e-16·max|y|, and 2.2e-308, so that it is positive where all errors
    near x vanish. Limits: as decay → 0 it is the root mean square error everywhere; with `n_neighbors=1`,
    and as decay → ∞, it is the error at the nearest sample.

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.scale import ParzenScale
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> y = np.array([1.0, -1.0, 5.0, -5.0])
    >>> scale = ParzenScale(lambda X: np.zeros(len(X)), decay=10).fit(X, y)
    >>> scale.predict([[0.5], [10.5]])
    array([1., 5.])
    """

    _model: Model

    def __init__(
        self,
        estimator: Any,
        *,
        weight: Any = "exponential",
        decay: float = 1.0,
        norm: Any = 2,
        n_neighbors: int | None = None,
        cv: int = 5,
    ) -> None:
        self.estimator = estimator
        self.weight = weight
        self.decay = decay
        self.norm = norm
        self.n_neighbors = n_neighbors
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Take the errors of T at the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        folds: Any = self.cv
        if isinstance(folds, bool) or not isinstance(folds, Integral) or int(folds) < 2:
            raise InvalidInput(f"cv must be an integer >= 2, got {self.cv!r}.")
        given = X
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        locality = Locality(resolve_norm(self.norm, X.shape[1]), X)
        self.errors_ = y - self._predictions(given, y)
        unit = unit_of(y)
        errors = Regressors(np.empty((len(y), 0)), np.empty(0), self.errors_ / unit, _nothing, np.empty((0, 0)))
        solver = feature_solver(weight, locality.is_line, len(y))
        self._model = Model(solver, locality, weight, errors, 1.0, y / unit, unit)
        return self

    def predict(self, X: Any) -> Array:
        """σ̂(x).

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n,)
            Positive and finite.
        """
        check_is_fitted(self, "errors_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        ((_, scale),) = evaluate([self._model], X)
        return scale

    def _predictions(self, X: Any, y: Array) -> Array:
        if not hasattr(self.estimator, "predict") and not callable(self.estimator):
            raise InvalidInput(f"estimator must have predict or be callable, got {self.estimator!r}.")
        if _is_ready(self.estimator):
            predict = getattr(self.estimator, "predict", self.estimator)
            predictions = np.asarray(predict(X), dtype=np.float64)
        elif len(y) < 2:
            predictions = clone(self.estimator).fit(X, y).predict(X)
        else:
            folds = PredefinedSplit(np.arange(len(y)) % min(int(self.cv), len(y)))
            predictions = cross_val_predict(clone(self.estimator), X, y, cv=folds)
        if predictions.shape != y.shape:
            raise InvalidInput(f"estimator must predict one number a sample, {y.shape}, got {predictions.shape}.")
        if not np.isfinite(predictions).all():
            raise InvalidInput("estimator must predict finite numbers at the samples.")
        return predictions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _nothing(X: Array) -> Array:
    return np.empty((len(X), 0))


def _is_ready(estimator: Any) -> bool:
    if not hasattr(estimator, "fit"):
        return True
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
