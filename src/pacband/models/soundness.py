"""Is the content of a rebuilt model sound? Where compiled code follows numbers from a file without looking, we look.

Trees hold the positions of children and features, which scikit-learn follows without checking that they exist: a
forged file could crash the process, or make it read what is not its own. A child must come after its parent, so that
every walk ends, and a feature must be a column. An index of points must be the one that its points give, and a spline
one that scipy would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from pacband.exceptions import CertificateError

__all__ = ["check_sound"]


def check_sound(parts: Any, source: str) -> None:
    """Raise `CertificateError` unless every tree, index and spline within these objects is sound."""
    for value in _within(parts):
        try:
            sound = _sound(value)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise CertificateError(
                f"{source} was forged or damaged: it holds a {type(value).__name__} that is not sound."
            )


def _within(value: Any) -> Iterator[Any]:
    """Yield every object that can be reached from this one, once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type)):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple, set)):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel() if value.dtype == object else ())
        else:
            yield value
            waiting.extend(vars(value).values() if hasattr(value, "__dict__") else ())
            waiting.append(getattr(value, "__self__", None))


def _sound(value: Any) -> bool:
    if isinstance(value, Tree):
        nodes = value.__getstate__()["nodes"]
        inner = nodes["left_child"] != -1
        children = (nodes["left_child"], nodes["right_child"])
        return _walks_end(nodes, inner, children, nodes["feature"], value.n_features)
    if isinstance(value, BaseDecisionTree) and hasattr(value, "tree_"):
        return bool(value.tree_.n_features == value.n_features_in_)
    if isinstance(value, (BaseForest, BaseGradientBoosting)) and hasattr(value, "estimators_"):
        trees = np.ravel(np.array(value.estimators_, dtype=object))
        return all(isinstance(tree, BaseDecisionTree) and tree.n_features_in_ == value.n_features_in_ for tree in trees)
    if isinstance(value, BaseHistGradientBoosting) and hasattr(value, "_predictors"):
        return _sound_boosting(value)
    if isinstance(value, (KDTree, BallTree)):
        return _sound_index(value)
    if isinstance(value, BSpline):
        again = BSpline(value.t, value.c, value.k, extrapolate=value.extrapolate, axis=value.axis)
        return bool(
            again.t.dtype == value.t.dtype and again.c.dtype == value.c.dtype and again.c.shape == value.c.shape
        )
    return True


def _sound_boosting(model: Any) -> bool:
    mapper, n_features = model._bin_mapper, model.n_features_in_
    categorical = np.flatnonzero(mapper.is_categorical_)
    if len(mapper.is_categorical_) != n_features or len(mapper.bin_thresholds_) != n_features:
        return False
    # Categories are bits of a set of 256.
    if not all(((mapper.bin_thresholds_[k] >= 0) & (mapper.bin_thresholds_[k] < 256)).all() for k in categorical):
        return False
    return all(
        isinstance(tree, TreePredictor) and _sound_predictor(tree, n_features, categorical)
        for trees in model._predictors
        for tree in trees
    )


def _sound_predictor(tree: Any, n_features: int, categorical: Any) -> bool:
    nodes, sets = tree.nodes, tree.raw_left_cat_bitsets
    inner = nodes["is_leaf"] == 0
    by_set = inner & (nodes["is_categorical"] != 0)
    return (
        _walks_end(nodes, inner, (nodes["left"], nodes["right"]), nodes["feature_idx"], n_features)
        and bool(np.isin(nodes["feature_idx"][by_set], categorical).all())
        and sets.ndim == 2
        and sets.shape[1] == 8
        and bool((nodes["bitset_idx"][by_set] < len(sets)).all())
    )


def _walks_end(nodes: Any, inner: Any, children: tuple[Any, Any], features: Any, n_features: int) -> bool:
    position = np.arange(len(nodes))[inner]
    return (
        nodes.ndim == 1
        and len(nodes) > 0
        and all(bool(((child[inner] > position) & (child[inner] < len(nodes))).all()) for child in children)
        and bool(((features[inner] >= 0) & (features[inner] < n_features)).all())
    )


def _sound_index(tree: Any) -> bool:
    """Whether the tree is the one that its points give: building is a fixed function of them."""
    data, *arrays, leaf_size, n_levels, n_nodes, _, _, _, _, metric, weights = tree.__getstate__()
    again = type(tree)(np.array(data), leaf_size=leaf_size, metric=metric).__getstate__()
    return (
        weights is None
        and (n_levels, n_nodes) == (again[5], again[6])
        and all(
            np.array_equal(np.asarray(mine), np.asarray(fresh), equal_nan=mine.dtype.names is None)
            for mine, fresh in zip(arrays, again[1:4], strict=True)
        )
    )
