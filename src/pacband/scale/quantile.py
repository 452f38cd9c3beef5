"""σ̂(x) from two quantile regressors: conformalized quantile regression as a member of the family."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.checks import check_choice
from pacband.scale.crossfit import predictions
from pacband.scale.ends import QuantileEnds
from pacband.scale.residual import CAUTIOUS

__all__ = ["QuantileScale"]


class QuantileScale(QuantileEnds):
    r"""An asymmetric scale from the lower and the upper quantile of y, around any predictor.

    .. math::

        σ̂^-(x) = \max(T(x) - q_{α/2}(x), f), \qquad σ̂^+(x) = \max(q_{1-α/2}(x) - T(x), f).

    The certified band [T − γ̄σ̂⁻, T + γ̄σ̂⁺] is [q_{α/2}, q_{1−α/2}] drawn out, or in, around T by the factor γ̄:
    conformalized quantile regression in its scaled form, with the promise of a certificate. Each half-width is
    shrunk towards its mean over the rows, w·σ̂ + (1 − w)·mean(σ̂), by a share w settled on rows that neither T nor the
    quantiles have seen.

    Parameters
    ----------
    lower, upper : estimator, optional
        Regressors for the two quantiles. None is histogram gradient boosting with the quantile loss, at the levels
        α/2 and 1 − α/2, after the preprocessing of T if T is a pipeline.
    estimator : estimator or function, optional
        The predictor T. None is the predictor this scale is used with, which is not fitted a second time.
    target : {"y", "error"}
        What the quantiles are of: y, or the cross-fitted error y − T(x), to which T(x) is then added. The latter
        leaves to T what T knows, and its default regressors are more cautious.
    alpha : float in (0, 1)
        α, for the default regressors. Near ε is best.
    floor : float
        f as a share of the median half-width (q_{1−α/2} − q_{α/2})/2 over the rows. It is what is left where T lies
        outside the quantiles, or where they meet.
    cv : int or splitter
        The folds of the cross-fits of T and of the quantiles.
    eps : float, optional
        Settle w for the narrowest mean band at this ε, instead of for the most likely half-widths.
    random_state : int, RandomState or None
        Seeds the default regressors and the folds. The default is a fixed seed.

    Attributes
    ----------
    lower_, upper_, estimator_ : estimator
        The fitted quantiles, and the fitted T (None if the target is the error).
    floor_ : float
        f.
    shrinkage_ : PairShrinkage
        w and the mean half-widths.

    Notes
    -----
    Quantiles that cross are put in order (Chernozhukov, Fernández-Val, Galichon 2010). `predict` gives the pair
    (σ̂⁻, σ̂⁺), which goes with side="both".

    References
    ----------
    Romano, Patterson, Candès (2019), Conformalized quantile regression, NeurIPS. Kivaranovic, Johnson, Leeb (2020),
    Adaptive, distribution-free prediction intervals for deep networks, AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import QuantileRegressor
    >>> from pacband.scale import QuantileScale
    >>> X, y = np.zeros((101, 1)), np.arange(101.0)
    >>> ends = QuantileRegressor(quantile=0.1, alpha=0), QuantileRegressor(quantile=0.9, alpha=0)
    >>> scale = QuantileScale(*ends, estimator=lambda X: np.full(len(X), 30.0)).fit(X, y)
    >>> lower, upper = scale.predict(X[:1])
    >>> lower.round(), upper.round()
    (array([20.]), array([60.]))
    """

    def __init__(
        self,
        lower: Any = None,
        upper: Any = None,
        estimator: Any = None,
        *,
        target: str = "y",
        alpha: float = 0.1,
        floor: float = 0.05,
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.estimator = estimator
        self.target = target
        self.alpha = alpha
        self.floor = floor
        self.cv = cv
        self.eps = eps
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        check_choice("target", self.target, ("y", "error"))
        predictor = self._whose()
        unseen = predictor.predict(X, y, cv=self.cv, random_state=self.random_state)
        if self.target == "error":
            low, high = self._learn_ends(X, y - unseen, predictor.declared, **CAUTIOUS)
            ends = low + unseen, high + unseen
        else:
            ends = self._learn_ends(X, y, predictor.declared)
        self.estimator_ = None if self.target == "error" else predictor.fitted(X, y)
        self._settle(ends, unseen, y)

    def _evaluate(self, X: Any) -> tuple[Floats, Floats]:
        # Quantiles of the error lie around zero, those of y around T.
        centre = np.zeros(1) if self.estimator_ is None else np.asarray(predictions(self.estimator_, X), dtype=float)
        return self._half_widths(self._ends(X), centre)

    def _parts(self) -> list[Any]:
        return [self.estimator, self.lower, self.upper]
