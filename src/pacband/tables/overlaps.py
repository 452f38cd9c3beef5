"""Groups that overlap, in a table: several columns of labels, and every label of every column is a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from pacband.certificate import GroupCertificate
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.labels import listed
from pacband.core.members import Masks, name_groups
from pacband.exceptions import InvalidInput
from pacband.scores import outwards
from pacband.scores.columns import Columns
from pacband.scores.expressions import largest_of
from pacband.tables.engines import fetch_rows
from pacband.tables.lookup import join_values

__all__ = ["known_masks", "widest_factor"]


def known_masks(certificate: GroupCertificate, found: Masks, columns: Columns) -> Masks:
    """Return the mask of every group of a certificate, from those that a table has; raise if it has others."""
    _check_named(columns)
    refuse_unknown(found, certificate.groups, f"the table, in {listed(columns.groups)},")
    nowhere = np.zeros(len(next(iter(found.values()), ())), dtype=bool)
    return {label: found.get(label, nowhere) for label in certificate.groups}


def widest_factor(
    certificate: GroupCertificate,
    frame: nw.LazyFrame[Any],
    ours: Mapping[str, str],
    columns: Columns,
    usable: list[nw.Expr],
) -> tuple[nw.LazyFrame[Any], nw.Expr]:
    """Join γ̄ of each of a row's groups to it, rounded outwards, and return the largest.

    Appends to `usable` the conditions that they are there.
    """
    _check_named(columns)
    factors: list[nw.Expr] = []
    for k, group in enumerate(columns.groups):
        labels = [row["g"] for row in fetch_rows(frame.select(nw.col(ours[group]).alias("g")).unique())]
        if any(label is None or label != label for label in labels):
            raise InvalidInput(f"column {group!r} must have a label in every row.")
        named = name_groups(group, labels)
        refuse_unknown(named.values(), certificate.groups, f"column {group!r}")
        values = {label: float(outwards(certificate.groups[name].gamma)) for label, name in named.items()}
        if values:
            frame = join_values(frame, ours[group], {f"factor{k}": values}, ordered=True)
            factors.append(nw.col(f"factor{k}"))
            usable.append((factors[-1] >= 0.0) | (factors[-1] < 0.0))
    # An empty table has no labels, and any factor will do.
    return frame, largest_of(factors) if factors else nw.lit(0.0, nw.Float64)


def _check_named(columns: Columns) -> None:
    if not columns.groups:
        raise InvalidInput("the groups of this certificate overlap: name the columns of their labels, as a list.")
