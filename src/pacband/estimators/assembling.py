"""Rebuild a certified estimator from the parts that `pacband.estimators.saving` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pacband.candidates.members import Member
from pacband.candidates.search_plan import SearchPlan
from pacband.certificate import AnyCertificate, FamilyCertificate, GroupCertificate
from pacband.certificate.about import as_about
from pacband.core.frozen import FrozenMap
from pacband.estimators.drawing import draws_from_dict
from pacband.estimators.family import CertifiedFamily
from pacband.estimators.regressor import CertifiedRegressor
from pacband.estimators.saving import OF_X
from pacband.exceptions import CertificateError
from pacband.models.declare import check_attributes, parse
from pacband.models.parameters import check_parameters
from pacband.models.values import Unsound

__all__ = ["assemble"]

_KINDS: dict[str, type[CertifiedRegressor] | type[CertifiedFamily]] = {
    kind.file_kind: kind for kind in (CertifiedRegressor, CertifiedFamily)
}


def assemble(
    kind: str,
    parts: Mapping[str, Any],
    certificates: Sequence[AnyCertificate],
    candidates: Sequence[str],
) -> CertifiedRegressor | CertifiedFamily:
    """Return the estimator of these parts, or raise unless they belong together."""
    _check_parts(kind, parts)
    try:
        parameters = dict(parts["parameters"])
        if parameters.get("draws") is not None:
            parameters["draws"] = draws_from_dict(parameters["draws"])
        if parameters.get("search_plan") is not None:
            parameters["search_plan"] = SearchPlan.from_dict(parameters["search_plan"])
        if "about" in parameters:
            parameters["about"] = as_about(parameters["about"])
        estimator = _KINDS[kind](**parameters)
        members = {
            name: Member(predictor, scale)
            for name, predictor, scale in zip(parts["names"], parts["predictors"], parts["scales"], strict=True)
        }
        for name in OF_X:
            if name in parts["of_x"]:
                setattr(estimator, name, parts["of_x"][name])
        estimator.training_rows_, estimator.grouping_ = parts["training_rows"], parts["grouping"]
        estimator.training_units_ = parts.get("training_units")
        certificate = dict(zip(candidates, certificates, strict=True)) if candidates else certificates[0]
        estimator.set_fitted(members, certificate)  # type: ignore[arg-type]
        if parts["tried"] is not None:
            from pacband.candidates.automatic import AutoFamily
            from pacband.candidates.ledger import Tried

            plan = SearchPlan.from_dict(parts["search_plan"]) if "search_plan" in parts else None
            tried = tuple(Tried(*each) for each in parts["tried"])
            auto = AutoFamily(FrozenMap(members), tried, plan, parameters.get("side", "both"), parts.get("ended", ""))
            estimator.__dict__ |= {"auto_": auto, "search_plan_": plan}
        _check_fit(estimator, certificates, parts["certificates"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"the model does not fit its certificate: {error}.") from None
    return estimator


# What the parts are, in the language of `pacband.models.declare`.
_DECLARED = (
    "parameters!=dict(any) names!=list(str) predictors!=list(any) scales!=list(any) "
    "training_rows!=plain training_units=plain grouping!=none|str|int|list(str|int)|tuple(str|int) "
    "certificates!=list(str) of_x!=dict(nat|t[*]) "
    "tried!=none|list(list(str|num|none)) ended=str search_plan=dict(list(str)|bool|nat|str)"
)


def _check_parts(kind: str, parts: Any) -> None:
    """Raise `Unsound` unless these are the parts of a model."""
    if (
        not isinstance(parts, dict)
        or parts.keys() | {"training_units", "ended", "search_plan"} != parse(_DECLARED).keys()
    ):
        raise Unsound("it has other parts than those of a model")
    check_attributes("pacband model", _DECLARED, parts, {})
    if not parts["parameters"].keys() <= set(_KINDS[kind]._get_param_names()):
        raise Unsound("it has other parameters than this pacband")
    check_parameters("pacband model", parts["parameters"])
    if not all(hasattr(predictor, "predict") for predictor in parts["predictors"]):
        raise Unsound("a predictor has no predict method")
    for scale in parts["scales"]:
        if not (scale is None or hasattr(scale, "predict") or (isinstance(scale, str) and scale == "std")):
            raise Unsound("a scale is not 'std' and has no predict method")


def _check_fit(
    estimator: CertifiedRegressor | CertifiedFamily,
    certificates: Sequence[AnyCertificate],
    saved_with: Sequence[str],
) -> None:
    """Raise `ValueError` unless these certificates belong to these models, and are those they were saved with."""
    family = isinstance(estimator, CertifiedFamily)
    promises = estimator.certificates_ if family else {"estimator": estimator.certificate_}
    for name, certificate in promises.items():
        if name not in estimator.members_:
            raise ValueError(f"it has no {name!r}")
        if isinstance(certificate, FamilyCertificate):
            raise ValueError("one is of a family, the other is not")  # noqa: TRY004
        if isinstance(certificate, GroupCertificate) != (estimator.grouping_ is not None):
            raise ValueError("one has groups, the other has none")
        if (certificate.basis.scale_kind == "none") != (estimator.members_[name].scale is None):
            raise ValueError(f"of {name!r}, one has a scale, the other has none")
    if list(saved_with) != [certificate.digest for certificate in certificates]:
        raise ValueError("it was saved with another one")
