"""`check_frame`: test a promise on the labelled rows of a table. The rows stay in their engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from pacband.certificate import AnyCertificate
from pacband.core.checks import check_probability
from pacband.draws import Draws, Units, Weighted
from pacband.judging.checking import check, verdict_of
from pacband.judging.judge import Judge
from pacband.judging.verdicts import Verdict
from pacband.selection import tally
from pacband.tables.applying import labelled_columns
from pacband.tables.certified_draws import bound_draws, table_draws
from pacband.tables.columns import as_frame, check_columns, in_memory, read_predicted, read_values, refuse_inexact
from pacband.tables.engines import fetch_columns
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.table import Table
from pacband.tables.unit_scores import UnitScan, unit_column

__all__ = ["check_frame"]


def check_frame(
    certificate: AnyCertificate,
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | None = None,
    draws: Draws | None = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows of a table; see `check`, and `certify_frame` for tables.

    By default the columns are those that the certificate was made from. For a certificate of own scores, `target` names
    the column of the scores. If the promise is about units, ``draws=Units("machine", within)`` names their column; by
    default it is the one that names them. Rows of a series, and the columns of units, are read into memory.
    """
    judge, level = Judge(certificate), check_probability("level", level)
    columns = labelled_columns(judge.basis, target=target, prediction=prediction, scale=scale, group=group)
    table, draws = as_frame(frame), table_draws(judge.basis, draws)
    drawn = () if draws is None else draws.columns
    schema = check_columns(
        table, [*columns.numeric, *(drawn if isinstance(draws, Weighted) else ())], columns.group, *drawn
    )
    names = (*columns.all, *drawn)
    if isinstance(table, nw.LazyFrame) and isinstance(draws, Units):
        units = unit_column(table, schema, judge.basis.scoring, draws.column, judge.draws_of(draws).kind)
        if units is not None:
            in_engine = Table.of(table, schema, judge.basis.scoring, {"": columns}, unit=units.name)
            return _check_units(judge, UnitScan(in_engine, units), columns.group, level)
    if isinstance(table, nw.DataFrame) or draws is not None:
        if isinstance(table, nw.DataFrame):
            values = in_memory(table, names)
        else:
            refuse_inexact(table, schema, columns.numeric)
            values = dict(fetch_columns(table.select(*names), list(names)))
        groups = None if columns.group is None else values[columns.group]
        y = read_values(values, columns.target)
        bound = bound_draws(draws, values)
        return check(certificate, y, *read_predicted(values, columns), groups=groups, draws=bound, level=level)
    in_engine = Table.of(table, schema, judge.basis.scoring, {"": columns})
    if columns.group is None:
        return verdict_of(judge, {None: TableScan(in_engine)({"": judge.request(None)})[""]}, level)
    scan = GroupScan(in_engine, columns.group)
    labels = list(scan.counts())
    judge.check_known(labels, f"column {columns.group!r}")
    found = scan({label: judge.request(label) for label in labels})
    return verdict_of(judge, {label: found[label] for label in labels}, level)


def _check_units(judge: Judge, scan: UnitScan, group: str | None, level: float) -> Verdict:
    """Test a promise about units: the engine returns the score of every unit."""
    scores: Mapping[Any, Any] = {None: scan().scores[""]} if group is None else scan.of_groups(group)
    if group is not None:
        judge.check_known(scores, f"column {group!r}")
    return verdict_of(judge, {label: tally(own, judge.request(label)) for label, own in scores.items()}, level)
