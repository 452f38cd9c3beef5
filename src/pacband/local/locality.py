"""Where the samples lie, as the norm sees them: distances and nearest samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from pacband.core.arrays import Floats
from pacband.local.norms import Norm
from pacband.local.weights import nearest

__all__ = ["Locality"]


# Beyond some twelve dimensions a tree visits most of its leaves and comparing with every sample is faster.
_TREE_DIMENSIONS = 12
_LEAF = 64
_METRICS = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}


class Locality:
    """The embedded samples, and an index of them that is built on first use and never saved.

    Parameters
    ----------
    norm : Norm
    X : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> locality = Locality(Norm(2.0), np.array([[0.0], [1.0], [5.0]]))
    >>> locality.distances(np.array([[2.0]]))
    array([[2., 1., 3.]])
    >>> rows, distances = locality.nearest(np.array([[2.0]]), 2)
    >>> rows, distances
    (array([[0, 1]]), array([[2., 1.]]))
    """

    def __init__(self, norm: Norm, X: Floats) -> None:
        self.norm = norm
        self.points = np.ascontiguousarray(norm.embed(X))

    @property
    def is_line(self) -> bool:
        """Whether distances are those of points on a line."""
        return bool(self.points.shape[1] == 1)

    @property
    def has_tree(self) -> bool:
        """Whether nearest samples are found by a tree, which is faster for points in an order of their own."""
        return bool(self.points.shape[1] <= _TREE_DIMENSIONS)

    def sweep(self, X: Floats) -> NDArray[np.intp]:
        """An order of the rows of X in which neighbours in the list are neighbours in space."""
        if not self.has_tree:
            return np.arange(len(X))
        order: NDArray[np.intp] = cKDTree(self.norm.embed(X), leafsize=_LEAF).indices
        return order

    def distances(self, X: Floats) -> Floats:
        """‖x − x_j‖ for every row x of X and every sample."""
        return self.norm.distances(self.norm.embed(X), self.points)

    def nearest(self, X: Floats, count: int) -> tuple[NDArray[np.intp], Floats]:
        """The `count` nearest samples of each row, in training order, and their distances.

        Of samples at the same distance the first in training order is taken, as in `weights.nearest`.
        """
        queries = self.norm.embed(X)
        n_samples = len(self.points)
        if count >= n_samples:
            rows = np.broadcast_to(np.arange(n_samples), (len(X), n_samples))
            return rows, self.norm.distances(queries, self.points)
        rows, reach, slack = self._query(queries, count + 1)
        # An index breaks ties as it likes: where the last taken and the first refused are equal, look at them all.
        tied = np.flatnonzero(reach[:, count - 1] >= (1.0 - slack) * reach[:, count])
        rows = np.sort(rows[:, :count], axis=1)
        step = max(1, (1 << 22) // n_samples)
        for start in range(0, len(tied), step):
            some = tied[start : start + step]
            kept = nearest(self.norm.distances(queries[some], self.points), count)
            rows[some] = np.nonzero(kept)[1].reshape(len(some), count)
        return rows, self.norm.lengths(self.points[rows] - queries[:, None, :])

    def _query(self, queries: Floats, count: int) -> tuple[NDArray[np.intp], Floats, float]:
        if self.has_tree:
            tree = self._index()
            reach, rows = tree.query(queries, k=count, p=self.norm.order)
            # A distance that overflows has no index: such a row is tied, and looked at again.
            return self._order[np.minimum(rows, len(self._order) - 1)], reach, 1e-14
        tree = self._index()
        reach, rows = tree.kneighbors(queries - self._centre, n_neighbors=count)
        return rows, reach, 1e-6

    def _index(self) -> Any:
        # Threads may come here at once: the index is published last, when it is whole.
        if "_tree" not in self.__dict__:
            if self.has_tree:
                # Points that lie in memory as they lie in the tree are in the cache when it comes to them.
                self._order = cKDTree(self.points, leafsize=_LEAF).indices
                self._tree = cKDTree(self.points[self._order], leafsize=_LEAF)
            else:
                # Brute force takes squared distances from inner products, which keep more digits when centred.
                self._centre = self.points.mean(axis=0)
                tree = NearestNeighbors(algorithm="brute", metric=_METRICS[self.norm.order])
                self._tree = tree.fit(self.points - self._centre)
        return self._tree

    def __getstate__(self) -> dict[str, Any]:
        return {"norm": self.norm, "points": self.points}
