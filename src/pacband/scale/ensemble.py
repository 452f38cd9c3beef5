"""σ̂(x) from how far the models of an ensemble disagree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale
from pacband.scale.crossfit import cross_predict, predictions
from pacband.scale.shrinkage import Shrinkage

__all__ = ["EnsembleScale"]


class EnsembleScale(BaseScale):
    r"""A scale from the spread of the models in an ensemble, and the noise that they have in common.

    With s(x) the standard deviation of the models' predictions,

    .. math::

        σ̂^2(x) = ℓ^2 \left(w s^2(x) / m + 1 - w\right):

    the variance between the models, and a variance that they have in common. The share w is chosen on out-of-fold
    predictions of the predictor and the models.

    Parameters
    ----------
    estimator : estimator, optional
        The predictor T, a forest, a bagging or a voting regressor (or a pipeline that ends in one) unless `models`
        are given. None is the predictor this scale is used with. It is cross-fitted. A frozen one is used as it is, and
        the rows must be new to it.
    models : list of estimators, optional
        The models to compare, in place of those inside T.
    cv : int or splitter
        The folds in which the predictor and the models are cross-fitted.
    eps : float, optional
        Choose w for the narrowest mean band at this ε, instead of for the most likely σ̂(x).
    random_state : int, RandomState or None
        Seeds the folds. The default is a fixed seed.

    Attributes
    ----------
    estimator_ : estimator
        The fitted predictor.
    models_ : list of estimators or None
        The fitted models, if `models` are given.
    shrinkage_ : Shrinkage
        w, ℓ and m.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from pacband.scale import EnsembleScale
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (500, 1))
    >>> y = X[:, 0] + np.where(X[:, 0] > 0, 3.0, 1.0) * rng.standard_normal(500)
    >>> scale = EnsembleScale(RandomForestRegressor(50, min_samples_leaf=10, random_state=0)).fit(X, y)
    >>> low, high = scale.predict([[-0.5], [0.5]])
    >>> bool(high > 1.5 * low)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        models: Any = None,
        *,
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.models = models
        self.cv = cv
        self.eps = eps
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        if self.models is not None and (not isinstance(self.models, (list, tuple)) or len(self.models) < 2):
            raise InvalidInput(f"models must be a list of at least 2 estimators, got {self.models!r}.")
        predictor = self._target_predictor()
        self.estimator_ = predictor.fitted(X, y)
        self.models_ = None if self.models is None else [clone(model).fit(X, y) for model in self.models]
        if self.models is None:
            _models_inside(self.estimator_)
        both = _Ensemble(predictor.declared, self.models)
        if predictor.refittable or self.models is not None:
            found = cross_predict(both, X, y, cv=self.cv, random_state=self.random_state)
        else:
            found = both.fit(X, y).predict(X)
        prediction, spread = found.T
        self.shrinkage_ = Shrinkage.fit(spread, y - prediction, floor=rounding_error(y), eps=self.eps)

    def _evaluate(self, X: Any) -> Floats:
        return self.shrinkage_(_spread(self.estimator_, self.models_, X))

    def _parts(self) -> list[Any]:
        return [self.estimator, *(self.models if isinstance(self.models, (list, tuple)) else [])]


class _Ensemble(BaseEstimator):
    """A predictor with the models to compare: `predict` returns its prediction and their spread."""

    def __init__(self, predictor: Any, models: Any) -> None:
        self.predictor = predictor
        self.models = models

    def fit(self, X: Any, y: Any) -> Self:
        self.predictor_ = self.predictor.fit(X, y) if hasattr(self.predictor, "fit") else self.predictor
        self.models_ = None if self.models is None else [model.fit(X, y) for model in self.models]
        return self

    def predict(self, X: Any) -> Floats:
        return np.column_stack([predictions(self.predictor_, X), _spread(self.predictor_, self.models_, X)])


def _spread(predictor: Any, models: Iterable[Any] | None, X: Any) -> Floats:
    """Return the standard deviation over these models; None is the models inside the predictor."""
    if models is not None:
        columns = [np.asarray(model.predict(X), dtype=np.float64).ravel() for model in models]
    else:
        ensemble, prepared = _last_step(predictor, X)
        columns = [model.predict(rows) for model, rows in _pair_with_rows(ensemble, prepared)]
    return np.asarray(np.std(columns, axis=0, ddof=1))


def _last_step(predictor: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a predictor, and the rows as the steps before it transform them."""
    if isinstance(predictor, FrozenEstimator):
        return _last_step(predictor.estimator, X)
    if isinstance(predictor, Pipeline):
        return _last_step(predictor[-1], X if X is None or len(predictor) == 1 else predictor[:-1].transform(X))
    return predictor, X


def _models_inside(predictor: Any) -> list[Any]:
    """Return the models inside an averaging ensemble, or raise."""
    ensemble, _ = _last_step(predictor, None)
    members = getattr(ensemble, "estimators_", None)
    # Boosting has its stages in an array: they are parts of one model, not models of y.
    if not isinstance(members, list) or len(members) < 2:
        raise InvalidInput(
            "EnsembleScale needs a predictor with at least 2 models of y in estimators_ (a forest, a bagging, a voting "
            f"regressor), or a list of models, got {ensemble!r}."
        )
    return members


def _pair_with_rows(ensemble: Any, X: Any) -> list[tuple[Any, Any]]:
    """Return the models inside an ensemble, each with the rows in the form of its fit."""
    members = _models_inside(ensemble)
    if any(hasattr(member, "feature_names_in_") for member in members):
        return [(member, X) for member in members]
    rows = X if hasattr(X, "toarray") else np.asarray(X)
    subsets = getattr(ensemble, "estimators_features_", [None] * len(members))
    return [
        (member, rows if subset is None else rows[:, subset]) for member, subset in zip(members, subsets, strict=True)
    ]
