"""σ̂(x) from the errors at the nearest neighbours of x."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.impute import SimpleImputer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive_integer
from pacband.local.units import rounding_error
from pacband.scale.base import BaseScale, after_preprocessing
from pacband.scale.shrinkage import Shrinkage, scale_loss

__all__ = ["NeighborScale"]

# So many rows are enough to choose k: each of them costs a search.
_MOST_ROWS = 2000


class NeighborScale(BaseScale):
    r"""A scale from the errors at the nearest neighbours.

    With e the out-of-fold errors of the predictor and k the number of neighbours,

    .. math::

        s(x) = \frac1k \sum_{j ∈ N_k(x)} |e_j|, \qquad σ̂^2(x) = ℓ^2 \left(w s^2(x) / m + 1 - w\right),

    where w shrinks it towards a constant (see Notes). It is chosen on each row's neighbours other than itself.

    Parameters
    ----------
    estimator : estimator or function, optional
        The predictor T. None is the predictor this scale is used with. An estimator is cloned and cross-fitted; a
        function or a `sklearn.frozen.FrozenEstimator` predicts the rows as it is, and they must be new to it.
    n_neighbors : int, optional
        k, at most the number of rows. None chooses it among 8, 16, …, 256 by the same loss as w.
    transformer : transformer, optional
        Maps X to the space in which distances are measured. None fills gaps by the mean and scales every feature to
        standard deviation one, after the preprocessing of T if T is a pipeline.
    algorithm : str
        The neighbour index, as in `sklearn.neighbors.NearestNeighbors`.
    cv : int or splitter
        The folds in which T is cross-fitted.
    eps : float, optional
        Choose k and w for the narrowest mean band at this ε, instead of for the most likely σ̂(x).
    random_state : int, RandomState or None
        Seeds the folds, and the draw of the 2000 rows on which k and w are chosen. The default is a fixed seed.

    Attributes
    ----------
    errors_ : ndarray of shape (n_samples,)
        The out-of-fold errors y − T(x).
    n_neighbors_ : int
        k.
    shrinkage_ : Shrinkage
        w, ℓ and m.

    Notes
    -----
    The mean of k absolute errors is itself uncertain by about 0.76/√k of its value: with constant noise a band of raw
    neighbour scales is wider than one of a constant scale by 5 % at k = 20. The share w removes nearly all of it.

    References
    ----------
    Boström, Linusson, Löfström, Johansson (2017), Accelerating difficulty estimation for conformal regression
    forests, Annals of Mathematics and Artificial Intelligence 81.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband.scale import NeighborScale
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (500, 1))
    >>> y = X[:, 0] + np.where(X[:, 0] > 0, 3.0, 1.0) * rng.standard_normal(500)
    >>> NeighborScale(LinearRegression()).fit(X, y).predict([[-0.5], [0.5]]).round()
    array([1., 3.])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | None = None,
        transformer: Any = None,
        algorithm: str = "auto",
        cv: Any = 5,
        eps: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.transformer = transformer
        self.algorithm = algorithm
        self.cv = cv
        self.eps = eps
        self.random_state = random_state

    def _learn(self, X: Any, y: Floats) -> None:
        wanted = None if self.n_neighbors is None else check_positive_integer("n_neighbors", self.n_neighbors)
        predictor = self._target_predictor()
        self.errors_ = predictor.errors(X, y, cv=self.cv, random_state=self.random_state)
        self.transformer_ = (
            after_preprocessing(predictor.declared, SimpleImputer(keep_empty_features=True), StandardScaler())
            if self.transformer is None
            else after_preprocessing(None, self.transformer)
        )
        places = self.transformer_.fit_transform(X)
        self.index_ = NearestNeighbors(algorithm=self.algorithm).fit(places)

        counts = [wanted] if wanted else [8 << step for step in range(6)]
        counts = sorted({min(count, len(y) - 1) for count in counts})
        rows = _sample_rows(len(y), self.random_state)
        neighbors = self._search_others(places, rows, max(counts))
        found = [self._fit_shrinkage(neighbors[:, :count], rows, rounding_error(y)) for count in counts]
        best = min(range(len(counts)), key=lambda place: found[place][0])
        self.n_neighbors_, self.shrinkage_ = counts[best], found[best][1]

    def _fit_shrinkage(
        self, neighbors: npt.NDArray[np.intp], rows: npt.NDArray[np.intp], floor: float
    ) -> tuple[float, Shrinkage]:
        """Return the loss, and the shrinkage, of σ̂ from these neighbours of these rows."""
        errors, signal = self.errors_[rows], self._signal(neighbors)
        shrinkage = Shrinkage.fit(signal, errors, floor=floor, eps=self.eps)
        sizes, scale = np.maximum(np.abs(errors), floor), shrinkage(signal)
        return scale_loss(sizes, scale, scale, self.eps), shrinkage

    def _search_others(self, places: Any, rows: npt.NDArray[np.intp], count: int) -> npt.NDArray[np.intp]:
        """Return the nearest neighbours of training rows, without the row itself."""
        found = self.index_.kneighbors(places[rows], count + 1, return_distance=False)
        itself = found == rows[:, None]
        # Among many copies of a row the search may miss the row itself: then the last neighbour is left out.
        itself[~itself.any(axis=1), -1] = True
        return np.asarray(found[~itself].reshape(len(rows), count))

    def _signal(self, neighbors: npt.NDArray[np.intp]) -> Floats:
        return np.asarray(np.abs(self.errors_)[neighbors].mean(axis=1))

    def _evaluate(self, X: Any) -> Floats:
        places = self.transformer_.transform(X)
        return self.shrinkage_(self._signal(self.index_.kneighbors(places, self.n_neighbors_, return_distance=False)))

    def _parts(self) -> list[Any]:
        return [self.estimator, self.transformer]


def _sample_rows(n_rows: int, random_state: Any) -> npt.NDArray[np.intp]:
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    drawn = check_random_state(random_state).choice(n_rows, _MOST_ROWS, replace=False)
    return np.asarray(np.sort(drawn))
