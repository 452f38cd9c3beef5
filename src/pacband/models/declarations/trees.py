"""Decision trees, forests and boosting stages: trees are rebuilt from arrays that were checked.

scikit-learn uses the positions of children and features in a tree without checking that they exist. So the nodes of all
trees of a model are checked here, all at once: every node except the first of a tree is the child of exactly one
earlier node, and every feature is a column. The other attributes of a tree, such as its depth, are computed and not
read from the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS", "depths_of", "fields_of", "nodes_of"]

_TREES = "n_features_in_!=nat nodes!=dict(n[m]) values!=f8[m,k,1] counts!=i8[c]"
_ONE = f"{_TREES} n_outputs_!=nat max_features_=nat"
_FOREST = f"{_TREES} parameters!=dict(plain) seeds!=list(any) n_outputs_!=nat max_features_=nat"
_OF_A_FOREST = " _n_samples=nat _n_samples_bootstrap=nat|none oob_score_=num oob_prediction_=f"
_STAGES = (
    " init_!=@DummyRegressor|str train_score_=f oob_improvement_=f oob_scores_=f oob_score_=num n_estimators_=nat "
    "n_trees_per_iteration_=nat"
)


def fields_of(nodes: Any) -> dict[str, Any]:
    """Return the fields of a table of nodes, each as an array."""
    return {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names}


def nodes_of(fields: dict[str, Any], dtype: Any) -> Any:
    """Return the table of nodes with these fields. Raise unless they are the fields of the installed version."""
    if fields.keys() != set(dtype.names):
        raise Unsound("the fields of a tree are not those of the installed version")
    nodes = np.zeros(len(next(iter(fields.values()))), dtype=dtype)
    for name, values in fields.items():
        if values.dtype != dtype[name] or values.shape != nodes.shape:
            raise Unsound("a field of a tree has the wrong type or length")
        nodes[name] = values
    return nodes


def depths_of(inner: Any, left: Any, right: Any, counts: Any) -> Any:
    """Return the depth of each tree. Raise unless every path from its first node ends within the tree.

    Children are positions within their own tree. `counts` has the number of nodes of each tree.
    """
    n_nodes = len(inner)
    if len(counts) == 0 or (counts < 1).any() or (counts > n_nodes).any() or counts.sum() != n_nodes:
        raise Unsound("the stated numbers of nodes do not match the nodes of the trees")
    starts = np.cumsum(counts) - counts
    own, count = np.repeat(starts, counts), np.repeat(counts, counts)
    place = np.arange(n_nodes)
    children = []
    for side in (left, right):
        child = side[inner].astype(np.int64)
        if ((child <= (place - own)[inner]) | (child >= count[inner])).any():
            raise Unsound("a child in a tree does not come after its parent")
        children.append(child + own[inner])
    parents = np.bincount(np.concatenate(children), minlength=n_nodes)
    parents[starts] += 1
    if (parents != 1).any():
        raise Unsound("a node of a tree does not have exactly one parent")
    below = np.full((2, n_nodes), -1)
    below[:, inner] = children
    depths, level, alive = np.zeros(len(counts), dtype=np.int64), 0, starts
    owner = np.repeat(np.arange(len(counts)), counts)
    while len(alive):
        depths[owner[alive]] = level
        alive = below[:, alive].ravel()
        alive = alive[alive >= 0]
        level += 1
    return depths


def _extract_trees(models: Sequence[Any]) -> dict[str, Any]:
    states = [model.tree_.__getstate__() for model in models]
    nodes = np.concatenate([state["nodes"] for state in states])
    return {
        "nodes": fields_of(nodes),
        "values": np.concatenate([state["values"] for state in states]),
        "counts": np.array([len(state["nodes"]) for state in states], dtype=np.int64),
    }


def _restore_trees(state: dict[str, Any]) -> list[Any]:
    """Return the trees of a model. Removes their arrays from `state`."""
    counts, values = state.pop("counts"), state.pop("values")
    nodes = nodes_of(state.pop("nodes"), NODE_DTYPE)
    n_features, n_outputs = int(state["n_features_in_"]), int(state["n_outputs_"])
    if values.shape != (len(nodes), n_outputs, 1) or not n_outputs >= 1 or not values.flags.c_contiguous:
        raise Unsound("the values of trees do not match their nodes and outputs")
    inner = nodes["left_child"] != -1
    depths = depths_of(inner, nodes["left_child"], nodes["right_child"], counts)
    feature = nodes["feature"][inner]
    if ((feature < 0) | (feature >= n_features)).any():
        raise Unsound("a tree uses a feature that is not a column")
    trees, start, classes = [], 0, np.ones(n_outputs, dtype=np.intp)
    for count, depth in zip(counts.tolist(), depths.tolist(), strict=True):
        tree = Tree(n_features, classes, n_outputs)
        rows = slice(start, start + count)
        tree.__setstate__(
            {"max_depth": depth, "node_count": count, "nodes": nodes[rows], "values": values[rows].copy()}
        )
        trees.append(tree)
        start += count
    return trees


def _extract_one(model: Any) -> dict[str, Any]:
    return _extract_trees([model]) if hasattr(model, "tree_") else {}


def _restore_one(model: Any, state: dict[str, Any]) -> None:
    trees = _restore_trees(state)
    if len(trees) != 1:
        raise Unsound("a decision tree does not have exactly one tree")
    state["tree_"] = trees[0]


def _extract_forest(model: Any) -> dict[str, Any]:
    members = list(np.ravel(np.array(model.estimators_, dtype=object)))
    first = members[0]
    parameters = first.get_params()
    seeds = [member.random_state for member in members]
    for member in members:
        if type(member) is not type(first) or not _same(member.get_params() | {"random_state": None}, parameters):
            raise Unsound("a forest has trees of different kinds")
        if (member.n_features_in_, member.n_outputs_) != (model.n_features_in_, first.n_outputs_):
            raise Unsound("a forest has trees of different features")
        if vars(member).keys() - parameters.keys() - _OF_A_TREE:
            raise Unsound("a forest has trees with unknown attributes")
    state = _extract_trees(members) | {"seeds": seeds, "parameters": parameters | {"random_state": None}}
    return state | {"n_outputs_": first.n_outputs_, "max_features_": first.max_features_}


_OF_A_TREE = frozenset(("n_features_in_", "n_outputs_", "max_features_", "tree_", "class_weight"))


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return repr(one) == repr(other | {"random_state": None})


def _restore_members(kind: Any, state: dict[str, Any]) -> list[Any]:
    """Return the fitted trees of a forest: all have the same parameters, and each has its own seed."""
    parameters, seeds = state.pop("parameters"), state.pop("seeds")
    trees = _restore_trees(state)
    if len(trees) != len(seeds):
        raise Unsound("a forest has different numbers of seeds and trees")
    try:
        template = kind(**parameters)
        template._validate_params()
    except (TypeError, ValueError):
        raise Unsound("the trees of a forest have parameters out of their range") from None
    fitted = {name: state[name] for name in ("n_features_in_", "n_outputs_", "max_features_") if name in state}
    members = []
    for seed, tree in zip(seeds, trees, strict=True):
        if not (seed is None or (type(seed) is int and 0 <= seed < 2**32) or type(seed) is np.random.RandomState):
            raise Unsound("a seed of a tree is invalid")
        member = kind.__new__(kind)
        vars(member).update(vars(template), **fitted, random_state=seed, tree_=tree)
        members.append(member)
    return members


def _restore_forest(model: Any, state: dict[str, Any]) -> None:
    state["estimators_"] = _restore_members(type(model.estimator), state)
    state["estimator_"] = model.estimator
    # This attribute belongs to the trees.
    state.pop("max_features_", None)


def _restore_stages(model: Any, state: dict[str, Any]) -> None:
    if model.init not in (None, "zero") or state["n_outputs_"] != 1 or state["n_trees_per_iteration_"] != 1:
        raise Unsound("a sklearn.GradientBoostingRegressor does not start from a constant")
    start = state["init_"]
    # The trees add to the numbers of the start without checking that there is one for each row.
    if start != "zero" if model.init == "zero" else not _is_constant(start):
        raise Unsound("a sklearn.GradientBoostingRegressor does not start from a constant")
    members = _restore_members(DecisionTreeRegressor, state)
    state["estimators_"] = np.empty((len(members), 1), dtype=object)
    state["estimators_"][:, 0] = members
    state["_loss"] = model._get_loss(sample_weight=None)
    del state["n_outputs_"]


def _is_constant(start: Any) -> bool:
    constant = getattr(start, "constant_", None)
    return constant is not None and start.n_outputs_ == 1 and constant.shape == (1, 1)


def _extract_stages(model: Any) -> dict[str, Any]:
    if model.init not in (None, "zero"):
        raise Unsound("a sklearn.GradientBoostingRegressor does not start from a constant")
    return _extract_forest(model)


KINDS = (
    *(
        Kind(f"sklearn.{kind.__name__}", "sklearn.tree", kind.__name__, declaration=_ONE, not_saved="tree_",
             extract=_extract_one, restore=_restore_one)
        for kind in (DecisionTreeRegressor, ExtraTreeRegressor)
    ),
    *(
        Kind(f"sklearn.{name}", "sklearn.ensemble", name, declaration=_FOREST + _OF_A_FOREST,
             not_saved="estimators_ estimator_ _sample_weight", extract=_extract_forest, restore=_restore_forest)
        for name in ("ExtraTreesRegressor", "RandomForestRegressor")
    ),
    Kind("sklearn.GradientBoostingRegressor", "sklearn.ensemble", "GradientBoostingRegressor",
         declaration=_FOREST + _STAGES, not_saved="estimators_ _loss _rng _raw_predict_init", extract=_extract_stages,
         restore=_restore_stages),
)  # fmt: skip
