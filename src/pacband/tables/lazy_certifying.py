"""The certificate of a table in an engine: what is read into memory, and what is found where the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw

from pacband.certificate import AnyCertificate, FamilyCertificate, GroupCertificate
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms
from pacband.checks.sample import MOST_ROWS
from pacband.checks.scored import Others
from pacband.core.progress import Progress
from pacband.draws import ROWS
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.selection import current_limits
from pacband.tables.certified_columns import Asked
from pacband.tables.engine_certifying import (
    score_sample,
    search_columns,
    search_family,
    search_groups,
    search_single,
)
from pacband.tables.engines import fetch_columns
from pacband.tables.memory_certifying import certify_in_memory
from pacband.tables.passes import Reporting, report_passes
from pacband.tables.reading import read_whole
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.screening import screen_engine, screen_units
from pacband.tables.table import Table
from pacband.tables.unit_certifying import certify_units
from pacband.tables.unit_scores import UnitColumn, UnitScan, unit_column

__all__ = ["certify_lazy"]


def certify_lazy(
    asked: Asked, table: nw.LazyFrame[Any], schema: nw.Schema, others: Others | None, progress: Progress | None
) -> AnyCertificate:
    """Certify a table in an engine. It is read into memory if it is small, or if no engine finds what is asked for.

    Parameters
    ----------
    asked : Asked
        The terms and the columns.
    table, schema
        The table, and the types of its columns.
    others : function or None
        Reads the other columns of the table.
    progress : function of (done, total) or None
        Called after every pass over the table.
    """
    terms, first = asked.terms, asked.first
    units = None
    if first.run is None and not first.groups:
        units = unit_column(table, schema, terms.scoring, terms.draws.column, terms.draws.kind)
    if what := _what_needs_memory(asked, units):
        values = read_whole(table, schema, asked.columns, asked.numeric, what)
        return certify_in_memory(asked, values, others)
    if first.groups and isinstance(terms, Terms):
        return _certify_overlapping(terms, asked, table, schema, progress)
    parts = _split_candidates(asked)
    if units is not None:
        return _certify_units(asked, table, schema, units, parts, progress)
    limits = current_limits()
    in_engine = [Table.of(table, schema, terms.scoring, part) for part in parts]
    values = in_engine[0].fetch_first(limits.sample + 1)
    if len(parts) == 1 and len(next(iter(values.values()))) <= limits.sample:
        return certify_in_memory(asked, values, others)
    if terms.scoring.gauge != "max":
        raise InvalidInput("a matrix gauge or a Share needs the rows in memory: collect the table first.")
    certificate = _search(asked, in_engine, parts, values, report_passes(progress, len(parts)))
    screen_engine(terms.scoring, table, certificate, asked.named, values)
    return certificate


def _what_needs_memory(asked: Asked, units: UnitColumn | None) -> str:
    """Return what no engine finds, in the plural; nothing if an engine may find all. `units` are found in an engine."""
    if asked.first.run is not None:
        return "runs"
    if asked.terms.draws.kind != ROWS and units is None:
        return f"draws of {asked.terms.draws.kind.kind}"
    if asked.first.groups and asked.terms.scoring.gauge != "max":
        return "scores of overlapping groups with this gauge"
    return ""


def _split_candidates(asked: Asked) -> list[Mapping[str, Columns]]:
    """Return the candidates in parts that share their passes."""
    names, together = list(asked.named), current_limits().together
    if len(names) <= together or asked.terms.scoring.gauge != "max":
        return [asked.named]
    return [{name: asked.named[name] for name in names[k : k + together]} for k in range(0, len(names), together)]


def _certify_overlapping(
    terms: Terms, asked: Asked, table: nw.LazyFrame[Any], schema: nw.Schema, progress: Progress | None
) -> GroupCertificate:
    """Certify the groups of several columns of labels."""
    by_column = {name: replace(asked.first, group=name, groups=()) for name in asked.first.groups}
    tables = {name: Table.of(table, schema, terms.scoring, {"": one}) for name, one in by_column.items()}
    certificate = search_columns(terms, tables, asked.first, report_passes(progress, len(tables)))
    first_rows = fetch_columns(table.select(*asked.columns).head(current_limits().sample), asked.columns)
    screen_engine(terms.scoring, table, certificate, asked.named, first_rows)
    return certificate


def _certify_units(
    asked: Asked,
    table: nw.LazyFrame[Any],
    schema: nw.Schema,
    units: UnitColumn,
    parts: list[Mapping[str, Columns]],
    progress: Progress | None,
) -> AnyCertificate:
    """Certify units that the engine aggregates."""
    scoring = asked.terms.scoring
    scans = [UnitScan(Table.of(table, schema, scoring, part, unit=units.name), units) for part in parts]
    certificate = certify_units(asked.terms, scans, asked.named, asked.shares, report_passes(progress, 0))
    best = certificate.best if isinstance(certificate, FamilyCertificate) else ""
    near = next(scan for scan in scans if best in scan.table.candidates).table.fetch_first(2 * MOST_ROWS)
    screen_units(scoring, table, asked.named[best], units.kind, near, units.name)
    return certificate


def _search(
    asked: Asked,
    tables: list[Table],
    parts: list[Mapping[str, Columns]],
    values: Mapping[str, Any],
    reporting: Reporting,
) -> AnyCertificate:
    """Certify the rows of a large table in passes. `values` are the first rows of the first of `tables`."""
    terms = asked.terms
    if isinstance(terms, ToleranceTerms):
        found = reporting(TableScan(tables[0]))({"": terms.request})[""]
        columns = asked.first
        return terms.certify_count(found, n_outputs=len(columns.target), scale_kind=columns.scale_kind, columns=columns)
    if asked.shares is not None:
        return search_family(terms, tables, parts, values, asked.shares, reporting)
    columns = asked.first
    sample = score_sample(terms, values, columns)
    if columns.group is None:
        return search_single(terms, tables[0], columns, sample, reporting)
    scan = GroupScan(tables[0], columns.group)
    return search_groups(terms, scan, columns, sample, values[columns.group], reporting)
