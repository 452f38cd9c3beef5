"""Group labels of a certificate in a DuckDB table, whatever type the table's column has.

In a CSV file every label is a text, and a column of pandas with gaps holds 1.0 for 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacband.certificate.certified_labels import refuse_labels
from pacband.core.cells import TEXT_TYPES, short_texts, spelled, spelled_sql
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput
from pacband.tables.connection import literal, quoted

__all__ = ["labels_of", "with_labels", "without_labels"]

# The name of the user's own column of groups while the labels take its place.
_KEPT = "pacband kept group"


def with_labels(relation: Any, group: str | None, labels: Sequence[Any], *, keep: bool = False) -> Any:
    """Return the relation with the labels of the certificate in its group column.

    Texts match texts exactly. All others match by their canonical spelling (`pacband.core.cells`), never by rounding.
    Raises `InvalidInput` where a row has none of the labels. With `keep`, `without_labels` restores the user's column.
    """
    if group is None or group not in relation.columns or not labels:
        return relation
    column, held = quoted(group), str(relation.types[relation.columns.index(group)])
    kinds = {type(label) for label in labels}
    if kinds == {str} and held.startswith(TEXT_TYPES):
        return relation
    keys = {spelled(label): label for label in labels}
    if len(keys) < len(labels) or None in keys or (str in kinds and len(kinds) > 1):
        raise InvalidInput(
            f"column {group!r} holds {held}, and the labels of the certificate, {listed(labels)}, cannot be "
            "distinguished in it: use a table that holds the labels as they were certified."
        )
    if kinds == {bool}:
        keys |= {"1": True, "0": False}
    keys = short_texts(labels) | keys
    key = spelled_sql(column, held)
    known = ", ".join(literal(str(text)) for text in keys)
    unseen = relation.filter(f"{key} not in ({known})").project(f"{column} as g").distinct().limit(6).fetchall()
    if unseen:
        refuse_labels([row[0] for row in unseen], labels, f"column {group!r}")
    if kinds == {str}:
        others = {text: label for text, label in keys.items() if text != label}
        cases = "".join(f"when {literal(str(text))} then {literal(label)} " for text, label in others.items())
        value = f"case {key} {cases}else {key} end" if others else key
    else:
        kind = {frozenset([bool]): "boolean", frozenset([int]): "bigint"}.get(frozenset(kinds), "double")
        value = f"cast({key} as {kind})"
        others = {text: label for text, label in keys.items() if type(label) is float and float(str(text)) != label}
        if others:
            cases = "".join(f"when {literal(str(text))} then {label!r}::double " for text, label in others.items())
            value = f"case {key} {cases}else {value} end"
    kept = f", {column} as {quoted(_KEPT)}" if keep else ""
    return relation.project(f"* replace ({value} as {column}){kept}")


def without_labels(relation: Any, group: str | None) -> Any:
    """Return the relation with the user's own group column restored."""
    if group is None or _KEPT not in relation.columns:
        return relation
    return relation.project(f"* exclude ({quoted(_KEPT)}) replace ({quoted(_KEPT)} as {quoted(group)})")


def labels_of(certificate: Any) -> list[Any]:
    """Return the labels of a group certificate; none for other certificates."""
    return list(getattr(certificate, "groups", []))
