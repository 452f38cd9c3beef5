"""Check the constructor arguments of an object: a file must not smuggle in functions, types or unexpected objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacband.models.declarations import kind_of
from pacband.models.declare import check_attributes
from pacband.models.values import Unsound

__all__ = ["check_parameters"]

# The roles of the objects that a parameter of this name may contain.
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
# The parameters that may be functions. All functions in a file are on the list of `pacband.models.names`.
_FUNCTIONS = ("func", "inverse_func", "score_func")
_MOST_THREADS = 1024


def check_parameters(owner: str, parameters: dict[str, Any], declared: str = "") -> None:
    """Raise `Unsound` if a parameter contains an object, a function or a type that its name does not allow.

    The error calls what has the parameters `owner`. If they are declared, the declaration alone decides.
    """
    if declared:
        check_attributes(owner, declared, parameters, {})
        return
    for name, value in parameters.items():
        if name == "n_jobs" and value is not None and (type(value) is not int or abs(value) > _MOST_THREADS):
            raise Unsound(f"n_jobs of a {owner} must be None or at most {_MOST_THREADS}")
        _check_parameter(owner, name, value)


def _check_parameter(owner: str, name: str, value: Any) -> None:
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_parameter(owner, name, item)
    elif isinstance(value, dict):
        for item in value.values():
            _check_parameter(owner, name, item)
    elif isinstance(value, type):
        if name != "dtype":
            raise Unsound(f"{name} of a {owner} cannot be a type")
    elif (found := kind_of(value)) is not None:
        if found.role not in _ROLES.get(name, ()):
            raise Unsound(f"{name} of a {owner} cannot be a {found.name}")
    elif callable(value) and not hasattr(value, "predict") and name not in _FUNCTIONS and hasattr(value, "__name__"):
        raise Unsound(f"{name} of a {owner} is a function, which would have to be run from the file")
