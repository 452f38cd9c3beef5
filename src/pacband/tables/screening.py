"""The screen of a table that stays in its engine: some of its rows are read, and checked like arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.checks.sample import MOST_ROWS, Looked, rows_to_look_at
from pacband.checks.screening import screen_rows
from pacband.checks.warning import warn_of_findings
from pacband.core.labels import as_labels
from pacband.core.members import cells_of, groups_of_columns
from pacband.draws import Rows
from pacband.scores import ScoreRule, as_prediction, spread_of
from pacband.scores.columns import Columns
from pacband.tables.columns import read_predicted, read_values
from pacband.tables.other_columns import fetch_at, other_names

__all__ = ["screen_engine"]


def screen_engine(
    scoring: ScoreRule,
    table: nw.LazyFrame[Any],
    certificate: Certificate | FamilyCertificate | GroupCertificate,
    named: Mapping[str, Columns],
    first: Mapping[str, Any],
) -> None:
    """Warn if some rows of the table do not look independent.

    DuckDB knows the order of rows: the first rows and rows from everywhere are read, in all columns. Of other engines
    only the first rows are checked, which were read before, in the columns that the promise names.
    """
    columns = named[certificate.best if isinstance(certificate, FamilyCertificate) else ""]
    used = [*columns.numeric, *([] if columns.group is None else [columns.group]), *columns.groups]
    if table.implementation is not nw.Implementation.DUCKDB:
        values = {name: first[name] for name in used if name in first}
        if len(values) == len(used):
            _screen(scoring, columns, values, None)
        return
    # Every row has a group in each of several columns of labels.
    n_rows = sum(part.n_samples for part in certificate.parts.values()) // (len(columns.groups) or 1)
    looked = rows_to_look_at(n_rows, at_least=MOST_ROWS)
    taken = [name for parts in named.values() for name in parts.all]
    others = other_names(table.collect_schema(), taken)
    found = fetch_at(table.to_native(), [*used, *others], looked.rows)
    _screen(scoring, columns, {name: found[name] for name in used}, {name: found[name] for name in others}, looked)


def _screen(
    scoring: ScoreRule,
    columns: Columns,
    values: Mapping[str, Any],
    others: Mapping[str, Any] | None,
    looked: Looked | None = None,
) -> None:
    target = read_values(values, columns.target)
    y_pred, scale = read_predicted(values, columns)
    warn_of_findings(
        screen_rows(
            scoring,
            Rows().sample(len(target)),
            target,
            as_prediction(scoring, y_pred, target.shape),
            spread_of(scoring, scale, target.shape),
            groups=_groups(columns, values),
            others=None if others is None else lambda rows: {name: column[rows] for name, column in others.items()},
            looked=None if looked is None else Looked(slice(0, len(target)), looked.n_first),
            numbers=looked.rows if looked is not None and not isinstance(looked.rows, slice) else None,
        )
    )


def _groups(columns: Columns, values: Mapping[str, Any]) -> Any:
    """Return the group of every row; of groups that overlap, one number for the same groups."""
    if columns.groups:
        return cells_of(groups_of_columns({name: values[name] for name in columns.groups}))
    return None if columns.group is None else as_labels(values[columns.group])
