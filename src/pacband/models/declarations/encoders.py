"""Encoders of categories: every code must be a column of what is built from it without looking."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.models.declare import Kind
from pacband.models.values import refuse

__all__ = ["KINDS"]

_CATEGORIES = (
    "categories_!=list(n[*]|t[*]|o[*]) _infrequent_enabled=bool _infrequent_indices=list(none|i[*]) "
    "_default_to_infrequent_mappings=list(none|i[*]) _missing_indices=dict(int)"
)


def _check_categories(encoder: Any) -> list[int]:
    """Return how many codes each column has, or raise where a category has none, or one beyond."""
    n_features = encoder.n_features_in_
    if len(encoder.categories_) != n_features:
        refuse("an encoder has categories for other columns than it says")
    grouped = encoder._infrequent_enabled
    groupings = encoder._default_to_infrequent_mappings if grouped else [None] * n_features
    rare = encoder._infrequent_indices if grouped else [None] * n_features
    if len(groupings) != n_features or len(rare) != n_features:
        refuse("an encoder has groups for other columns than it says")
    n_codes = []
    for categories, grouping, others in zip(encoder.categories_, groupings, rare, strict=True):
        n_categories = len(categories)
        if categories.dtype.kind in "fiub":
            # A search for a number must not end beyond the last one. NaN is the last of all.
            known = categories[:-1] if n_categories and categories[-1] != categories[-1] else categories
            if (known[1:] <= known[:-1]).any() or (known != known).any():
                refuse("an encoder has numbers out of order for categories")
        if (grouping is None) != (others is None):
            refuse("an encoder has rare categories without a group")
        count = n_categories
        if grouping is not None and others is not None:
            count = n_categories - len(others) + 1
            sound = grouping.shape == (n_categories,) and len(others) <= n_categories and count >= 1
            if not sound or ((grouping < 0) | (grouping >= count)).any():
                refuse("an encoder has codes beyond its columns")
            if ((others < 0) | (others >= n_categories)).any():
                refuse("an encoder has rare categories that are not there")
        n_codes.append(count)
    return n_codes


def _check_indicators(encoder: Any) -> None:
    n_codes = _check_categories(encoder)
    dropped = encoder._drop_idx_after_grouping
    widths = []
    for k, count in enumerate(n_codes):
        drop = None if dropped is None or k >= len(dropped) else dropped[k]
        if drop is not None and not (isinstance(drop, (int, np.integer)) and 0 <= drop < count):
            refuse("a sklearn.OneHotEncoder drops a category that is not there")
        widths.append(count - (drop is not None))
    if (dropped is not None and len(dropped) != len(n_codes)) or list(encoder._n_features_outs) != widths:
        refuse("a sklearn.OneHotEncoder has other columns than categories")


def _check_encodings(encoder: Any) -> None:
    n_codes = _check_categories(encoder)
    if encoder.target_type_ != "continuous" or [len(codes) for codes in encoder.encodings_] != n_codes:
        refuse("a sklearn.TargetEncoder has other encodings than categories")


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
        check=lambda encoder: _check_categories(encoder) and None,
    ),
    Kind(
        "sklearn.TargetEncoder",
        "sklearn.preprocessing",
        "TargetEncoder",
        declaration=f"{_CATEGORIES} target_type_!=str target_mean_!=num|f classes_=none encodings_!=list(f[*])",
        check=_check_encodings,
    ),
)
