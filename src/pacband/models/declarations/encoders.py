"""Encoders of categories. scikit-learn uses codes as column numbers without a check, so they are checked here."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_CATEGORIES = (
    "n_features_in_!=nat categories_!=list(n[*]|t[*]|o[*]) _infrequent_enabled=bool "
    "_infrequent_indices=list(none|i[*]) _default_to_infrequent_mappings=list(none|i[*]) _missing_indices=dict(int)"
)


def _check_categories(encoder: Any) -> list[int]:
    """Return the number of codes of each column, or raise if a category has no valid code."""
    n_features = encoder.n_features_in_
    if len(encoder.categories_) != n_features:
        raise Unsound("the categories of an encoder do not match its columns")
    grouped = encoder._infrequent_enabled
    groupings = encoder._default_to_infrequent_mappings if grouped else [None] * n_features
    rare = encoder._infrequent_indices if grouped else [None] * n_features
    if len(groupings) != n_features or len(rare) != n_features:
        raise Unsound("the groups of an encoder do not match its columns")
    n_codes = []
    for categories, grouping, others in zip(encoder.categories_, groupings, rare, strict=True):
        n_categories = len(categories)
        if categories.dtype.kind in "fiub":
            # A binary search needs sorted numbers. NaN comes last.
            known = categories[:-1] if n_categories and categories[-1] != categories[-1] else categories
            if (known[1:] <= known[:-1]).any() or (known != known).any():
                raise Unsound("the numeric categories of an encoder are out of order")
        if (grouping is None) != (others is None):
            raise Unsound("an encoder has rare categories without a group")
        count = n_categories
        if grouping is not None and others is not None:
            count = n_categories - len(others) + 1
            sound = grouping.shape == (n_categories,) and len(others) <= n_categories and count >= 1
            if not sound or ((grouping < 0) | (grouping >= count)).any():
                raise Unsound("an encoder has codes beyond its columns")
            if ((others < 0) | (others >= n_categories)).any():
                raise Unsound("an encoder has rare categories that do not exist")
        n_codes.append(count)
    return n_codes


def _check_codes(encoder: Any) -> None:
    _check_categories(encoder)


def _check_indicators(encoder: Any) -> None:
    n_codes = _check_categories(encoder)
    dropped = encoder._drop_idx_after_grouping
    widths = []
    for k, count in enumerate(n_codes):
        drop = None if dropped is None or k >= len(dropped) else dropped[k]
        if drop is not None and not (isinstance(drop, (int, np.integer)) and 0 <= drop < count):
            raise Unsound("a sklearn.OneHotEncoder drops a category that does not exist")
        widths.append(count - (drop is not None))
    if (dropped is not None and len(dropped) != len(n_codes)) or list(encoder._n_features_outs) != widths:
        raise Unsound("the columns of a sklearn.OneHotEncoder do not match its categories")


def _check_encodings(encoder: Any) -> None:
    n_codes = _check_categories(encoder)
    if encoder.target_type_ != "continuous" or [len(codes) for codes in encoder.encodings_] != n_codes:
        raise Unsound("the encodings of a sklearn.TargetEncoder do not match its categories")


KINDS = (
    Kind(
        "sklearn.OneHotEncoder",
        "sklearn.preprocessing",
        "OneHotEncoder",
        declaration=f"{_CATEGORIES} drop_idx_=none|o[p]|i[p] _drop_idx_after_grouping=none|o[p]|i[p] "
        "_n_features_outs!=list(int)",
        check=_check_indicators,
    ),
    Kind(
        "sklearn.OrdinalEncoder",
        "sklearn.preprocessing",
        "OrdinalEncoder",
        declaration=_CATEGORIES,
        check=_check_codes,
    ),
    Kind(
        "sklearn.TargetEncoder",
        "sklearn.preprocessing",
        "TargetEncoder",
        declaration=f"{_CATEGORIES} target_type_!=str target_mean_!=num|f classes_=none encodings_!=list(f[*])",
        check=_check_encodings,
    ),
)
