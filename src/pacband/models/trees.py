"""The trees of a rebuilt model, and whether they are sound.

Trees hold the positions of children and features, which scikit-learn follows without checking that they exist. A child
must come after its parent, so that every walk ends, and a feature must be a column of what the tree will be shown.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_array

__all__ = ["sound_boosting", "sound_forest", "sound_stages", "sound_tree", "sound_tree_model"]


def sound_tree(tree: Any) -> bool:
    """Whether every walk through these nodes ends, by features that are there."""
    nodes = tree.__getstate__()["nodes"]
    inner = nodes["left_child"] != -1
    return _walks_end(nodes, inner, (nodes["left_child"], nodes["right_child"]), nodes["feature"], tree.n_features)


def sound_tree_model(model: Any) -> bool:
    """Whether the model shows its tree as many features as the tree asks for."""
    return not hasattr(model, "tree_") or bool(
        isinstance(model.tree_, Tree) and model.tree_.n_features == model.n_features_in_
    )


def sound_forest(model: Any) -> bool:
    """Whether all members of a forest are trees of the features that they will be shown."""
    if not hasattr(model, "estimators_"):
        return True
    trees = np.ravel(np.array(model.estimators_, dtype=object))
    return all(
        isinstance(tree, BaseDecisionTree) and hasattr(tree, "tree_") and tree.n_features_in_ == model.n_features_in_
        for tree in trees
    )


def sound_stages(model: Any) -> bool:
    """Whether the trees add to a column that is there, a row for each row: that of a known beginning."""
    if not hasattr(model, "estimators_"):
        return True
    start = model.init_
    return (
        model.estimators_.ndim == 2
        and model.estimators_.shape[1] == model.n_trees_per_iteration_ == 1
        and ((isinstance(start, str) and start == "zero") or (type(start) is DummyRegressor and start.n_outputs_ == 1))
    )


def sound_boosting(model: Any) -> bool:
    """Whether the trees of histogram boosting, and the sets of categories in them, are sound."""
    if not hasattr(model, "_predictors"):
        return True
    mapper, n_features = model._bin_mapper, model.n_features_in_
    categorical = np.flatnonzero(mapper.is_categorical_)
    if len(mapper.is_categorical_) != n_features or len(mapper.bin_thresholds_) != n_features:
        return False
    # Categories are bits of a set of 256.
    if not all(((mapper.bin_thresholds_[k] >= 0) & (mapper.bin_thresholds_[k] < 256)).all() for k in categorical):
        return False
    return _keeps_columns(model._preprocessor, n_features) and all(
        isinstance(tree, TreePredictor) and _sound_predictor(tree, n_features, categorical)
        for trees in model._predictors
        for tree in trees
    )


def _keeps_columns(reader: Any, n_features: int) -> bool:
    """Whether this is how boosting reads its columns, codes for categories and numbers as they are: all of them."""
    if reader is None:
        return True
    if type(reader) is not ColumnTransformer or reader.transformer_weights is not None:
        return False
    taken = np.zeros(n_features, dtype=int)
    for name, part, columns in reader.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        if name == "numerical" and type(part) is FunctionTransformer:
            checks = part.func
            known = (
                type(checks) is partial
                and checks.func is check_array
                and not checks.args
                and set(checks.keywords) <= {"dtype", "ensure_all_finite"}
                and part.kw_args is None
            )
        else:
            known = name == "encoder" and type(part) is OrdinalEncoder
        mask = np.asarray(columns)
        if not known or mask.dtype != bool or mask.shape != (n_features,):
            return False
        if list(reader._transformer_to_input_indices[name]) != np.flatnonzero(mask).tolist():
            return False
        taken += mask
    return bool((taken == 1).all())


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
