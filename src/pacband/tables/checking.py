"""`check_frame`: test a promise on the labelled rows of a table. The rows stay in their engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw

from pacband.certificate import AnyCertificate, groups_overlap
from pacband.core.checks import check_probability
from pacband.core.members import name_groups
from pacband.draws import Draws, Units, Weighted
from pacband.exceptions import InvalidInput
from pacband.judging.checking import check, verdict_of
from pacband.judging.judge import Judge
from pacband.judging.verdicts import Verdict
from pacband.scores.columns import Columns
from pacband.selection import Tally, tally
from pacband.tables.certified_draws import table_draws
from pacband.tables.columns import as_frame, check_columns, in_memory
from pacband.tables.guards import Guards
from pacband.tables.known_columns import labelled_columns
from pacband.tables.overlaps import known_masks
from pacband.tables.reading import read_table, read_whole
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
    group: str | list[str] | None = None,
    run: str | None = None,
    step: str | None = None,
    draws: Draws | None = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows of a table; see `check`, and `certify_frame` for tables.

    By default the columns are those that the certificate was made from. For a certificate of own scores, `target` names
    the column of the scores. If the promise is about units, ``draws=Units("machine", within)`` names their column; by
    default it is the one that names them. Rows of a series, and units of which one row or the average counts, are read
    into memory. If the promise is about runs, `run` and `step` are the columns of runs and steps; every run must have
    the steps that were certified.
    """
    judge, level = Judge(certificate), check_probability("level", level)
    columns = labelled_columns(
        judge.basis, target=target, prediction=prediction, scale=scale, group=group, run=run, step=step
    )
    table, draws = as_frame(frame), table_draws(judge.basis, draws)
    drawn = () if draws is None else draws.columns
    numeric = [*columns.numeric, *([columns.step] if columns.step else [])]
    schema = check_columns(table, [*numeric, *(drawn if isinstance(draws, Weighted) else ())], *columns.others, *drawn)
    names = (*columns.all, *drawn)
    overlapping = groups_overlap(certificate)
    if bool(columns.groups) != overlapping:
        rule = "overlap: name their columns, as a list" if overlapping else "do not overlap: name one column"
        raise InvalidInput(f"the groups of this certificate {rule}.")
    if isinstance(table, nw.LazyFrame) and isinstance(draws, Units) and columns.run is None and not overlapping:
        units = unit_column(table, schema, judge.scoring, draws.column, judge.draws_of(draws).kind)
        if units is not None:
            in_engine = Table.of(table, schema, judge.scoring, {"": columns}, unit=units.name)
            answers = _count_units(judge, UnitScan(in_engine, units), columns.group)
            return verdict_of(judge, answers, level, out_of_range=Guards(in_engine).count_outside())
    what = _what_needs_memory(judge, columns, draws)
    if isinstance(table, nw.DataFrame) or what:
        if isinstance(table, nw.DataFrame):
            values = in_memory(table, names)
        else:
            values = read_whole(table, schema, names, numeric, what)
        rows = read_table(values, columns)
        bound = None if draws is None else rows.bind(draws, values)
        groups = known_masks(certificate, rows.groups, columns) if groups_overlap(certificate) else rows.groups
        return check(certificate, rows.y, rows.y_pred, rows.scale, groups=groups, draws=bound, level=level)
    found: dict[Any, Tally] = {}
    if overlapping:
        for name in columns.groups:
            one = Table.of(table, schema, judge.scoring, {"": replace(columns, group=name, groups=())})
            found |= _count_groups(judge, one, name, overlapping=True)
        return verdict_of(judge, found, level, out_of_range=Guards(one).count_outside())
    in_engine = Table.of(table, schema, judge.scoring, {"": columns})
    if columns.group is None:
        found = {None: TableScan(in_engine)({"": judge.request(None)})[""]}
    else:
        found = _count_groups(judge, in_engine, columns.group)
    return verdict_of(judge, found, level, out_of_range=Guards(in_engine).count_outside())


def _count_groups(judge: Judge, table: Table, column: str, *, overlapping: bool = False) -> dict[Any, Tally]:
    """Count the violations in every group of a column of labels, by the names that the certificate has for them."""
    scan = GroupScan(table, column)
    labels = list(scan.counts())
    named: Mapping[Any, Any] = name_groups(column, labels) if overlapping else {label: label for label in labels}
    judge.check_known(named.values(), f"column {column!r}")
    found = scan({label: judge.request(named[label]) for label in labels})
    return {named[label]: found[label] for label in labels}


def _what_needs_memory(judge: Judge, columns: Columns, draws: Draws | None) -> str:
    """Return what an engine does not compute, in the plural; nothing if it computes all."""
    if columns.run is not None:
        return "runs"
    if judge.basis.scoring.gauge != "max":
        return "scores with a matrix gauge or a Share"
    return "" if draws is None else f"draws of {draws.kind.kind}"


def _count_units(judge: Judge, scan: UnitScan, group: str | None) -> dict[Any, Tally]:
    """Count the units that violate: the engine returns the score of every unit."""
    scores: Mapping[Any, Any] = {None: scan().scores[""]} if group is None else scan.of_groups(group)
    if group is not None:
        judge.check_known(scores, f"column {group!r}")
    return {label: tally(own, judge.request(label)) for label, own in scores.items()}
