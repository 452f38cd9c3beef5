"""Forged histogram boosting."""

import pytest

from support.forge import state
from support.gallery import CODES, GAPS, Y, hist


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left", 10**6, "a child in a tree does not come after its parent"),
        ("right", 0, "a child in a tree does not come after its parent"),
        ("feature_idx", -1, "a tree uses a feature that is not a column"),
        ("feature_idx", 3, "a tree uses a feature that is not a column"),
        ("is_categorical", 1, "a tree uses a column of numbers as categories"),
        ("is_leaf", 2, "a boolean in a tree is neither 0 nor 1"),
    ],
)
def test_positions_in_histogram_boosting_are_checked(field, value, said, forge, refused):
    kind = "sklearn.HistGradientBoostingRegressor"
    forged = forge(hist().fit(GAPS, Y))
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    values = forged.array(nodes[field])
    values[0] = value
    forged.array(nodes[field], values)
    refused(forged, said)


def test_categories_in_histogram_boosting_are_checked(forge, refused):
    kind = "sklearn.HistGradientBoostingRegressor"
    made = hist(categorical_features=[0, 2]).fit(CODES, 3.0 * (CODES[:, 0] % 2) + Y)
    forged = forge(made)
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    forged.array(nodes["bitset_idx"], forged.array(nodes["bitset_idx"]) + 999)
    refused(forged, "a tree uses a set of categories that does not exist")
    forged = forge(made)
    first = state(forged, kind, "thresholds")[1]
    forged.array(first, forged.array(first) + 300.0)
    refused(forged, "is not in 0 to 255")
    for name in ("_bin_mapper", "_preprocessor", "_predictors"):
        forged = forge(made)
        forged.objects(kind)[-1]["state"][name] = ["dict", ["make_known_categories_bitsets", ["function", "numpy.exp"]]]
        refused(forged, "has an attribute that is not declared")
    forged = forge(made)
    state(forged, kind, "reader")[1] = 0
    refused(forged, "does not match its declaration")
    forged = forge(made)
    reader = forged.objects("sklearn.ColumnTransformer")[-1]["state"]
    reader["transformers_"][1][2] = "passthrough"
    refused(forged, "reads its columns in an unknown way")
