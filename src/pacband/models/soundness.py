"""Is the content of a rebuilt model sound? Where compiled code follows numbers from a file without looking, we look.

A forged file could crash the process, or make it read what is not its own. So trees must be sound
(`pacband.models.trees`), an index of points the one that its points give, a spline one that scipy would make; support
vectors must have their coefficients, categories their columns, and sparse matrices their rows and columns.

An attribute of an object could also stand before a method of its class, and so before any check that scikit-learn
makes when it predicts: none may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import issparse
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.ensemble._forest import BaseForest
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVR, NuSVR
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from pacband.exceptions import CertificateError
from pacband.models.trees import sound_boosting, sound_forest, sound_stages, sound_tree, sound_tree_model

__all__ = ["check_sound"]


def check_sound(model: Any, source: str, trusted: Collection[str] = ()) -> None:
    """Raise `CertificateError` unless everything within this object that compiled code will read is sound.

    Objects of types that are `trusted` by their full names are believed; what they hold is checked all the same.
    """
    for value in _within(model):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        try:
            sound = name in trusted or _is_sound(value)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise CertificateError(
                f"{source} was forged or damaged, or is beyond what pacband can check: it holds a "
                f"{type(value).__name__} that is not sound. If you trust the file, name {name} in trusted."
            )


def _is_sound(value: Any) -> bool:
    return (
        _hides_nothing(value)
        and (not issparse(value) or _sound_matrix(value))
        and all(check(value) for kind, check in _CHECKS if isinstance(value, kind))
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
    """Whether no attribute of the object stands before one of its class, but for what is there to be set."""
    kind = type(value)
    if not kind.__module__.startswith(("sklearn.", "pacband.")) or not hasattr(value, "__dict__"):
        return True
    to_be_set = getattr(kind, "__dataclass_fields__", ())
    return all(name in to_be_set or getattr(kind, name, None) in (None, False) for name in vars(value))


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
    return bool(again.t.dtype == spline.t.dtype and again.c.dtype == spline.c.dtype and again.c.shape == spline.c.shape)


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
        if categories.ndim != 1 or any(after <= before for before, after in pairwise(numbers)):
            return False
    widths = encoder._compute_n_features_outs()
    groupings = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else [None] * len(widths)
    dropped = encoder._drop_idx_after_grouping
    for k, (width, grouping) in enumerate(zip(widths, groupings, strict=True)):
        n_codes = width + (dropped is not None and dropped[k] is not None)
        n_categories = len(encoder.categories_[k])
        codes = np.arange(n_categories) if grouping is None else np.asarray(grouping)
        sound = codes.shape == (n_categories,) and bool(((codes >= 0) & (codes < n_codes)).all())
        if not sound or (n_codes > width and not 0 <= dropped[k] < n_codes):
            return False
    return bool(list(encoder._n_features_outs) == widths)


def _sound_matrix(matrix: Any) -> bool:
    if matrix.format not in ("csr", "csc"):
        return False
    matrix.check_format(full_check=True)
    return True


_CHECKS: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
    (Tree, sound_tree),
    (BaseDecisionTree, sound_tree_model),
    ((BaseForest, GradientBoostingRegressor), sound_forest),
    (GradientBoostingRegressor, sound_stages),
    (HistGradientBoostingRegressor, sound_boosting),
    (NeighborsBase, _sound_neighbours),
    ((KDTree, BallTree), _sound_index),
    (BSpline, _sound_spline),
    ((SVR, NuSVR), _sound_machine),
    (OneHotEncoder, _sound_encoder),
)
