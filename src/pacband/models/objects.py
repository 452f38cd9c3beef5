"""Write the objects of a model as declared data, and rebuild them.

A model is a table of objects, each of a declared kind (`pacband.models.declarations`). An entry of the table has the
kind, the parameters of the constructor and the fitted state. An object refers to another by its place in the table. A
scale that contains a fitted ridge regression, for example, is saved as::

    {"kind": "sklearn.Ridge", "parameters": {"alpha": 1.0, …}, "state": {"coef_": ["array", 0], …}}
    {"kind": "pacband.ResidualScale", "parameters": {…}, "state": {"regressor_": ["object", 0], …}}

An object that several others use is in the table once, and all of them refer to the same place: after loading it is one
object again. An object may refer only to earlier entries, so that there are no cycles.

Loading is safe because pacband makes every object itself. It calls the constructor of the kind with parameters that it
has checked, and sets attributes that it has checked against the declaration. It never calls anything from the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pacband.core.extras import missing_extra
from pacband.exceptions import InvalidInput
from pacband.models.declarations import KINDS, kind_of
from pacband.models.declare import check_attributes
from pacband.models.encode import Arrays, encode
from pacband.models.kind import Kind
from pacband.models.parameters import check_parameters
from pacband.models.values import Pool, Unsound, decode

__all__ = ["TrustedObjects", "Writer", "read_objects"]

# Attributes that every fitted estimator of scikit-learn may have.
_COMMON = "n_features_in_=nat feature_names_in_=t[p] _sklearn_output_config=dict(str)"
# Attributes that it may have before it is fitted.
_NOT_FITTED = frozenset(("_sklearn_output_config",))
_NOT_SAVED = frozenset(("_metadata_request", "__sklearn_version__"))
_DEEPEST = 40
# A limit for the number of references to objects, followed through all levels, for each object in the table. Code that
# visits a shared object once for every reference to it must not run for ever.
_MOST_USES = 1000


class TrustedObjects(Protocol):
    """How objects are written and read that need the user's trust; see `pacband.models.trust.Trust`."""

    def require(self, kind: Kind) -> None:
        """Raise unless the user trusts this kind, whose state another package reads."""

    def write(self, value: Any, why: str = "") -> dict[str, Any]:
        """Return the entry of an object that is not of a declared kind. Raise unless the user trusts its type."""

    def read(self, entry: dict[str, Any]) -> Any:
        """Return the object of such an entry."""


class Writer:
    """Collect the table of objects and the arrays of a model."""

    def __init__(self, trust: TrustedObjects) -> None:
        self.arrays = Arrays()
        self.objects: list[dict[str, Any]] = []
        self._trust = trust
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []
        self._open: set[int] = set()

    def value(self, value: Any) -> Any:
        """Return a value as JSON, and add its objects to the table."""
        return encode(value, self.arrays, self._add)

    def _add(self, value: Any) -> int:
        if id(value) in self._open:
            raise InvalidInput(f"the model cannot be saved: a {type(value).__name__} contains itself.")
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
            return self._trust.write(value)
        if kind.needs_trust:
            self._trust.require(kind)
        try:
            parameters, state = _take_apart(kind, value)
        except Unsound as error:
            if kind.needs_trust:
                raise InvalidInput(f"the model cannot be saved: {error}.") from None
            # It can still be saved by skops, if the user trusts its type.
            return self._trust.write(value, str(error))
        return {
            "kind": kind.name,
            "parameters": {name: self.value(item) for name, item in parameters.items()},
            "state": {name: self.value(item) for name, item in state.items()},
        }


def _take_apart(kind: Kind, value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the fitted state of an object; `_rebuild` is its inverse."""
    parameters = dict(kind.parameters(value) if kind.parameters else value.get_params(deep=False))
    if "memory" in parameters:
        # The folder of a cache belongs to the machine and not to the model.
        parameters["memory"] = None
    check_parameters(kind.name, parameters, kind.declared_parameters)
    _refuse_cache(kind, parameters)
    declared = _declaration(kind)
    own = vars(value)
    names = [entry.partition("=")[0].rstrip("!") for entry in declared.split()]
    state = {name: own[name] for name in names if name in own and name not in parameters}
    unfitted = vars(kind.new(parameters)) if own.keys() - parameters.keys() else {}
    unknown = own.keys() - parameters.keys() - state.keys() - unfitted.keys() - _NOT_SAVED - set(kind.not_saved.split())
    if unknown:
        raise Unsound(
            f"a {kind.name} has the attribute {min(unknown)}, which pacband does not know and which may be needed"
        )
    if kind.extract is not None and (
        kind.also_unfitted or own.keys() - parameters.keys() - unfitted.keys() - _NOT_FITTED
    ):
        try:
            state |= kind.extract(value)
        except (AttributeError, LookupError, TypeError) as error:
            raise Unsound(f"a {kind.name} is not fitted as scikit-learn fits it ({type(error).__name__})") from None
    check_attributes(kind.name, declared, state, _sizes(state))
    return parameters, state


def _refuse_cache(kind: Kind, parameters: Mapping[str, Any]) -> None:
    """Raise if an object would keep a cache, or would try one in a search: joblib runs what it reads from a cache."""
    grids = [parameters[name] for name in ("param_grid", "param_distributions") if name in parameters]
    tried = {
        str(name).rpartition("__")[2]
        for grid in grids
        for part in (grid if isinstance(grid, (list, tuple)) else [grid])
        if isinstance(part, dict)
        for name in part
    }
    if parameters.get("memory") is not None or "memory" in tried:
        raise Unsound(f"memory of a {kind.name} must be None")


def _declaration(kind: Kind) -> str:
    return f"{_COMMON} {kind.declaration}" if kind.role == "model" else kind.declaration


def _sizes(state: Mapping[str, Any]) -> dict[str, int]:
    count = state.get("n_features_in_")
    return {"p": int(count)} if isinstance(count, (int, np.integer)) else {}


def read_objects(table: Any, arrays: Pool, trust: TrustedObjects) -> list[Any]:
    """Return the objects of a table, or raise `Unsound` if an object does not match its declaration."""
    if not isinstance(table, list):
        raise Unsound("its table of objects is not a list")
    objects: list[Any] = []
    uses: list[int] = []
    depths: list[int] = []
    for entry in table:
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise Unsound("an entry of the table of objects is not an object")
        children = [k for k in _references(entry) if type(k) is int and 0 <= k < len(objects)]
        uses.append(1 + sum(uses[k] for k in children))
        depths.append(1 + max((depths[k] for k in children), default=0))
        if uses[-1] > _MOST_USES * (len(table) + 10) or depths[-1] > _DEEPEST:
            raise Unsound("objects are shared too often or nested too deeply")
        kind = KINDS.get(entry["kind"])
        if kind is None:
            objects.append(trust.read(entry))
            continue
        if kind.needs_trust:
            trust.require(kind)
        objects.append(_rebuild(kind, entry, arrays, objects))
    return objects


def _references(node: Any) -> list[Any]:
    """Return the places of all objects to which an entry refers."""
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


def _rebuild(kind: Kind, entry: dict[str, Any], arrays: Pool, objects: list[Any]) -> Any:
    """Return the object of an entry. Checks the parameters and the state before they are used."""
    if entry.keys() != {"kind", "parameters", "state"}:
        raise Unsound(f"a {kind.name} must have exactly the entries kind, parameters and state")
    parameters, state = (
        {name: decode(node, arrays, objects) for name, node in _mapping(entry[part]).items()}
        for part in ("parameters", "state")
    )
    check_parameters(kind.name, parameters, kind.declared_parameters)
    _refuse_cache(kind, parameters)
    try:
        value = kind.new(parameters)
    except (AttributeError, ImportError) as error:
        package = kind.module.split(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name == package:
            raise missing_extra(package, purpose=f"a model with a {kind.name}") from None
        raise Unsound(f"the installed version has no {kind.name}") from None
    except TypeError:
        raise Unsound(f"the installed version of {kind.name} has other parameters") from None
    if hasattr(type(value), "_parameter_constraints"):
        _validate(kind, value)
    fitted = bool(state.keys() - _NOT_FITTED)
    if state:
        check_attributes(kind.name, _declaration(kind), state, _sizes(state))
    try:
        if fitted and kind.restore is not None:
            kind.restore(value, state)
        vars(value).update(state)
        if kind.check is not None and (fitted or kind.also_unfitted):
            kind.check(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, Unsound):
            raise
        raise Unsound(f"the attributes of a {kind.name} do not match each other") from None
    return value


def _validate(kind: Kind, value: Any) -> None:
    """Let scikit-learn check the ranges of the parameters, as `fit` does."""
    try:
        value._validate_params()
    except (TypeError, ValueError):
        raise Unsound(f"a parameter of a {kind.name} is not in its range") from None


def _mapping(node: Any) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise Unsound("the parameters or the state of an object are not a mapping")
    return node
