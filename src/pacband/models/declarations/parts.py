"""The parts of pacband's estimators: classes whose objects are determined by their fields."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pacband.local.locality import Locality
from pacband.local.weights import resolve_weight
from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_TABLE = {
    "pacband.candidates.stack": {
        "Stack": "reader!=@TableReader models!=dict(model) weights!=f[m] location!=num unit!=num scales!=dict(model)"
    },
    "pacband.local.design": {
        "Gram": "kernel!=@Kernel X!=f[n,*] matrix=none|f[n,n]",
    },
    "pacband.local.factor": {"Factor": "kernel!=@Kernel points!=f[r,*] triangle!=f[r,r] columns!=f[n,r]"},
    "pacband.local.kernels": {"Kernel": "form!=str gamma!=num degree!=num coef0!=num origin=none|f[*]"},
    "pacband.local.norms": {"Norm": "order!=num factor=none|f[*,*]"},
    "pacband.local.ridge": {"FeatureMap": "features=none|model triangle=none|f[r,r]"},
    "pacband.local.model": {
        "Model": "solver!=str locality!=@Locality weight!=@Weight design!=@Gram|@Regressors alpha!=num y!=f[n] "
        "unit!=num offset=num"
    },
    "pacband.local.weights": {"Weight": "profile!=str decay!=num n_neighbors=none|int"},
    "pacband.scale.shrinkage": {
        "PairShrinkage": "share!=num typical!=tuple(num)",
        "Shrinkage": "share!=num power!=num level!=num peak!=num unit!=num floor!=num ceiling=num|none",
    },
}


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _regressors(value: Any) -> dict[str, Any]:
    # The feature map of a low-rank kernel is a method of its factor. The factor is saved in its place.
    found = _fields(value)
    return found | {"phi": getattr(found["phi"], "__self__", found["phi"])}


def _bind_phi(value: Any) -> None:
    phi = value.phi
    if type(phi).__name__ == "Factor":
        object.__setattr__(value, "phi", phi.features)
    elif not callable(phi):
        raise Unsound("pacband.Regressors have no feature map")


def _locality(norm: Any, points: Any) -> Any:
    # Its index is built at the first use.
    made = Locality.__new__(Locality)
    made.norm, made.points = norm, points
    return made


def _check_norm(norm: Any) -> None:
    if norm.order not in (1.0, 2.0, float("inf")):
        raise Unsound("a pacband.Norm has an unknown order")


def _check_weight(weight: Any) -> None:
    resolve_weight(weight.profile, weight.decay, weight.n_neighbors)


def _check_model(model: Any) -> None:
    samples = model.design.X if type(model.design).__name__ == "Gram" else model.design.matrix
    if not len(model.locality.points) == len(samples) == len(model.y) > 0:
        raise Unsound("a pacband.Model has different numbers of targets and samples")
    if model.solver == "line" and not model.locality.is_line:
        raise Unsound("a pacband.Model uses the line solver for points that are not on a line")


# What solvers prepare is not saved: the first prediction after loading prepares it again.
_NOT_SAVED = {"Model": "prepared"}
_CHECKS = {"Model": _check_model, "Norm": _check_norm, "Weight": _check_weight}

KINDS = (
    *(
        Kind(
            f"pacband.{name}",
            module,
            name,
            role="part",
            declared_parameters=declaration,
            parameters=_fields,
            check=_CHECKS.get(name),
            not_saved=_NOT_SAVED.get(name, ""),
            also_unfitted=True,
        )
        for module, table in _TABLE.items()
        for name, declaration in table.items()
    ),
    Kind(
        "pacband.Regressors",
        "pacband.local.design",
        "Regressors",
        role="part",
        declared_parameters="matrix!=f[n,r] centre!=f[r] residual!=f[n] phi!=@Factor|@FeatureMap|function "
        "rotation!=f[*,r] exact=none|@Gram tol=num gap=num gaps_sum=num",
        parameters=_regressors,
        check=_bind_phi,
        not_saved="products",
        also_unfitted=True,
    ),
    Kind(
        "pacband.Locality",
        "pacband.local.locality",
        "Locality",
        role="part",
        declared_parameters="norm!=@Norm points!=f8[n,*]",
        parameters=lambda value: {"norm": value.norm, "points": value.points},
        make=_locality,
        not_saved="index",
    ),
)
