"""Columns of a table in memory, as `certify` takes them: rows, or runs whose steps are rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw

from pacband.checks.scored import Others
from pacband.core.members import groups_of_columns
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.tables.columns import read_predicted, read_values, refuse_empty, refuse_inexact
from pacband.tables.engines import fetch_columns
from pacband.tables.runs import Runs, gather_runs, read_runs

__all__ = ["TableRows", "read_table", "read_whole"]


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a table, or its runs.

    Attributes
    ----------
    y, y_pred, scale, groups
        As `certify_groups` takes them; None where the table has none.
    columns : Columns
        Where they come from. For runs it states their steps.
    runs : Runs or None
        Which rows of the table make a run.
    """

    y: Any
    y_pred: Any
    scale: Any
    groups: Any
    columns: Columns
    runs: Runs | None = None

    def of_draws(self, name: str, column: Any) -> Any:
        """Return one value for each row, or for each run, from a column of the table; raise if a run has several."""
        return column if self.runs is None else self.runs.of_runs(name, column)

    def at_draws(self, others: Others | None) -> Others | None:
        """Return the other columns of the table at rows, or at the first steps of runs."""
        if others is None or self.runs is None:
            return others
        read, starts = others, self.runs.rows[:, 0]
        return lambda picked: read(starts[picked])

    def bind(self, draws: Draws, values: Mapping[str, Any]) -> Draws:
        """Return the draws with the values of their columns."""
        found = [self.of_draws(name, values[name]) for name in draws.columns]
        return draws.bind(*found) if found else draws


def read_table(values: Mapping[str, Any], columns: Columns) -> TableRows:
    """Return the rows of a table whose columns are in memory, at least one; its runs if it has a column of runs."""
    if columns.run is None or columns.step is None:
        refuse_empty(values)
        labels = {name: values[name] for name in (columns.group, *columns.groups) if name is not None}
        return TableRows(
            read_values(values, columns.target), *read_predicted(values, columns), _groups(columns, labels), columns
        )
    runs = gather_runs(values, columns.run, columns.step, columns.steps or None)
    labels = {name: runs.of_runs(name, values[name]) for name in (columns.group, *columns.groups) if name is not None}
    stated = replace(columns, steps=runs.steps)
    return TableRows(*read_runs(runs, values, columns), _groups(columns, labels), stated, runs)


def read_whole(
    table: nw.LazyFrame[Any], schema: nw.Schema, names: Sequence[str], numeric: Sequence[str], what: str
) -> dict[str, Any]:
    """Bring columns of a table in an engine into memory, in the order of its rows. `what` is what needs them there."""
    engine = table.implementation
    if engine not in (nw.Implementation.DUCKDB, nw.Implementation.POLARS):
        raise InvalidInput(
            f"{what} are made in memory, from tables of pandas, polars, pyarrow or DuckDB; this one is of "
            f"{engine.name.lower()}."
        )
    refuse_inexact(table, schema, numeric)
    return dict(fetch_columns(table.select(*names), list(names)))


def _groups(columns: Columns, labels: Mapping[str, Any]) -> Any:
    if columns.groups:
        return groups_of_columns(labels)
    return None if columns.group is None else labels[columns.group]
