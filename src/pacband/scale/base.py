"""What every scale shares: the predictor whose errors it estimates, the checks of its input, and σ̂ > 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pacband.core.arrays import Floats, as_numbers, refuse_nonfinite
from pacband.exceptions import InvalidInput
from pacband.scale.crossfit import NO_PARAMETERS, Predictor

__all__ = ["BaseScale", "after_preprocessing", "fit_scale", "own_features", "to_dense"]


class BaseScale(BaseEstimator, ABC):
    """A scale σ̂(x) > 0, as a scikit-learn estimator.

    ``estimator=None`` is the predictor that the scale is used with. The certified estimators pass it to `used_with`, a
    method that any scale may have. A scale that is fitted alone needs an estimator.
    """

    estimator: Any = None
    _predictor: Predictor | None = None

    def used_with(self, predictor: Predictor) -> Self:
        """Return a clone that estimates the errors of this predictor, unless it has an estimator of its own."""
        scale: Self = clone(self)
        if self.estimator is None:
            scale._predictor = predictor
        return scale

    def fit(self, X: Any, y: Any) -> Self:
        """Learn how the size of the error varies with x.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Rows in any form that the estimators inside accept.
        y : array-like of shape (n_samples,)
            The targets.

        Returns
        -------
        self
        """
        validate_data(self, X, y, skip_check_array=True)
        target = _as_target(y)
        check_consistent_length(X, target)
        try:
            self._learn(X, target)
        finally:
            # The predictor has a model and its cross-fits, which are not needed again.
            self.__dict__.pop("_predictor", None)
        return self

    def predict(self, X: Any) -> Any:
        """Return σ̂(x), positive at every row.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, n_features)
            The rows.
        """
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 1:
            raise InvalidInput(
                f"X must have shape (n, {self.n_features_in_}), got a vector of {len(X)} values. "
                "Reshape your data: X.reshape(1, -1) is one row, X.reshape(-1, 1) is one feature."
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not get_tags(self).input_tags.allow_nan:
            assert_all_finite(X)  # as the fit does
        return self._evaluate(X)

    @abstractmethod
    def _learn(self, X: Any, y: Floats) -> None:
        """Fit to rows whose targets are finite numbers."""

    @abstractmethod
    def _evaluate(self, X: Any) -> Any:
        """Return σ̂ of rows with the features of the fit."""

    def _target_predictor(self) -> Predictor:
        """Return the predictor whose errors this scale estimates."""
        if self._predictor is not None:
            return self._predictor
        if self.estimator is None:
            raise InvalidInput(
                f"{type(self).__name__} has estimator=None, the predictor it is used with, but it is fitted alone: "
                "give it an estimator, or use it as the scale of a CertifiedRegressor or a CertifiedFamily."
            )
        return Predictor(self.estimator)

    def _parts(self) -> list[Any]:
        """Return the estimators that get X; None is a default one. This scale accepts what all of them accept."""
        return [self.estimator]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        parts = self._parts()
        inner = [get_tags(part) for part in parts if isinstance(part, BaseEstimator)]
        tags.input_tags.allow_nan = all(tag.input_tags.allow_nan for tag in inner)
        tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner) and len(inner) == len(parts)
        return tags


def fit_scale(
    scale: Any, predictor: Predictor | None, X: Any, y: Any, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> Any:
    """Return a scale that is fitted for a predictor. A scale without `fit` (a function, "std", None) is not changed.

    `parameters` are what its `fit` gets, such as ``sample_weight``, for these rows.
    """
    if not hasattr(scale, "fit"):
        return scale
    # A frozen scale has the methods of the scale that it freezes; its type has not.
    if predictor is not None and hasattr(type(scale), "used_with"):
        return scale.used_with(predictor).fit(X, y, **parameters)
    return clone(scale, safe=False).fit(X, y, **parameters)


def after_preprocessing(predictor: Any, *steps: Any) -> Pipeline:
    """Return these steps as a pipeline, after the preprocessing of the predictor if that is a pipeline.

    The model of a scale then accepts the tables that the predictor accepts.
    """
    return make_pipeline(*_preprocessing(predictor), *steps)


def own_features(given: Any, predictor: Any) -> Any:
    """Return the transformer that gives a scale its features, not fitted; None if X itself has them.

    It is the one that the user gave, else the preprocessing of the predictor if that is a pipeline.
    """
    if given is not None:
        if not hasattr(given, "transform"):
            raise InvalidInput(f"features must be a transformer, with fit and transform, or None, got {given!r}.")
        return clone(given)
    steps = _preprocessing(predictor)
    return make_pipeline(*steps) if steps else None


def _preprocessing(predictor: Any) -> list[Any]:
    """Return the steps of a pipeline before its model, not fitted, as one that gives arrays; none for other models."""
    model = predictor.estimator if isinstance(predictor, FrozenEstimator) else predictor
    if isinstance(model, Pipeline) and len(model) > 1:
        return [clone(model[:-1]), FunctionTransformer(to_dense, accept_sparse=True)]
    return []


def _as_target(y: Any) -> Floats:
    given = np.asarray(y)
    if given.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: y must be real, got dtype {given.dtype}.")
    if given.ndim == 2 and given.shape[1] == 1:
        y = column_or_1d(given, warn=True)
    target = as_numbers("y", y).astype(np.float64)
    if target.ndim != 1:
        raise InvalidInput(f"a scale takes one target a row, got y of shape {target.shape}.")
    refuse_nonfinite("y", target)
    return target


def to_dense(X: Any) -> Any:
    """Return a sparse matrix as an array, and any other table as it is."""
    return X.toarray() if hasattr(X, "toarray") else X
