"""The screen of a table that stays in its engine: some of its rows are read, and checked like arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, FamilyCertificate
from pacband.checks import Finding
from pacband.checks.columns import may_hold_labels
from pacband.checks.frames import plain_column
from pacband.checks.screening import LEVEL, explain, screen_rows
from pacband.checks.warning import warn_of_findings
from pacband.core.labels import as_labels
from pacband.core.members import cells_of, groups_of_columns
from pacband.draws import Draws, Rows, Units
from pacband.draws.kinds import UnitDraws
from pacband.scores import ScoreRule, as_prediction, spread_of
from pacband.scores.columns import Columns
from pacband.tables.columns import read_predicted, read_values
from pacband.tables.other_columns import fetch_at, other_names

__all__ = ["screen_engine", "screen_units"]

# So many rows of each kind are read. At a million rows, twice as many would take half the time of the certificate.
_ROWS = 5000


def screen_engine(
    scoring: ScoreRule,
    table: nw.LazyFrame[Any],
    certificate: AnyCertificate,
    named: Mapping[str, Columns],
    first: Mapping[str, Any],
) -> None:
    """Warn if some rows of the table do not look independent.

    The first rows were read before, in the columns that the promise names (`first`). DuckDB also reads their other
    columns, and then, in one more pass, rows from everywhere: in the columns that the promise names and in those that
    may hold labels or dates. The two screens share the level.
    """
    columns = named[certificate.best if isinstance(certificate, FamilyCertificate) else ""]
    used = list(dict.fromkeys(columns.all))
    if not set(used) <= first.keys():
        return
    near = {name: first[name][:_ROWS] for name in used}
    if not table.implementation.is_duckdb():
        warn_of_findings(_screen(scoring, columns, near, None, LEVEL))
        return
    relation: Any = table.to_native()
    taken = [name for parts in named.values() for name in parts.all]
    others = fetch_at(relation, other_names(table.collect_schema(), taken), slice(0, len(near[used[0]])))
    # Every row has a group in each of several columns of labels.
    n_rows = sum(part.n_samples for part in certificate.parts.values()) // (len(columns.groups) or 1)
    wanted = [name for name, column in others.items() if may_hold_labels(column)]
    drawn = _fetch_drawn(relation, columns.target[0], [*used, *wanted], n_rows)
    core, rest = {name: drawn[name] for name in used}, {name: plain_column(drawn[name]) for name in wanted}
    warn_of_findings(
        explain(
            [
                *_screen(scoring, columns, near, others, LEVEL / 2.0, n_rows=n_rows),
                *_screen(scoring, columns, core, rest, LEVEL / 2.0, n_rows=n_rows, everywhere=True),
            ]
        )
    )


def _fetch_drawn(relation: Any, by: str, names: Sequence[str], n_rows: int) -> dict[str, Any]:
    """Return about `_ROWS` rows from everywhere, in the order of rows: those with one hash of the column `by`.

    DuckDB reads the other columns in these rows alone. Copies of a row have the same hash. If the column has few
    values, many rows or none have this hash: then the first of them are returned.
    """
    from pacband.tables.connection import quoted

    found = (
        relation.filter(f"hash({quoted(by)}) % {-(-n_rows // _ROWS)} = 0")
        .project(", ".join(map(quoted, names)))
        .limit(2 * _ROWS)
    )
    return dict(found.fetchnumpy())


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
    if table.implementation.is_duckdb():
        names = other_names(table.collect_schema(), [*columns.all, unit])
        others = fetch_at(table.to_native(), names, slice(0, n_rows))
    warn_of_findings(_screen(scoring, columns, first, others, LEVEL, draws=Units(first[unit], kind.within)))


def _screen(
    scoring: ScoreRule,
    columns: Columns,
    values: Mapping[str, Any],
    others: Mapping[str, npt.NDArray[Any]] | None,
    level: float,
    *,
    n_rows: int | None = None,
    everywhere: bool = False,
    draws: Draws | None = None,
) -> list[Finding]:
    """Screen the first of n rows in memory; or rows from everywhere, which have only some columns."""
    target = read_values(values, columns.target)
    y_pred, scale = read_predicted(values, columns)
    if not len(target):
        return []
    numbers = None
    if everywhere and n_rows is not None:
        numbers = np.arange(len(target), dtype=np.intp) * n_rows // len(target)
    return screen_rows(
        scoring,
        (draws or Rows()).sample(len(target)),
        target,
        as_prediction(scoring, y_pred, target.shape),
        spread_of(scoring, scale, target.shape),
        groups=_groups(columns, values),
        others=None if others is None else lambda rows: {name: column[rows] for name, column in others.items()},
        level=level,
        complete=others is not None and not everywhere,
        numbers=numbers,
        n_rows=n_rows,
    )


def _groups(columns: Columns, values: Mapping[str, Any]) -> Any:
    """Return the group of every row; of groups that overlap, one number for the same groups."""
    if columns.groups:
        return cells_of(groups_of_columns({name: values[name] for name in columns.groups}))
    return None if columns.group is None else as_labels(values[columns.group])
