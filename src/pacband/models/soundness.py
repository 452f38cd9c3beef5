"""Is the content of a rebuilt model sound? Where compiled code follows numbers from a file without looking, we look.

Trees hold the positions of children and features, which scikit-learn follows without checking that they exist: a
forged file could crash the process, or make it read what is not its own. A child must come after its parent, so that
every walk ends, and a feature must be a column. An index of points must be the one that its points give, a spline one
that scipy would make; support vectors must have their coefficients, and sparse matrices their rows and columns. What is
checked here is what `pacband.models.types` lists as such.

An attribute of an object could also stand before a method of its class, and so before any check that scikit-learn
makes when it predicts: none may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.svm import SVR, NuSVR
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_array

from pacband.exceptions import CertificateError

__all__ = ["check_sound"]


def check_sound(model: Any, source: str) -> None:
    """Raise `CertificateError` unless everything within this object that compiled code will read is sound."""
    for value in _within(model):
        try:
            sound = _hides_nothing(value) and all(check(value) for kind, check in _CHECKS if isinstance(value, kind))
            sound = sound and (not issparse(value) or _sound_matrix(value))
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
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type, ModuleType)):
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple, set)):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel() if value.dtype == object else ())
        else:
            yield value
            if isinstance(value, partial):
                waiting.extend((value.func, value.args, value.keywords))
            waiting.extend(vars(value).values() if hasattr(value, "__dict__") else ())
            waiting.append(getattr(value, "__self__", None))


def _hides_nothing(value: Any) -> bool:
    """Whether no attribute of the object stands before one of its class, but for the fields of a dataclass."""
    kind = type(value)
    if not kind.__module__.startswith(("sklearn.", "pacband.")) or not hasattr(value, "__dict__"):
        return True
    fields = getattr(kind, "__dataclass_fields__", ())
    return all(name in fields or not hasattr(kind, name) for name in vars(value))


def _sound_tree(tree: Any) -> bool:
    # Before its nodes are looked at: as many of them are read as it says there are.
    if tree.node_count != tree.capacity:
        return False
    nodes = tree.__getstate__()["nodes"]
    inner = nodes["left_child"] != -1
    return _walks_end(nodes, inner, (nodes["left_child"], nodes["right_child"]), nodes["feature"], tree.n_features)


def _sound_tree_model(model: Any) -> bool:
    return not hasattr(model, "tree_") or bool(
        isinstance(model.tree_, Tree) and model.tree_.n_features == model.n_features_in_
    )


def _sound_trees(model: Any) -> bool:
    if not hasattr(model, "estimators_"):
        return True
    trees = np.ravel(np.array(model.estimators_, dtype=object))
    return all(
        isinstance(tree, BaseDecisionTree) and hasattr(tree, "tree_") and tree.n_features_in_ == model.n_features_in_
        for tree in trees
    )


def _sound_stages(model: Any) -> bool:
    """Whether the trees add to a column that is there, a row for each row: that of a known beginning."""
    if not hasattr(model, "estimators_"):
        return True
    start = model.init_
    return (
        model.estimators_.ndim == 2
        and model.estimators_.shape[1] == model.n_trees_per_iteration_ == 1
        and ((isinstance(start, str) and start == "zero") or (type(start) is DummyRegressor and start.n_outputs_ == 1))
    )


def _sound_boosting(model: Any) -> bool:
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


def _sound_neighbours(model: Any) -> bool:
    if not hasattr(model, "_fit_X"):
        return True
    return (
        model._fit_X.shape == (model.n_samples_fit_, model.n_features_in_)
        and (model._tree is None or isinstance(model._tree, (KDTree, BallTree)))
        # Any other would be believed, such as norms of the points.
        and set(model.effective_metric_params_) <= {"p", "w", "V", "VI"}
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


def _sound_spline(spline: Any) -> bool:
    again = BSpline(spline.t, spline.c, spline.k, extrapolate=spline.extrapolate, axis=spline.axis)
    return bool(
        again.t.dtype == spline.t.dtype and again.c.dtype == spline.c.dtype and again.c.shape == spline.c.shape
    )


def _sound_machine(model: Any) -> bool:
    """Whether every support vector of a libsvm model has its coefficient, and its features are columns."""
    if not hasattr(model, "support_vectors_"):
        return True
    vectors, coefficients = model.support_vectors_, model._dual_coef_
    n_vectors, sparse = len(model.support_), model._sparse
    if sparse and not (issparse(vectors) and issparse(coefficients) and len(coefficients.data) == n_vectors):
        return False
    if model.kernel == "precomputed":
        # The vectors are columns of X, by their positions.
        positions = model.support_
        columns = not sparse and bool(((positions >= 0) & (positions < model.shape_fit_[0])).all())
    else:
        columns = model.kernel in ("linear", "poly", "rbf", "sigmoid") and vectors.shape == (
            n_vectors,
            model.n_features_in_,
        )
    return (
        columns
        and isinstance(sparse, bool)
        and coefficients.shape == (1, n_vectors)
        and model.support_.ndim == 1
        and model._n_support.shape == (2,)
        and model._intercept_.shape == (1,)
    )


def _sound_encoder(encoder: Any) -> bool:
    """Whether every code of a category is a column of the indicators, which are built without looking."""
    if not hasattr(encoder, "categories_"):
        return True
    # The last code of a column would be exceeded if a search for a number ended beyond it.
    for categories in encoder.categories_:
        numbers = [level for level in categories.tolist() if isinstance(level, (int, float)) and level == level]
        if categories.ndim != 1 or any(after <= before for before, after in zip(numbers, numbers[1:], strict=False)):
            return False
    widths = encoder._compute_n_features_outs()
    groupings = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else [None] * len(widths)
    dropped = encoder._drop_idx_after_grouping
    for k, (width, grouping) in enumerate(zip(widths, groupings, strict=True)):
        n_codes = width + (dropped is not None and dropped[k] is not None)
        if grouping is None:
            sound = n_codes == len(encoder.categories_[k])
        else:
            sound = len(grouping) == len(encoder.categories_[k]) and bool(((grouping >= 0) & (grouping < n_codes)).all())
        if not sound or (n_codes > width and not 0 <= dropped[k] < n_codes):
            return False
    return list(encoder._n_features_outs) == widths


def _sound_matrix(matrix: Any) -> bool:
    if matrix.format not in ("csr", "csc"):
        return False
    matrix.check_format(full_check=True)
    return True


_CHECKS: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
    (Tree, _sound_tree),
    (BaseDecisionTree, _sound_tree_model),
    ((BaseForest, GradientBoostingRegressor), _sound_trees),
    (GradientBoostingRegressor, _sound_stages),
    (HistGradientBoostingRegressor, _sound_boosting),
    (NeighborsBase, _sound_neighbours),
    ((KDTree, BallTree), _sound_index),
    (BSpline, _sound_spline),
    ((SVR, NuSVR), _sound_machine),
    (OneHotEncoder, _sound_encoder),
)
