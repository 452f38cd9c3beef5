"""Split a fitted certified estimator into plain values, and write them to a file.

The parts are the parameters, the fitted members and the fingerprints of the training rows and units. The certificate is
written beside them, as JSON. `pacband.estimators.assembling` puts the parts together again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pacband.certificate import AnyCertificate, GroupCertificate
from pacband.estimators.drawing import draws_to_dict
from pacband.estimators.identity import about_to_dict
from pacband.exceptions import InvalidInput
from pacband.models.archive import Archive, write_archive

__all__ = ["OF_X", "certificates_of", "save_model", "take_apart"]

# The attributes that scikit-learn sets from X.
OF_X = ("n_features_in_", "feature_names_in_")


def save_model(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    target: Sequence[str] | None = None,
    trusted: Sequence[str | type] = (),
) -> Path:
    """Write a fitted certified estimator to a file, atomically; see `Certified.save`.

    `columns` are the kinds of its columns, "number" or "category", by which later files are read; by default those of
    its fit. `target` are the columns of the targets; by default those of the file that it was loaded from.
    """
    from pacband.models.content import write_content
    from pacband.models.trust import Trust
    from pacband.models.versions import versions

    _check_kind(estimator)
    candidates, certificates = certificates_of(estimator)
    trust = Trust(trusted)
    document, arrays = write_content(take_apart(estimator), trust)
    return write_archive(
        path,
        Archive(
            kind=estimator.file_kind,
            candidates=candidates,
            versions=versions(),
            columns=dict(estimator.column_kinds_ if columns is None else columns),
            trusted=tuple(sorted(trust.needed)),
            certificates=certificates,
            model=document,
            arrays=arrays,
            objects=tuple(trust.files),
            target=tuple(estimator.target_columns_ if target is None else target),
        ),
    )


def _check_kind(estimator: Any) -> None:
    """Raise unless this is a fitted estimator that can be saved."""
    # A subclass would be loaded as an estimator of another class: only the classes that state their kind are saved.
    if "file_kind" not in vars(type(estimator)):
        raise InvalidInput(
            f"a saved model must be a CertifiedRegressor or CertifiedFamily, got {type(estimator).__name__}."
        )
    check_is_fitted(estimator, "certificate_")


def certificates_of(estimator: Any) -> tuple[tuple[str, ...], tuple[AnyCertificate, ...]]:
    """Return the certificates that make up the promise; in a family with groups, of each candidate by its name."""
    if estimator.file_kind == "family" and isinstance(estimator.certificate_, GroupCertificate):
        return tuple(estimator.certificates_), tuple(estimator.certificates_.values())
    return (), (estimator.certificate_,)


def take_apart(estimator: Any) -> dict[str, Any]:
    """Return all parts but the certificates, as plain values and models."""
    _refuse_functions(estimator)
    parameters = estimator.get_params(deep=False)
    if "progress" in parameters:
        parameters["progress"] = None
    for name in ("clip", "draws", "search_plan"):
        if parameters.get(name) is None:
            # A file without them is as it was before there were any.
            parameters.pop(name, None)
    if "draws" in parameters:
        parameters["draws"] = draws_to_dict(parameters["draws"])
    if "search_plan" in parameters:
        parameters["search_plan"] = parameters["search_plan"].to_dict()
    parameters["about"] = about_to_dict(parameters["about"])
    if not parameters["about"]:
        # A file without it is as it was before there was any.
        del parameters["about"]
    if isinstance(parameters.get("candidates"), Mapping):
        parameters["candidates"] = dict(parameters["candidates"])
    auto = getattr(estimator, "auto_", None)
    search_plan = getattr(estimator, "search_plan_", None)
    units = estimator.training_units_
    return {
        "parameters": parameters,
        "names": list(estimator.members_),
        "predictors": [member.predictor for member in estimator.members_.values()],
        "scales": [member.scale for member in estimator.members_.values()],
        "training_rows": estimator.training_rows_,
        # Written only where draws are units: other files are as they were before there were any.
        **({} if units is None else {"training_units": units}),
        "grouping": estimator.grouping_,
        # `assemble` compares them: the model is loaded with no other certificate.
        "certificates": [certificate.digest for certificate in certificates_of(estimator)[1]],
        "of_x": {name: getattr(estimator, name) for name in OF_X if hasattr(estimator, name)},
        "tried": None if auto is None else [[t.name, t.width, t.seconds, t.status] for t in auto.tried],
        **({"ended": auto.ended} if auto is not None and auto.ended else {}),
        **({} if search_plan is None else {"search_plan": search_plan.to_dict()}),
    }


def _refuse_functions(estimator: Any) -> None:
    for name, member in estimator.members_.items():
        for what, part in (("predictor", member.predictor), ("scale", member.scale)):
            if callable(part) and not hasattr(part, "predict"):
                raise InvalidInput(
                    f"a function cannot be saved, because it would have to be run from the file: the {what} of "
                    f"{name!r} is one. Save the certificate instead, or make it an estimator."
                )
    for what, value in (("groups", estimator.groups), ("groups", estimator.grouping_)):
        if callable(value):
            raise InvalidInput(f"a function cannot be saved: {what} must be a column of X by name or position.")
