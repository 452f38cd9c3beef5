"""The certificate of columns that are in memory, whichever table they were read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pacband.certificate import AnyCertificate
from pacband.certification.arrays import certify_family_rows, certify_group_rows, certify_rows
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms
from pacband.checks.scored import Others
from pacband.tables.certified_columns import Asked
from pacband.tables.reading import read_table

__all__ = ["certify_in_memory"]


def certify_in_memory(asked: Asked, values: Mapping[str, Any], others: Others | None) -> AnyCertificate:
    """Certify a table whose columns are in memory; `others` reads its other columns."""
    rows = {name: read_table(values, columns) for name, columns in asked.named.items()}
    first = next(iter(rows.values()))
    terms = replace(asked.terms, draws=first.bind(asked.terms.draws, values))
    others = first.at_draws(others)
    if asked.shares is not None and isinstance(terms, Terms):
        pairs = {name: (one.y_pred, one.scale) for name, one in rows.items()}
        stated = {name: one.columns for name, one in rows.items()}
        return certify_family_rows(terms, first.y, pairs, asked.shares, columns=stated, others=others)
    named_rows: dict[str, Any] = {"columns": first.columns, "others": others}
    if isinstance(terms, ToleranceTerms):
        return terms.certify_rows(first.y, first.y_pred, first.scale, **named_rows)
    if first.groups is not None:
        return certify_group_rows(terms, first.y, first.y_pred, first.groups, first.scale, **named_rows)
    return certify_rows(terms, first.y, first.y_pred, first.scale, **named_rows)
