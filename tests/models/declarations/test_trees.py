"""Forged trees, forests and boosting stages."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor

from support.forge import state
from support.gallery import PLAIN, Y, fitted

FORESTS = {
    "sklearn.ExtraTreesRegressor": lambda: ExtraTreesRegressor(2, random_state=0).fit(PLAIN, Y),
    "sklearn.DecisionTreeRegressor": lambda: fitted("DecisionTreeRegressor"),
    "sklearn.GradientBoostingRegressor": lambda: GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left_child", 10**6, "a child in a tree does not come after its parent"),
        ("left_child", 0, "a child in a tree does not come after its parent"),
        ("left_child", -5, "a child in a tree does not come after its parent"),
        ("right_child", 1, "a node of a tree does not have exactly one parent"),
        ("feature", 3, "a tree uses a feature that is not a column"),
        ("feature", -2, "a tree uses a feature that is not a column"),
    ],
)
def test_positions_in_trees_are_checked(kind, field, value, said, forge, refused):
    forged = forge(FORESTS[kind]())
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    values = forged.array(nodes[field])
    values[0] = value
    forged.array(nodes[field], values)
    refused(forged, said)


@pytest.mark.parametrize("kind", FORESTS)
def test_trees_have_as_many_values_as_nodes(kind, forge, refused):
    for shape in ((-1, 1, 0), (-1, 0, 1), (-1, 2, 1), (-1,)):
        forged = forge(FORESTS[kind]())
        node = state(forged, kind, "values")
        size = len(forged.array(node))
        forged.array(node, np.zeros([size if k == -1 else k for k in shape]))
        refused(
            forged,
            f"values of a {kind} does not match its declaration|do not match their nodes and outputs|nodes of a {kind}",
        )
    forged = forge(FORESTS[kind]())
    node = state(forged, kind, "counts")
    forged.array(node, forged.array(node) + 1)
    refused(forged, "the stated numbers of nodes do not match the nodes of the trees")
    forged = forge(FORESTS[kind]())
    forged.objects(kind)[-1]["state"]["n_classes_"] = 0
    refused(forged, "has an attribute that is not declared")
    forged = forge(FORESTS[kind]())
    forged.objects(kind)[-1]["state"]["n_features_in_"] = 1
    refused(forged, "a tree uses a feature that is not a column")


def test_boosting_starts_from_a_constant(forge, refused):
    kind = "sklearn.GradientBoostingRegressor"
    for name, node in (("init_", "zero"), ("n_trees_per_iteration_", 2), ("n_outputs_", 2), ("init_", None)):
        forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
        forged.objects(kind)[-1]["state"][name] = node
        refused(
            forged, "does not start from a constant|does not match its declaration|do not match their nodes and outputs"
        )
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    forged.array(forged.objects("sklearn.DummyRegressor")[-1]["state"]["constant_"], np.zeros((1, 0)))
    refused(forged, "different numbers of outputs and constants")
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    dummy = forged.objects("sklearn.DummyRegressor")[-1]["state"]
    forged.array(dummy["constant_"], np.zeros((1, 2)))
    dummy["n_outputs_"] = 2
    refused(forged, "does not start from a constant")
