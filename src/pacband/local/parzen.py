"""The Parzen estimate: the weighted root mean square of given errors near x."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats
from pacband.local.choice import choose_for_features
from pacband.local.design import Regressors
from pacband.local.engine import evaluate, prepare
from pacband.local.locality import Locality
from pacband.local.model import Model
from pacband.local.norms import Norm
from pacband.local.units import unit_of
from pacband.local.weights import Weight

__all__ = ["fit_parzen", "no_features", "predict_parzen"]


def fit_parzen(X: Floats, y: Floats, errors: Floats, weight: Weight, norm: Norm) -> Model:
    """Return a local model with σ̂²(x) = ΣΓe²/ΣΓ: a local ridge fit without features, whose residuals are the errors.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        The targets. σ̂ is at least their rounding error.
    errors : ndarray of shape (n_samples,)
        e.
    weight : Weight
        Γ.
    norm : Norm
        The norm of Γ.

    Examples
    --------
    >>> X, errors = np.array([[0.0], [1.0], [9.0]]), np.array([3.0, -3.0, 5.0])
    >>> model = fit_parzen(X, errors, errors, Weight("exponential", 10.0), Norm(2.0))
    >>> predict_parzen(model, np.array([[0.5], [8.0]]))
    array([3., 5.])
    """
    unit = unit_of(y)
    locality = Locality(norm, X)
    nothing = Regressors(np.empty((len(y), 0)), np.empty(0), errors / unit, no_features, np.empty((0, 0)))
    model = Model(choose_for_features(weight, locality), locality, weight, nothing, 1.0, y / unit, unit)
    prepare([model])
    return model


def predict_parzen(model: Model, X: Floats) -> Floats:
    """Return σ̂(x) > 0 for every row x of X."""
    ((_, scale),) = evaluate([model], X)
    return scale


def no_features(X: Floats) -> Floats:
    """Return φ(x) of a model without features: shape (n, 0)."""
    return np.empty((len(X), 0))
