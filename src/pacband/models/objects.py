"""Objects as declared data, and back: a model is a table of objects, each of a declared kind.

An object may refer only to objects before it in the table, so that there are no circles; what several objects hold is
in the table once and is one object again. Every object is made here, by the constructor of its kind, from parameters
and attributes that were checked against its declaration (`pacband.models.declarations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pacband.exceptions import InvalidInput
from pacband.models.declarations import KINDS, kind_of
from pacband.models.declare import Kind, check_attributes
from pacband.models.encode import Arrays, encode
from pacband.models.values import Pool, Unsound, decode, refuse

__all__ = ["Keeper", "Writer", "check_parameters", "read_objects"]

# Attributes that any estimator of scikit-learn may have once it is fitted.
_COMMON = "n_features_in_=nat feature_names_in_=t[p] _sklearn_output_config=dict(str)"
# What it may have before.
_NOT_FITTED = frozenset(("_sklearn_output_config",))
_LEFT = frozenset(("_metadata_request", "__sklearn_version__"))
_ROLES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("estimator", "estimators", "final_estimator", "regressor", "transformer", "steps", "transformers", "remainder",
         "transformer_list", "features", "scale", "scales", "models", "lower", "upper", "centre", "forest",
         "candidates"),
        frozenset(("model",)),
    ),
    **dict.fromkeys(("kernel", "kernels", "k1", "k2"), frozenset(("kernel",))),
    **dict.fromkeys(("param_grid", "param_distributions"), frozenset(("model", "kernel"))),
    **dict.fromkeys(("stack", "shrinkage", "parts"), frozenset(("part",))),
    "cv": frozenset(("splitter",)),
}  # fmt: skip
_FUNCTIONS = ("func", "inverse_func", "score_func")
_MOST_THREADS = 1024
_DEEPEST = 40
# How often objects may be used, in all, for each one that there is: what many share is walked through for each of them.
_MOST_USES = 1000


class Keeper(Protocol):
    """What is done with objects that need the user's word."""

    def allow(self, kind: Kind) -> None:
        """Raise unless this kind, whose reader is not ours, is trusted."""

    def keep(self, value: Any, why: str = "") -> dict[str, Any]:
        """Return the entry of an object that is not as declared, or raise unless it is trusted."""

    def restore(self, entry: dict[str, Any]) -> Any:
        """Return the object of such an entry."""


class Writer:
    """The table of objects on its way into a file."""

    def __init__(self, keeper: Keeper) -> None:
        self.arrays = Arrays()
        self.objects: list[dict[str, Any]] = []
        self._keeper = keeper
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []
        self._open: set[int] = set()

    def value(self, value: Any) -> Any:
        """Return a value as JSON; the objects in it go to the table."""
        return encode(value, self.arrays, self._add)

    def _add(self, value: Any) -> int:
        if id(value) in self._open:
            raise InvalidInput(f"the model cannot be saved: a {type(value).__name__} holds itself.")
        if id(value) not in self._places:
            self._open.add(id(value))
            entry = self._entry(value)
            self._open.discard(id(value))
            self._alive.append(value)
            self._places[id(value)] = len(self.objects)
            self.objects.append(entry)
        return self._places[id(value)]

    def _entry(self, value: Any) -> dict[str, Any]:
        kind = kind_of(value)
        if kind is None:
            return self._keeper.keep(value)
        if kind.trusted:
            self._keeper.allow(kind)
        try:
            parameters, state = _apart(kind, value)
        except Unsound as error:
            if kind.trusted:
                raise InvalidInput(f"the model cannot be saved: {error}.") from None
            # It may still go by the user's word.
            return self._keeper.keep(value, str(error))
        return {
            "kind": kind.name,
            "parameters": {name: self.value(item) for name, item in parameters.items()},
            "state": {name: self.value(item) for name, item in state.items()},
        }


def _apart(kind: Kind, value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    parameters = dict(kind.parameters(value) if kind.parameters else value.get_params(deep=False))
    if "memory" in parameters:
        # Where to keep what a fit computes is a matter of the machine.
        parameters["memory"] = None
    check_parameters(kind, parameters)
    declared = _declaration(kind)
    own = vars(value)
    names = [entry.partition("=")[0].rstrip("!") for entry in declared.split()]
    state = {name: own[name] for name in names if name in own and name not in parameters}
    made_anew = vars(kind.new(parameters)) if own.keys() - parameters.keys() else {}
    strange = own.keys() - parameters.keys() - state.keys() - made_anew.keys() - _LEFT - set(kind.left.split())
    if strange:
        refuse(f"a {kind.name} has the attribute {min(strange)}, of which pacband does not know whether it is needed")
    if kind.take is not None and (kind.always or own.keys() - parameters.keys() - made_anew.keys() - _NOT_FITTED):
        try:
            state |= kind.take(value)
        except (AttributeError, LookupError, TypeError) as error:
            raise Unsound(f"a {kind.name} is not fitted as scikit-learn fits it ({type(error).__name__})") from None
    check_attributes(kind, declared, state, _sizes(state))
    return parameters, state


def _declaration(kind: Kind) -> str:
    return f"{_COMMON} {kind.declaration}" if kind.role == "model" else kind.declaration


def _sizes(state: Mapping[str, Any]) -> dict[str, int]:
    count = state.get("n_features_in_")
    return {"p": int(count)} if isinstance(count, (int, np.integer)) else {}


def read_objects(table: Any, arrays: Pool, keeper: Keeper) -> list[Any]:
    """Return the objects of a table.

    Raises
    ------
    Unsound
        Where an object is not what its kind declares.
    """
    if not isinstance(table, list):
        raise Unsound("there is no table of objects")
    objects: list[Any] = []
    uses: list[int] = []
    depths: list[int] = []
    for entry in table:
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise Unsound("an entry of the table is no object")
        children = [k for k in _references(entry) if type(k) is int and 0 <= k < len(objects)]
        uses.append(1 + sum(uses[k] for k in children))
        depths.append(1 + max((depths[k] for k in children), default=0))
        if uses[-1] > _MOST_USES * (len(table) + 10) or depths[-1] > _DEEPEST:
            raise Unsound("objects are nested too often or too deep")
        kind = KINDS.get(entry["kind"])
        if kind is None:
            objects.append(keeper.restore(entry))
            continue
        if kind.trusted:
            keeper.allow(kind)
        objects.append(_together(kind, entry, arrays, objects))
    return objects


def _references(node: Any) -> list[Any]:
    """Return the places of all objects that an entry refers to."""
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list):
            if len(node) == 2 and node[0] == "object":
                found.append(node[1])
            waiting.extend(node)
    return found


def _together(kind: Kind, entry: dict[str, Any], arrays: Pool, objects: list[Any]) -> Any:
    if entry.keys() != {"kind", "parameters", "state"}:
        raise Unsound(f"a {kind.name} has other entries than its parameters and state")
    parameters, state = (
        {name: decode(node, arrays, objects) for name, node in _mapping(entry[part]).items()}
        for part in ("parameters", "state")
    )
    check_parameters(kind, parameters)
    try:
        value = kind.new(parameters)
    except (AttributeError, ImportError):
        raise Unsound(f"the installed version has no {kind.name}") from None
    except TypeError:
        raise Unsound(f"the installed version has other parameters of {kind.name}") from None
    if hasattr(type(value), "_parameter_constraints"):
        _validate(kind, value)
    fitted = bool(state.keys() - _NOT_FITTED)
    if state:
        check_attributes(kind, _declaration(kind), state, _sizes(state))
    try:
        if fitted and kind.give is not None:
            kind.give(value, state)
        vars(value).update(state)
        if kind.check is not None and (fitted or kind.always):
            kind.check(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, Unsound):
            raise
        raise Unsound(f"the attributes of a {kind.name} do not fit each other") from None
    return value


def _validate(kind: Kind, value: Any) -> None:
    """Let scikit-learn check the ranges of its parameters, as it does in `fit`."""
    try:
        value._validate_params()
    except (TypeError, ValueError):
        raise Unsound(f"a parameter of a {kind.name} is not in its range") from None


def _mapping(node: Any) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise Unsound("an object has no names for what it holds")
    return node


def check_parameters(kind: Kind, parameters: dict[str, Any]) -> None:
    """Raise `Unsound` where a parameter holds an object, a function or a type that has no business there."""
    if kind.declared_parameters:
        check_attributes(kind, kind.declared_parameters, parameters, {})
        return
    for name, value in parameters.items():
        if name == "n_jobs" and value is not None and (type(value) is not int or abs(value) > _MOST_THREADS):
            raise Unsound(f"n_jobs of a {kind.name} must be None or at most {_MOST_THREADS}")
        _check_parameter(kind, name, value)


def _check_parameter(kind: Kind, name: str, value: Any) -> None:
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_parameter(kind, name, item)
    elif isinstance(value, dict):
        for item in value.values():
            _check_parameter(kind, name, item)
    elif isinstance(value, type):
        if name != "dtype":
            raise Unsound(f"{name} of a {kind.name} cannot be a type")
    elif (found := kind_of(value)) is not None:
        if found.role not in _ROLES.get(name, ()):
            raise Unsound(f"{name} of a {kind.name} cannot be a {found.name}")
    elif callable(value) and not hasattr(value, "predict") and name not in _FUNCTIONS and hasattr(value, "__name__"):
        raise Unsound(f"{name} of a {kind.name} is a function, which would have to be run from the file")
