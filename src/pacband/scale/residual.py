"""σ̂(x) from a regression of the log of the absolute error on x."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from pacband.core.arrays import Floats
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale, after_preprocessing
from pacband.scale.crossfit import cross_predict
from pacband.scale.shrinkage import Shrinkage

__all__ = ["CAUTIOUS", "ResidualScale"]

# Errors below this share of their median are raised to it: their logarithms would dominate the fit.
_LEAST_ERROR = 0.1
# Boosting with large leaves and small steps: the size of an error is a weak signal.
CAUTIOUS = {"learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 40}


class ResidualScale(BaseScale):
    r"""A scale from a second model that predicts the size of the first one's error.

    With e the out-of-fold errors of the predictor, a regressor g is fitted to log max(\|e\|, c), c = 0.1·median\|e\|,
    and

    .. math::

        s(x) = \exp g(x), \qquad σ̂^2(x) = ℓ^2 \left(w s^2(x) / m + 1 - w\right).

    The share w is chosen on out-of-fold predictions of T and g. Where the size of the error cannot be predicted, w is
    near 0 and σ̂ near a constant.

    Parameters
    ----------
    estimator : estimator or function, optional
        The predictor T. None is the predictor this scale is used with. An estimator is cloned and cross-fitted; a
        function or a `sklearn.frozen.FrozenEstimator` predicts the rows as it is, and they must be new to it.
    regressor : estimator, optional
        g. None is a cautious histogram gradient boosting, which takes gaps and categorical columns, after the
        preprocessing of T if T is a pipeline.
    cv : int or splitter
        The folds in which T and g are cross-fitted.
    eps : float, optional
        Choose w for the narrowest mean band at this ε, instead of for the most likely σ̂(x).
    random_state : int, RandomState or None
        Seeds the folds and the default regressor. The default is a fixed seed.

    Attributes
    ----------
    errors_ : ndarray of shape (n_samples,)
        The out-of-fold errors y − T(x).
    regressor_ : estimator
        g, fitted on all rows.
    shrinkage_ : Shrinkage
        w, ℓ and m.

    References
    ----------
    Papadopoulos, Gammerman, Vovk (2008), Normalized nonconformity measures for regression conformal prediction.
    Davidian, Carroll (1987), Variance function estimation, JASA 82.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from pacband.scale import ResidualScale
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (1000, 1))
    >>> y = X[:, 0] + np.where(X[:, 0] > 0, 3.0, 1.0) * rng.standard_normal(1000)
    >>> scale = ResidualScale(LinearRegression(), KNeighborsRegressor(100)).fit(X, y)
    >>> scale.predict([[-0.5], [0.5]]).round()
    array([1., 3.])
    """

    def __init__(
        self,
        estimator: Any = None,
        regressor: Any = None,
        *,
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.regressor = regressor
        self.cv = cv
        self.eps = eps
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        predictor = self._target_predictor()
        self.errors_ = predictor.errors(X, y, cv=self.cv, random_state=self.random_state)
        regressor = self._default(predictor.declared) if self.regressor is None else clone(self.regressor)
        floor = rounding_error(y)
        sizes = np.abs(self.errors_)
        target = np.log(np.maximum(sizes, max(_LEAST_ERROR * float(np.median(sizes)), floor)))
        out_of_fold = cross_predict(regressor, X, target, cv=self.cv, random_state=self.random_state)
        # Relative to the typical error, so that the exponential of any finite g is in range.
        self._origin = float(np.median(target))
        self.shrinkage_ = Shrinkage.fit(self._signal(out_of_fold), self.errors_, floor=floor, eps=self.eps)
        self.regressor_ = regressor.fit(X, target)

    def _evaluate(self, X: Any) -> Floats:
        return self.shrinkage_(self._signal(self.regressor_.predict(X)))

    def _signal(self, logs: Any) -> Floats:
        return np.exp(np.clip(np.asarray(logs, dtype=np.float64) - self._origin, -50.0, 50.0))

    def _default(self, predictor: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return after_preprocessing(
            predictor,
            HistGradientBoostingRegressor(**CAUTIOUS, random_state=self.random_state),
        )

    def _parts(self) -> list[Any]:
        return [self.estimator, self.regressor]
