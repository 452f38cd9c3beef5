"""Histogram gradient boosting: trees are rebuilt from arrays that were checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from pacband.models.declarations.trees import depths_of, fields_of, nodes_of
from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_DECLARATION = (
    "n_features_in_!=nat nodes!=dict(n[m]) counts!=i8[c] "
    "binned_sets!=u4[s,8] raw_sets!=u4[s,8] set_counts!=i8[c] start!=f8[1,1] "
    "categorical!=u1[p] thresholds!=list(f8[*]) bins!=u4[p] last_bin!=nat mapper!=dict(plain) "
    "reader!=none|@ColumnTransformer is_categorical_=none|b[p] _is_categorical_remapped=none|b[p] "
    "n_trees_per_iteration_!=nat do_early_stopping_=bool _use_validation_data=bool train_score_=f "
    "validation_score_=f _n_features=nat"
)
_NOT_SAVED = (
    "_loss _predictors _bin_mapper _baseline_prediction _preprocessor _scorer _random_seed _feature_subsample_rng "
    "_in_fit _fitted_with_sw"
)
_MAPPER = ("n_bins", "subsample")


def _extract(model: Any) -> dict[str, Any]:
    predictors = [predictor for stage in model._predictors for predictor in stage]
    mapper = model._bin_mapper
    if any(len(stage) != 1 for stage in model._predictors) or not predictors:
        raise Unsound("a sklearn.HistGradientBoostingRegressor does not have exactly one tree a stage")
    return {
        "nodes": fields_of(np.concatenate([predictor.nodes for predictor in predictors])),
        "counts": np.array([len(predictor.nodes) for predictor in predictors], dtype=np.int64),
        "binned_sets": np.concatenate([predictor.binned_left_cat_bitsets for predictor in predictors]),
        "raw_sets": np.concatenate([predictor.raw_left_cat_bitsets for predictor in predictors]),
        "set_counts": np.array([len(predictor.raw_left_cat_bitsets) for predictor in predictors], dtype=np.int64),
        "start": model._baseline_prediction,
        "categorical": mapper.is_categorical_,
        "thresholds": list(mapper.bin_thresholds_),
        "bins": mapper.n_bins_non_missing_,
        "last_bin": mapper.missing_values_bin_idx_,
        "mapper": {name: getattr(mapper, name) for name in _MAPPER},
        "reader": model._preprocessor,
    }


def _restore(model: Any, state: dict[str, Any]) -> None:
    n_features = int(state["n_features_in_"])
    if state["n_trees_per_iteration_"] != 1:
        raise Unsound("a sklearn.HistGradientBoostingRegressor does not have exactly one tree a stage")
    reader = state.pop("reader")
    if not _keeps_columns(reader, n_features):
        raise Unsound("a sklearn.HistGradientBoostingRegressor reads its columns in an unknown way")
    mapper = _mapper(state, n_features)
    state["_predictors"] = [[predictor] for predictor in _predictors(state, mapper.is_categorical_, n_features)]
    state |= {"_preprocessor": reader, "_bin_mapper": mapper, "_baseline_prediction": state.pop("start")}
    state["_loss"] = model._get_loss(sample_weight=None)


def _mapper(state: dict[str, Any], n_features: int) -> Any:
    options, thresholds, categorical = state.pop("mapper"), state.pop("thresholds"), state.pop("categorical")
    if options.keys() != set(_MAPPER) or not all(value is None or type(value) is int for value in options.values()):
        raise Unsound("bins of a sklearn.HistGradientBoostingRegressor have unknown options")
    if len(thresholds) != n_features or (categorical > 1).any():
        raise Unsound("the bins of a sklearn.HistGradientBoostingRegressor do not match its features")
    for k in np.flatnonzero(categorical):
        # A set of categories has 256 bits.
        if not ((thresholds[k] >= 0) & (thresholds[k] < 256)).all():
            raise Unsound("a category of a sklearn.HistGradientBoostingRegressor is not in 0 to 255")
    mapper = _BinMapper(**options)
    mapper.is_categorical_, mapper.bin_thresholds_ = categorical, thresholds
    mapper.n_bins_non_missing_, mapper.missing_values_bin_idx_ = state.pop("bins"), state.pop("last_bin")
    return mapper


def _predictors(state: dict[str, Any], categorical: Any, n_features: int) -> list[Any]:
    counts, set_counts = state.pop("counts"), state.pop("set_counts")
    binned, raw = state.pop("binned_sets"), state.pop("raw_sets")
    nodes = nodes_of(state.pop("nodes"), PREDICTOR_RECORD_DTYPE)
    flags = [nodes[name] for name in ("is_leaf", "is_categorical", "missing_go_to_left")]
    if any((flag > 1).any() for flag in flags):
        raise Unsound("a boolean in a tree is neither 0 nor 1")
    inner = nodes["is_leaf"] == 0
    depths_of(inner, nodes["left"], nodes["right"], counts)
    features = nodes["feature_idx"][inner]
    if ((features < 0) | (features >= n_features)).any():
        raise Unsound("a tree uses a feature that is not a column")
    if (set_counts < 0).any() or (set_counts > len(raw)).any() or set_counts.sum() != len(raw):
        raise Unsound("the stated numbers of category sets do not match the sets of the trees")
    by_set = inner & (nodes["is_categorical"] != 0)
    if not categorical[nodes["feature_idx"][by_set]].all():
        raise Unsound("a tree uses a column of numbers as categories")
    if (nodes["bitset_idx"][by_set] >= np.repeat(set_counts, counts)[by_set]).any():
        raise Unsound("a tree uses a set of categories that does not exist")
    ends, set_ends = np.cumsum(counts), np.cumsum(set_counts)
    return [
        TreePredictor(
            nodes[end - count : end].copy(),
            binned[set_end - n_sets : set_end].copy(),
            raw[set_end - n_sets : set_end].copy(),
        )
        for end, count, set_end, n_sets in zip(
            ends.tolist(), counts.tolist(), set_ends.tolist(), set_counts.tolist(), strict=True
        )
    ]


def _keeps_columns(reader: Any, n_features: int) -> bool:
    """Return whether a reader maps every column to exactly one column: categories to codes, numbers unchanged."""
    if reader is None:
        return True
    if type(reader) is not ColumnTransformer or reader.transformer_weights is not None:
        return False
    if getattr(reader, "n_features_in_", None) != n_features:
        return False
    taken = np.zeros(n_features, dtype=int)
    for name, part, columns in reader.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        mask = np.asarray(columns)
        if mask.dtype != bool or mask.shape != (n_features,):
            return False
        width = int(mask.sum())
        if name == "numerical" and type(part) is FunctionTransformer:
            known = getattr(part.func, "func", None) is not None and part.kw_args is None
        else:
            known = (
                name == "encoder"
                and type(part) is OrdinalEncoder
                and (not width or len(getattr(part, "categories_", ())) == width)
            )
        if not known or list(reader._transformer_to_input_indices.get(name, ())) != np.flatnonzero(mask).tolist():
            return False
        taken += mask
    return bool((taken == 1).all())


KINDS = (
    Kind(
        "sklearn.HistGradientBoostingRegressor",
        "sklearn.ensemble",
        "HistGradientBoostingRegressor",
        declaration=_DECLARATION,
        not_saved=_NOT_SAVED,
        extract=_extract,
        restore=_restore,
    ),
)
