"""Where the samples lie, as the norm sees them: distances and nearest samples."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from pacband.core.arrays import Floats
from pacband.local.norms import Norm
from pacband.local.weights import nearest

__all__ = ["Locality"]


# Above some twelve dimensions a tree visits most of its leaves, and comparing with every sample is faster.
_TREE_DIMENSIONS = 12
_LEAF = 64


class Locality:
    """The embedded samples, and an index of them.

    The index is built at the first use and kept. Copies, pickles and model files leave it out.

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
        """Whether the index is a tree, which is faster for points that are near each other in the list."""
        return bool(self.points.shape[1] <= _TREE_DIMENSIONS)

    def sweep(self, X: Floats) -> NDArray[np.intp]:
        """Return an order of the rows of X in which neighbours in the list are neighbours in space."""
        if not self.has_tree:
            return np.arange(len(X))
        order: NDArray[np.intp] = cKDTree(self.norm.embed(X), leafsize=_LEAF).indices
        return order

    def distances(self, X: Floats) -> Floats:
        """Return ‖x − x_j‖ for every row x of X and every sample."""
        return self.norm.distances(self.norm.embed(X), self.points)

    def nearest(self, X: Floats, count: int) -> tuple[NDArray[np.intp], Floats]:
        """Return the `count` nearest samples of each row, in training order, and their distances.

        Of samples at the same distance the first in training order is taken, as in `weights.nearest`.
        """
        queries = self.norm.embed(X)
        n_samples = len(self.points)
        if count >= n_samples:
            rows = np.broadcast_to(np.arange(n_samples), (len(X), n_samples))
            return rows, self.norm.distances(queries, self.points)
        rows, reach, slack = self._query(queries, count + 1)
        # An index breaks ties in any way: where the last taken and the first refused are tied, compare all samples.
        tied = np.flatnonzero(reach[:, count - 1] >= (1.0 - slack) * reach[:, count])
        rows = np.sort(rows[:, :count], axis=1)
        step = max(1, (1 << 22) // n_samples)
        for start in range(0, len(tied), step):
            some = tied[start : start + step]
            kept = nearest(self.norm.distances(queries[some], self.points), count)
            rows[some] = np.nonzero(kept)[1].reshape(len(some), count)
        return rows, self.norm.lengths(self.points[rows] - queries[:, None, :])

    def _query(self, queries: Floats, count: int) -> tuple[NDArray[np.intp], Floats, float]:
        """Return the nearest samples, their distances, and the relative error of these distances."""
        tree, arranged = self.index
        if self.has_tree:
            reach, rows = tree.query(queries, k=count, p=self.norm.order)
            # A distance that overflows has no sample: such a row is tied, and compared with all samples.
            return arranged[np.minimum(rows, len(arranged) - 1)], reach, 1e-14
        reach, rows = tree.kneighbors(queries - arranged, n_neighbors=count)
        return rows, reach, 1e-6

    @cached_property
    def index(self) -> tuple[Any, NDArray[Any]]:
        """A tree and the order in which it has the samples; or a search by brute force and the centre it subtracts."""
        if self.has_tree:
            # Samples that are neighbours in the tree are neighbours in memory, and so in the cache.
            order = cKDTree(self.points, leafsize=_LEAF).indices
            return cKDTree(self.points[order], leafsize=_LEAF), order
        # Brute force takes squared distances from inner products, which keep more digits when centred.
        centre = self.points.mean(axis=0)
        search = NearestNeighbors(algorithm="brute", metric=self.norm.metric)
        return search.fit(self.points - centre), centre

    def __getstate__(self) -> dict[str, Any]:
        return {"norm": self.norm, "points": self.points}
