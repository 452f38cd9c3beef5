"""The Parzen estimate of σ̂(x) around a given predictor: the paper's first form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from pacband.core.arrays import Floats
from pacband.local.model import Model
from pacband.local.norms import resolve_norm
from pacband.local.parzen import fit_parzen, predict_parzen
from pacband.local.weights import resolve_weight
from pacband.scale.base import BaseScale, own_features
from pacband.scale.crossfit import Predictor

__all__ = ["ParzenScale"]


class ParzenScale(BaseScale):
    r"""A scale σ̂(x) > 0 from the errors a predictor makes near x.

    The Parzen estimate of the paper (Section 3) for a predictor T,

    .. math::

        σ̂^2(x) = \frac{\sum_j Γ(x, x_j)\,(y_j - T(x_j))^2}{\sum_j Γ(x, x_j)}.

    It is a local ridge fit without regressors, and is computed as one.

    Parameters
    ----------
    estimator : estimator or function, optional
        T. A fitted estimator or a function X ↦ T(x) is used as it is. Wrap a fitted one in
        `sklearn.frozen.FrozenEstimator` if `clone` must not reset it. An estimator that is not fitted is cross-fitted,
        and each error is out-of-fold: errors on the samples of a fit are too small, and smallest where the model is
        most flexible. None is the predictor that the scale is used with.
    transformer : transformer, optional
        Maps X to the numbers between which distances are measured. None is X itself, after the preprocessing of T if T
        is a pipeline: a table with texts needs the encoder that T has.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`LocalRidge`.
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
        transformer: Any = None,
        weight: Any = "exponential",
        decay: float = 1.0,
        norm: Any = 2,
        n_neighbors: int | None = None,
        cv: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.transformer = transformer
        self.weight = weight
        self.decay = decay
        self.norm = norm
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        predictor = self._target_predictor()
        features = own_features(self.transformer, predictor.declared)
        self.transformer_ = None if features is None else features.fit(X, y)
        places = self._places(X)
        norm = resolve_norm(self.norm, places.shape[1])
        self.errors_ = predictor.errors(X, y, cv=self.cv, random_state=self.random_state)
        self._model = fit_parzen(places, y, self.errors_, weight, norm)

    def _evaluate(self, X: Any) -> Floats:
        return predict_parzen(self._model, self._places(X))

    def _places(self, X: Any) -> Floats:
        # A scale from a file of an earlier version has no transformer.
        transformer = getattr(self, "transformer_", None)
        return np.asarray(check_array(X if transformer is None else transformer.transform(X), dtype=np.float64))

    def _parts(self) -> list[Any]:
        return [self.estimator, self.transformer]

    def _target_predictor(self) -> Predictor:
        given = super()._target_predictor()
        # The paper's first form: around a given predictor, which is not fitted again.
        if self._predictor is None and given.refittable and _is_fitted(self.estimator):
            return Predictor(FrozenEstimator(self.estimator))
        return given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Distances need rows of numbers, whatever the estimator accepts; a transformer may make them.
        if self.transformer is None and getattr(self, "transformer_", None) is None:
            tags.input_tags.allow_nan = tags.input_tags.sparse = False
        return tags


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return False
    return True
