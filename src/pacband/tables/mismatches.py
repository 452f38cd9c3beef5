"""A certificate that is applied to other columns, or with another model, than it was made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pacband.certificate import Promise
from pacband.checks.finding import Finding, Kind
from pacband.checks.warning import warn_of_promise
from pacband.core.labels import listed
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns

__all__ = [
    "describe_other_columns",
    "describe_other_unit",
    "describe_others",
    "find_other_model",
    "warn_of_other_model",
]


# Columns as they were certified, and as they are given.
_Pair = tuple[Sequence[str | None], Sequence[str | None]]


def describe_other_columns(basis: Promise, columns: Columns, unit: str | None = None) -> str | None:
    """Return a warning if columns, or that of units if it is named, have other names than those certified.

    A certificate of arrays has no names. Groups that only list rows, beside a promise about all of them, are free.
    """
    known = basis.columns
    if known is None:
        return describe_other_unit(basis, unit)
    return describe_others(
        {
            "target": (known.target, columns.target),
            "prediction": (known.prediction, columns.prediction),
            "scale": (sum(known.scale, ()), sum(columns.scale, ())),
            "group": (_groups(known), _groups(columns)),
            "step": ((known.step,), (columns.step,)),
            **_units(basis, unit),
        }
    )


def describe_other_unit(basis: Promise, unit: str | None) -> str | None:
    """Return a warning if the column of units is named, and has another name than the certified one."""
    return describe_others(_units(basis, unit))


def describe_others(pairs: Mapping[str, _Pair]) -> str | None:
    """Return a warning if columns, by what they are, have other names than those certified, where these have any."""
    other = [
        f"{what} {listed(list(given))} in place of {listed(list(certified))}"
        for what, (certified, given) in pairs.items()
        if certified != given and any(certified)
    ]
    if not other:
        return None
    return (
        f"these are not the columns that were certified: {'; '.join(other)}. The promise is about the certified "
        "predictions. Use these columns only if they hold what was certified, under other names."
    )


def warn_of_other_model(basis: Promise, digest: str | None) -> None:
    """Warn if a model has another digest than the one that the certificate states. Raise if it states none."""
    if digest is not None and (other := find_other_model(basis, digest)) is not None:
        warn_of_promise(other.sentences, (other,))


def find_other_model(basis: Promise, digest: str) -> Finding | None:
    """Return a finding if a model has another digest than the certified one. Raise if the certificate states none."""
    model = basis.about.model
    if model is None or model.digest is None:
        raise InvalidInput(
            "the certificate states no digest of its model, so the model cannot be compared with it. Certify with the "
            "digest: about={'model': {'digest': pacband.model_digest(path)}}."
        )
    if digest == model.digest:
        return None
    return Finding(
        code=Kind.OTHER_MODEL,
        check="another model",
        seen=f"the SHA-256 of this model is {digest}, and the certificate is about the model {model}",
        p_value=0.0,
        effect="The promise does not hold for this model.",
        advice="Certify this model with rows of its own.",
    )


def _units(basis: Promise, unit: str | None) -> dict[str, _Pair]:
    """Return the certified column of units and the one that is named. Labels in an array may be called "unit" only."""
    kind = basis.draws
    if unit is None or not isinstance(kind, UnitDraws) or (basis.columns is None and kind.unit == "unit"):
        return {}
    return {"unit": ((kind.unit,), (unit,))}


def _groups(columns: Columns) -> tuple[str | None, ...]:
    return columns.groups or (columns.group,)
