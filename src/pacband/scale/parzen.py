"""The Parzen estimate of σ̂(x) around a given predictor: the paper's first form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from pacband.core.arrays import Floats
from pacband.local.design import Regressors
from pacband.local.engine import evaluate
from pacband.local.estimator import unit_of
from pacband.local.locality import Locality
from pacband.local.norms import resolve_norm
from pacband.local.ridge import feature_solver
from pacband.local.solvers.jobs import Model
from pacband.local.weights import resolve_weight
from pacband.scale.base import BaseScale
from pacband.scale.crossfit import Predictor

__all__ = ["ParzenScale"]


class ParzenScale(BaseScale):
    r"""A scale σ̂(x) > 0 from the errors a predictor makes near x.

    The Parzen estimate of the paper (Section 3) for a predictor T,

    .. math::

        σ̂^2(x) = \frac{\sum_j Γ(x, x_j)\,(y_j - T(x_j))^2}{\sum_j Γ(x, x_j)}.

    It is a local ridge fit with no regressors at all, and is computed as one.

    Parameters
    ----------
    estimator : estimator or function, optional
        T. A fitted estimator or a function X ↦ T(x) is used as it is; wrap a fitted one in
        `sklearn.frozen.FrozenEstimator` if it is to stay fitted through `clone`. An estimator that is not
        fitted is fitted in folds, and each error is taken from a fit that has not seen its sample: errors on the
        samples of a fit are too small, and most so where the model is most flexible. None is the predictor that the
        scale is used with.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`pacband.local.LocalRidge`.
    cv, random_state
        Folds for an estimator that is not fitted, as in `NeighborScale`.

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
        estimator: Any = None,
        *,
        weight: Any = "exponential",
        decay: float = 1.0,
        norm: Any = 2,
        n_neighbors: int | None = None,
        cv: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.weight = weight
        self.decay = decay
        self.norm = norm
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        places = check_array(X, dtype=np.float64)
        locality = Locality(resolve_norm(self.norm, places.shape[1]), places)
        self.errors_ = self._whose().errors(X, y, cv=self.cv, random_state=self.random_state)
        unit = unit_of(y)
        errors = Regressors(np.empty((len(y), 0)), np.empty(0), self.errors_ / unit, no_features, np.empty((0, 0)))
        solver = feature_solver(weight, locality.is_line, len(y))
        self._model = Model(solver, locality, weight, errors, 1.0, y / unit, unit)

    def _evaluate(self, X: Any) -> Floats:
        ((_, scale),) = evaluate([self._model], check_array(X, dtype=np.float64))
        return scale

    def _whose(self) -> Predictor:
        given = super()._whose()
        # The paper's first form: around a predictor that is given, and not fitted again.
        if self._predictor is None and given.refittable and _is_fitted(self.estimator):
            return Predictor(FrozenEstimator(self.estimator))
        return given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Distances are taken between rows of numbers, whatever the estimator accepts.
        tags.input_tags.allow_nan = tags.input_tags.sparse = False
        return tags


def no_features(X: Floats) -> Floats:
    """Return a feature map without features."""
    return np.empty((len(X), 0))


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return False
    return True
