"""A certified estimator taken apart into plain values, and put together again.

Only parameters, fitted members and the fingerprints of the training rows are taken; the certificate goes its own way,
as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pacband.candidates.members import Member
from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate, single_of
from pacband.core.frozen import FrozenMap
from pacband.estimators.base import Certified
from pacband.estimators.family import CertifiedFamily
from pacband.estimators.regressor import CertifiedRegressor
from pacband.exceptions import CertificateError, InvalidInput
from pacband.models.declare import check_attributes, parse
from pacband.models.kind import Kind
from pacband.models.parameters import check_parameters
from pacband.models.values import Unsound

__all__ = ["assemble", "certificates_of", "kind_of", "take_apart"]

_KINDS: dict[str, type[CertifiedRegressor] | type[CertifiedFamily]] = {
    "regressor": CertifiedRegressor,
    "family": CertifiedFamily,
}
# What scikit-learn learns of X.
_OF_X = ("n_features_in_", "feature_names_in_")


def kind_of(estimator: Any) -> str:
    """Return the kind of a fitted estimator that can be saved, or raise."""
    for kind, known in _KINDS.items():
        # A subclass would come back as what it is not.
        if type(estimator) is known:
            check_is_fitted(estimator, "certificate_")
            return kind
    raise InvalidInput(
        f"a saved model must be a CertifiedRegressor or CertifiedFamily, got {type(estimator).__name__}."
    )


def certificates_of(
    estimator: Any,
) -> tuple[tuple[str, ...], tuple[Certificate | FamilyCertificate | GroupCertificate, ...]]:
    """Return the certificates that make up the promise; in a family with groups, of each candidate by its name."""
    if isinstance(estimator, CertifiedFamily) and isinstance(estimator.certificate_, GroupCertificate):
        return tuple(estimator.certificates_), tuple(estimator.certificates_.values())
    return (), (estimator.certificate_,)


def take_apart(estimator: Certified) -> dict[str, Any]:
    """Return all that `assemble` needs but the certificates, as plain values and models."""
    _refuse_functions(estimator)
    parameters = estimator.get_params(deep=False)
    if "progress" in parameters:
        parameters["progress"] = None
    if isinstance(parameters.get("candidates"), Mapping):
        parameters["candidates"] = dict(parameters["candidates"])
    auto = getattr(estimator, "auto_", None)
    return {
        "parameters": parameters,
        "names": list(estimator._members_),
        "predictors": [member.predictor for member in estimator._members_.values()],
        "scales": [member.scale for member in estimator._members_.values()],
        "training_rows": getattr(estimator, "_training_rows", None),
        "grouping": estimator._grouping_,
        # So that no other certificate can take their place.
        "certificates": [certificate.digest for certificate in certificates_of(estimator)[1]],
        "of_x": {name: getattr(estimator, name) for name in _OF_X if hasattr(estimator, name)},
        "tried": None if auto is None else [[t.name, t.width, t.seconds, t.status] for t in auto.tried],
    }


def assemble(
    kind: str,
    parts: Mapping[str, Any],
    certificates: Sequence[Certificate | FamilyCertificate | GroupCertificate],
    candidates: Sequence[str],
) -> CertifiedRegressor | CertifiedFamily:
    """Return the estimator that was taken apart."""
    _check_parts(kind, parts)
    try:
        estimator = _KINDS[kind](**parts["parameters"])
        members = {
            name: Member(predictor, scale)
            for name, predictor, scale in zip(parts["names"], parts["predictors"], parts["scales"], strict=True)
        }
        for name in _OF_X:
            if name in parts["of_x"]:
                setattr(estimator, name, parts["of_x"][name])
        estimator._training_rows, estimator._grouping_ = parts["training_rows"], parts["grouping"]
        certificate = dict(zip(candidates, certificates, strict=True)) if candidates else certificates[0]
        estimator._adopt(members, certificate)  # type: ignore[arg-type]
        if parts["tried"] is not None:
            from pacband.candidates.automatic import AutoFamily, Tried

            estimator.__dict__["auto_"] = AutoFamily(
                FrozenMap(members), tuple(Tried(*tried) for tried in parts["tried"])
            )
        _check_fit(estimator, certificates, parts["certificates"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"the model does not fit its certificate: {error}.") from None
    return estimator


# What the parts are, in the language of `pacband.models.declare`.
_DECLARED = Kind(
    "pacband model",
    "pacband",
    "Certified",
    declaration="parameters!=dict(any) names!=list(str) predictors!=list(any) scales!=list(any) "
    "training_rows!=plain grouping!=none|str|int|list(str|int)|tuple(str|int) certificates!=list(str) "
    "of_x!=dict(nat|t[*]) "
    "tried!=none|list(list(str|num|none))",
)


def _check_parts(kind: str, parts: Any) -> None:
    """Raise `Unsound` unless the parts are what `take_apart` gives."""
    if not isinstance(parts, dict) or parts.keys() != parse(_DECLARED.declaration).keys():
        raise Unsound("it has other parts than those of a model")
    check_attributes(_DECLARED, _DECLARED.declaration, parts, {})
    if not parts["parameters"].keys() <= set(_KINDS[kind]._get_param_names()):
        raise Unsound("it has other parameters than this pacband")
    check_parameters(_DECLARED, parts["parameters"])
    if not all(hasattr(predictor, "predict") for predictor in parts["predictors"]):
        raise Unsound("a predictor is none")
    for scale in parts["scales"]:
        if not (scale is None or hasattr(scale, "predict") or (isinstance(scale, str) and scale == "std")):
            raise Unsound("a scale is none")


def _check_fit(
    estimator: CertifiedRegressor | CertifiedFamily,
    certificates: Sequence[Certificate | FamilyCertificate | GroupCertificate],
    saved_with: Sequence[str],
) -> None:
    """Raise `ValueError` unless these certificates can speak of these models, and are those they were saved with."""
    family = isinstance(estimator, CertifiedFamily)
    promises = estimator.certificates_ if family else {"estimator": estimator.certificate_}
    for name, certificate in promises.items():
        if name not in estimator._members_:
            raise ValueError(f"it has no {name!r}")
        if isinstance(certificate, FamilyCertificate):
            raise ValueError("one is of a family, the other is not")  # noqa: TRY004
        if isinstance(certificate, GroupCertificate) != (estimator._grouping_ is not None):
            raise ValueError("one has groups, the other has none")
        if (single_of(certificate).scale_kind == "none") != (estimator._members_[name].scale is None):
            raise ValueError(f"of {name!r}, one has a scale, the other has none")
    if list(saved_with) != [certificate.digest for certificate in certificates]:
        raise ValueError("it was saved with another one")


def _refuse_functions(estimator: Certified) -> None:
    for name, member in estimator._members_.items():
        for what, part in (("predictor", member.predictor), ("scale", member.scale)):
            if callable(part) and not hasattr(part, "predict"):
                raise InvalidInput(
                    f"a function cannot be saved, for it would have to be run from the file: the {what} of {name!r} "
                    "is one. Save the certificate instead, or make it an estimator."
                )
    for what, value in (("groups", estimator.groups), ("groups", estimator._grouping_)):
        if callable(value):
            raise InvalidInput(f"a function cannot be saved: {what} must be a column of X by name or position.")
