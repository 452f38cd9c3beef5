"""Predict few rows fast: the trees of a model are joined into one tree, which one call evaluates.

scikit-learn calls every tree of a model by itself. For a single row these calls take almost all the time: an automatic
family has some thousand trees. The joined tree starts with a router: it splits by one more feature, the number of a
tree, until it has found that tree. A row is then evaluated once for each number. All comparisons are made by
scikit-learn's own compiled code, and sums have its order, so the predictions are the same to the last bit. This rests
on inner parts of scikit-learn, so `pacband.candidates.stack.Stack` compares the bits once before it uses joined trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from joblib import hash as joblib_hash
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline

from pacband.candidates.windows import ShortestWindow
from pacband.core.arrays import Floats

__all__ = ["MOST_ROWS", "View", "join_trees"]

# For more rows than this, one call for each tree is as fast.
MOST_ROWS = 64
# A model with more nodes than this is not joined: its nodes would be in memory twice.
_MOST_NODES = 4_000_000


def join_trees(model: Any, views: dict[str, View] | None = None) -> Any:
    """Return what predicts as a fitted model does, but is fast for at most `MOST_ROWS` rows.

    Trees are joined in histogram boosting, forests and shortest windows, also within pipelines and transformed targets.
    Any other model is returned as it is.

    Parameters
    ----------
    model : estimator
        The fitted model.
    views : dict of str to View, optional
        The transformers that models share. Receives those of this model.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool((join_trees(forest).predict(X[:3]) == forest.predict(X[:3])).all())
    True
    """
    kind, views = type(model), {} if views is None else views
    if kind is HistGradientBoostingRegressor and model.n_trees_per_iteration_ == 1:
        few = _are_few([len(stage[0].nodes) for stage in model._predictors])
        return _JoinedBoosting(model, views) if few else model
    if kind in (ExtraTreesRegressor, RandomForestRegressor) and model.n_outputs_ == 1:
        few = _are_few([member.tree_.node_count for member in model.estimators_])
        return _JoinedForest(model) if few else model
    if kind is Pipeline:
        steps = [step for _, step in model.steps[:-1] if step is not None and not isinstance(step, str)]
        return _Steps([_share(step, views) for step in steps[:1]] + steps[1:], join_trees(model.steps[-1][1], views))
    twin = copy(model)
    if kind is KNeighborsRegressor and model._fit_method in ("kd_tree", "ball_tree"):
        # Starting threads takes longer than finding the neighbours of a few rows.
        twin.n_jobs = None
    elif kind is TransformedTargetRegressor:
        twin.regressor_ = join_trees(model.regressor_, views)
    elif kind is ShortestWindow:
        twin.forest_ = join_trees(model.forest_)
    else:
        return model
    return twin


class View:
    """A fitted transformer that several models share: it transforms a table once, if they use it in turn."""

    def __init__(self, transformer: Any) -> None:
        self._transformer = transformer
        # One tuple, so that a thread never sees the table of one call with the result of another.
        self._last: tuple[Any, Any] = (None, None)

    def transform(self, X: Any) -> Any:
        """Return the transformed table, which must not be changed."""
        table, found = self._last
        if table is not X:
            found = self._transformer.transform(X)
            self._last = X, found
        return found


def _share(transformer: Any, views: dict[str, View]) -> View:
    """Return the view of an equal transformer, or a new one. Equal ones have the same attributes, to the last bit."""
    return views.setdefault(joblib_hash(transformer), View(transformer))


class _JoinedBoosting:
    """Histogram boosting with one joined tree."""

    def __init__(self, model: Any, views: dict[str, View]) -> None:
        # Private, so it is imported where its absence is no error: see `Stack`.
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        trees = [stage[0] for stage in model._predictors]
        fields = ("left", "right", "feature_idx", "num_threshold")
        nodes, _ = _join([tree.nodes for tree in trees], fields, model.n_features_in_)
        sets = np.concatenate([tree.raw_left_cat_bitsets for tree in trees])
        n_sets = np.array([len(tree.raw_left_cat_bitsets) for tree in trees])
        first = np.repeat(np.cumsum(n_sets) - n_sets, [len(tree.nodes) for tree in trees])
        nodes["bitset_idx"][len(trees) - 1 :] += first.astype(np.uint32)
        self._tree, self._n_trees = TreePredictor(nodes, sets, sets), len(trees)
        self._known = model._bin_mapper.make_known_categories_bitsets()
        self._model = model
        self._view = None if model._preprocessor is None else _share(model._preprocessor, views)

    def predict(self, X: Any) -> Floats:
        model = self._model
        if self._view is not None:
            X = self._view.transform(X)
        values = self._tree.predict(_number_rows(X, self._n_trees, np.float64), *self._known, 1)
        return np.asarray(model._loss.link.inverse(_sum(model._baseline_prediction[0, 0], values, self._n_trees)))


class _JoinedForest:
    """A forest with one joined tree."""

    def __init__(self, model: Any) -> None:
        from sklearn.tree._tree import Tree

        trees = [member.tree_ for member in model.estimators_]
        states = [tree.__getstate__() for tree in trees]
        fields = ("left_child", "right_child", "feature", "threshold")
        nodes, starts = _join([state["nodes"] for state in states], fields, model.n_features_in_)
        values = np.concatenate([np.zeros((len(trees) - 1, 1, 1)), *(state["values"] for state in states)])
        self._tree = Tree(model.n_features_in_ + 1, np.ones(1, dtype=np.intp), 1)
        depth = 1 + len(trees) + max(tree.max_depth for tree in trees)
        self._tree.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values})
        self._values, self._starts, self._model = values.ravel(), starts, model

    def predict(self, X: Any) -> Floats:
        leaves = self._leaves(X)
        return np.asarray(_sum(0.0, self._values[leaves], len(self._starts)) / len(self._starts))

    def apply(self, X: Any) -> Any:
        """Return the leaf of every row in each tree, of shape (n, trees)."""
        return (self._leaves(X).reshape(len(self._starts), -1) - self._starts[:, None]).T

    def _leaves(self, X: Any) -> Any:
        return self._tree.apply(_number_rows(self._model._validate_X_predict(X), len(self._starts), np.float32))


class _Steps:
    """A pipeline: transformers, and what predicts."""

    def __init__(self, transformers: Sequence[Any], final: Any) -> None:
        self._transformers = transformers
        self._final = final

    def predict(self, X: Any) -> Any:
        for transformer in self._transformers:
            X = transformer.transform(X)
        return self._final.predict(X)


def _are_few(counts: Sequence[int]) -> bool:
    """Whether trees with these numbers of nodes may be joined."""
    return 0 < sum(counts) <= _MOST_NODES


def _join(trees: Sequence[Any], names: tuple[str, str, str, str], n_features: int) -> tuple[Any, Any]:
    """Return the nodes of a router and of all trees, and where each tree starts.

    `names` are the fields of a node: its left and its right child, its feature and where it splits it.
    """
    n_router = len(trees) - 1
    counts = np.array([len(nodes) for nodes in trees])
    starts = n_router + np.cumsum(counts) - counts
    nodes = np.zeros(n_router + counts.sum(), dtype=trees[0].dtype)
    # As bytes: numpy joins arrays of records one field after the other.
    nodes[n_router:] = np.frombuffer(b"".join([tree.tobytes() for tree in trees]), dtype=nodes.dtype)
    router, rest, own = nodes[:n_router], nodes[n_router:], np.repeat(starts, counts)
    left, right, feature, threshold = names
    for name in (left, right):
        # The children of a leaf are 0 or −1, and stay so: −1 marks a leaf of a forest.
        rest[name] += np.where(rest[name] > 0, own, 0).astype(nodes.dtype[name])
    places, router[threshold] = _route(len(trees))
    router[feature] = n_features
    for name, place in zip((left, right), places, strict=True):
        router[name] = np.where(place < 0, starts[-place - 1], place)
    return nodes, starts


@cache
def _route(n_trees: int) -> tuple[Any, Floats]:
    """Return the left and right children of the nodes of a router, and where they split the numbers of the trees.

    A child is a node of the router, or −t − 1 for the tree t. The nodes for trees t, …, u − 1 are u − t − 1 nodes that
    follow each other: the first splits the trees, then come those of the left half, then those of the right half.
    """
    children, splits = np.empty((2, n_trees - 1), dtype=np.int64), np.empty(n_trees - 1)
    waiting = [(0, 0, n_trees)] if n_trees > 1 else []
    while waiting:
        node, first, end = waiting.pop()
        middle = (first + end) // 2
        splits[node] = middle - 0.5
        halves = ((node + 1, first, middle), (node + middle - first, middle, end))
        children[:, node] = [place if stop - start > 1 else -start - 1 for place, start, stop in halves]
        waiting += [half for half in halves if half[2] - half[1] > 1]
    return children, splits


def _number_rows(X: Any, n_trees: int, dtype: Any) -> Any:
    """Return every row once for each tree, with the number of the tree as one more feature."""
    found = np.empty((n_trees, len(X), X.shape[1] + 1), dtype=dtype)
    found[..., :-1] = X
    found[..., -1] = np.arange(n_trees)[:, None]
    return found.reshape(-1, X.shape[1] + 1)


def _sum(start: float, values: Any, n_trees: int) -> Floats:
    """Return the sum over the trees for every row, added one by one as scikit-learn does."""
    by_tree = values.reshape(n_trees, -1)
    return np.asarray(np.cumsum(np.vstack([np.full(by_tree.shape[1], start), by_tree]), axis=0)[-1])
