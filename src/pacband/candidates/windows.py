"""The shortest window that contains most of y given x: the shape of the conditional distribution, not only its spread.

A forest gives every x a sample of y: the values in its leaves. If y given x is skewed or has two modes, the shortest
interval with a share of that sample is not centred at the mean, and is narrower than any interval around the mean.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from pacband.core.arrays import Floats, blocks

__all__ = ["ShortestWindow"]

# A leaf is summarised by this many of its order statistics, so that every x has a sample of the same size.
_PER_LEAF = 5


class ShortestWindow(BaseEstimator):
    """The shortest interval with a share of the leaf values of a forest.

    Parameters
    ----------
    forest : estimator
        A scikit-learn forest of regression trees, with `apply`.
    mass : float in (0, 1)
        The share.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.uniform(size=(2000, 1)), rng.exponential(size=2000)
    >>> window = ShortestWindow(ExtraTreesRegressor(50, min_samples_leaf=100, random_state=0), 0.9).fit(X, y)
    >>> bool(window.predict([[0.5]])[0, 0] < 0.2)
    True
    """

    def __init__(self, forest: Any, mass: float) -> None:
        self.forest = forest
        self.mass = mass

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the forest, and summarise its leaves."""
        self.forest_ = clone(self.forest).fit(X, y)
        # In one thread the result does not depend on scheduling.
        self.forest_.set_params(n_jobs=None)
        leaves = self.forest_.apply(X)
        levels = (np.arange(_PER_LEAF) + 0.5) / _PER_LEAF
        self._values: list[Floats] = []
        for tree, leaf in zip(self.forest_.estimators_, leaves.T, strict=True):
            values = np.zeros((tree.tree_.node_count, _PER_LEAF))
            order = np.lexsort((y, leaf))
            nodes, starts, counts = np.unique(leaf[order], return_index=True, return_counts=True)
            values[nodes] = y[order][starts[:, None] + (levels * counts[:, None]).astype(np.int64)]
            self._values.append(values)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the lower and the upper end of the window at every row, of shape (n, 2)."""
        return np.concatenate([self._ends(X[rows]) for rows in blocks(len(X))])

    def _ends(self, X: Any) -> Floats:
        leaves = self.forest_.apply(X)
        sample = np.hstack([values[leaf] for values, leaf in zip(self._values, leaves.T, strict=True)])
        sample.sort(axis=1)
        span = min(int(np.ceil(self.mass * sample.shape[1])), sample.shape[1] - 1)
        lengths = sample[:, span:] - sample[:, :-span]
        # Of equally short windows the middle one: the first one would move every window down.
        shortest = lengths <= lengths.min(axis=1, keepdims=True)
        middle = (shortest.cumsum(axis=1) >= (shortest.sum(axis=1, keepdims=True) + 1) // 2).argmax(axis=1)
        rows = np.arange(len(X))
        return np.column_stack([sample[rows, middle], sample[rows, middle + span]])
