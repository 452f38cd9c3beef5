"""Which parameters of `fit` reach which predictor and scale. None reaches the rank: calibration rows count alike.

If scikit-learn's metadata routing is enabled, the requests of the estimators decide (``set_fit_request``). Otherwise
a parameter goes to every predictor, which must accept it, and to every scale that accepts it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from pacband.candidates.fit_params import FitParams
from pacband.candidates.members import Member, is_refittable
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput

__all__ = ["route_parameters", "router_of"]


def router_of(estimator: BaseEstimator, members: Mapping[str, Member]) -> MetadataRouter:
    """Return which metadata the members ask for, for scikit-learn."""
    router = MetadataRouter(owner=estimator).add_self_request(estimator)
    for name, member in members.items():
        for key, part in zip(_keys(name), (member.predictor, member.scale), strict=True):
            if is_refittable(part):
                router.add(**{key: part, "method_mapping": MethodMapping().add(caller="fit", callee="fit")})
    return router


def route_parameters(
    estimator: BaseEstimator, members: Mapping[str, Member], parameters: Mapping[str, Any], n_rows: int
) -> dict[str, FitParams]:
    """Return the parameters of every member's fit, or raise unless they are accepted."""
    if not parameters:
        return {}
    weights = parameters.get("sample_weight")
    if weights is not None and (not hasattr(weights, "__len__") or len(weights) != n_rows):
        size = len(weights) if hasattr(weights, "__len__") else repr(weights)
        raise InvalidInput(f"sample_weight must have one value per row: {n_rows} rows, got {size}.")
    if not any(member.trainable for member in members.values()):
        raise InvalidInput(
            f"nothing is fitted, so that fit takes no {listed(parameters)}: calibration rows count alike. Weights of "
            "calibration rows are draws: see pacband.draws.Weighted."
        )
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(estimator, "fit", **parameters)
        return {name: FitParams(*(routed[key].fit if key in routed else {} for key in _keys(name))) for name in members}
    return {
        name: FitParams(_of_predictor(name, member.predictor, parameters), _of_scale(member.scale, parameters))
        for name, member in members.items()
    }


def _keys(name: str) -> tuple[str, str]:
    return name, f"scale of {name}"


def _of_predictor(name: str, predictor: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if not is_refittable(predictor):
        return {}
    found = {_accepted_name(predictor, parameter): value for parameter, value in parameters.items()}
    if None in found:
        refused = [parameter for parameter in parameters if _accepted_name(predictor, parameter) is None]
        raise InvalidInput(
            f"{type(predictor).__name__} ({name!r}) takes no {listed(refused)} at fit. Leave it out, or enable "
            "scikit-learn's metadata routing, by which each estimator states what it asks for: "
            "sklearn.set_config(enable_metadata_routing=True), and set_fit_request."
        )
    return {key: value for key, value in found.items() if key is not None}


def _of_scale(scale: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if not is_refittable(scale):
        return {}
    found = {_accepted_name(scale, parameter): value for parameter, value in parameters.items()}
    return {key: value for key, value in found.items() if key is not None}


def _accepted_name(model: Any, parameter: str) -> str | None:
    """Return the name by which `fit` accepts a parameter; None if it does not.

    A pipeline takes the parameters of its steps: ``sample_weight`` is that of its last step.
    """
    if isinstance(model, Pipeline):
        step, divided, rest = parameter.partition("__")
        if not divided:
            step, rest = model.steps[-1][0], parameter
        owner = dict(model.steps).get(step)
        return f"{step}__{rest}" if hasattr(owner, "fit") and _accepted_name(owner, rest) else None
    accepted = inspect.signature(model.fit).parameters
    open_to_all = any(known.kind is inspect.Parameter.VAR_KEYWORD for known in accepted.values())
    return parameter if parameter in accepted or open_to_all else None
