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
from pacband.draws import Draws, Rows, Units
from pacband.draws.kinds import UnitDraws
from pacband.scores import ScoreRule, as_prediction, spread_of
from pacband.scores.columns import Columns
from pacband.tables.columns import read_predicted, read_values
from pacband.tables.other_columns import fetch_at, other_names

__all__ = ["screen_engine", "screen_units"]


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
    used = [*columns.numeric, *([] if columns.group is None else [columns.group])]
    if table.implementation is not nw.Implementation.DUCKDB:
        values = {name: first[name] for name in used if name in first}
        if len(values) == len(used):
            _screen(scoring, columns, values, None)
        return
    n_rows = sum(part.n_samples for part in certificate.parts.values())
    looked = rows_to_look_at(n_rows, at_least=MOST_ROWS)
    taken = [name for parts in named.values() for name in parts.all]
    others = other_names(table.collect_schema(), taken)
    found = fetch_at(table.to_native(), [*used, *others], looked.rows)
    _screen(scoring, columns, {name: found[name] for name in used}, {name: found[name] for name in others}, looked)


def screen_units(
    scoring: ScoreRule, table: nw.LazyFrame[Any], columns: Columns, kind: UnitDraws, first: Mapping[str, Any], unit: str
) -> None:
    """Warn if the units in the first rows of a table do not look independent; DuckDB reads all columns of these rows.

    Parameters
    ----------
    columns : Columns
        The columns that are certified.
    kind : UnitDraws
        What the score of a unit is.
    first : mapping of str to array
        The first rows, with the column of units.
    unit : str
        The column of units.
    """
    n_rows = len(first[unit])
    others: dict[str, Any] | None = None
    if table.implementation is nw.Implementation.DUCKDB:
        names = other_names(table.collect_schema(), [*columns.all, unit])
        others = fetch_at(table.to_native(), names, slice(0, n_rows))
    _screen(scoring, columns, first, others, draws=Units(first[unit], kind.within))


def _screen(
    scoring: ScoreRule,
    columns: Columns,
    values: Mapping[str, Any],
    others: Mapping[str, Any] | None,
    looked: Looked | None = None,
    draws: Draws | None = None,
) -> None:
    target = read_values(values, columns.target)
    y_pred, scale = read_predicted(values, columns)
    warn_of_findings(
        screen_rows(
            scoring,
            (draws or Rows()).sample(len(target)),
            target,
            as_prediction(scoring, y_pred, target.shape),
            spread_of(scoring, scale, target.shape),
            groups=None if columns.group is None else as_labels(values[columns.group]),
            others=None if others is None else lambda rows: {name: column[rows] for name, column in others.items()},
            looked=None if looked is None else Looked(slice(0, len(target)), looked.n_first),
            numbers=looked.rows if looked is not None and not isinstance(looked.rows, slice) else None,
        )
    )
