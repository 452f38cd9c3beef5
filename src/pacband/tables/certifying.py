"""`certify_frame`: the certificate of columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw

from pacband.certificate import About, AnyCertificate, FamilyCertificate
from pacband.certification.arrays import certify_family_rows, certify_group_rows, certify_rows
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms
from pacband.checks.sample import MOST_ROWS
from pacband.checks.scored import Others
from pacband.core.progress import Progress
from pacband.draws import ROWS, Draws
from pacband.exceptions import InvalidInput
from pacband.planning.shares import DeltaShare, weighted_shares
from pacband.scores.columns import Columns
from pacband.selection import (
    current_limits,
)
from pacband.tables.certified_columns import make_terms, named_columns, score_column
from pacband.tables.columns import as_frame, check_columns, in_memory
from pacband.tables.engine_certifying import (
    score_sample,
    search_columns,
    search_family,
    search_groups,
    search_single,
)
from pacband.tables.engines import fetch_columns
from pacband.tables.other_columns import other_columns
from pacband.tables.passes import report_passes
from pacband.tables.reading import read_table, read_whole
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.screening import screen_engine, screen_units
from pacband.tables.table import Table
from pacband.tables.unit_certifying import certify_units
from pacband.tables.unit_scores import UnitScan, unit_column

__all__ = ["certify_frame"]


def certify_frame(
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | list[str] | None = None,
    run: str | None = None,
    step: str | None = None,
    candidates: Mapping[str, Any] | None = None,
    score: str | None = None,
    tolerance: float | None = None,
    eps: float | None = None,
    delta: float = 1e-6,
    weights: Mapping[str, float] | Iterable[float] | None = None,
    rank: int | None = None,
    rule: str = "exact",
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> AnyCertificate:
    """Certify columns of a table: one predictor, one within every group, or a family of candidates.

    Parameters
    ----------
    frame : table
        Of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask or PySpark. A large table in an engine stays there:
        counts and a sample of its rows come back. One of at most 131,072 rows is read whole.
    target : str or list of str
        The column of y; with several outputs, their columns.
    prediction : str or list of str
        The column of T(x), or of each output.
    scale : str, pair of str, optional
        The column of σ̂(x) > 0; a tuple of two columns (lower, upper) makes an asymmetric band.
    group : str or list of str, optional
        The column of groups: the promise then holds within each group (`certify_groups`). With several columns, every
        label of every column is a group. These groups overlap, and a row has the largest of its bounds.
    run, step : str, optional
        The columns of runs and of steps, if a row is one step of a run (long format): the promise is then about whole
        runs. Rows may be in any order. Every run must have the same steps, each of them once. The columns are read into
        memory. Windows that slide over one run are not independent runs.
    candidates : mapping of str to prediction or (prediction, scale), optional
        In place of `prediction`: the columns of every candidate (`certify_family`).
    score : str, optional
        In place of all of these: the column of scores that you compute yourself (`certify_scores`).
    tolerance : float, optional
        A given bound: ε is then found (`certify_tolerance`), and eps, rank and rule must be left out. It is counted in
        one pass, for one prediction or one score.
    progress : function of (done, total), optional
        Called after every pass over the table.
    eps : float in (0, 1), optional
        As in `certify`; by default 0.05.
    delta, weights, rank, rule, side, n_candidates, min_scale, nonfinite, gauge, clip, about
        As in `certify`, `certify_family` and `certify_groups`. A matrix gauge needs a table in memory.
    draws : Units, Spaced or Weighted, optional
        What one draw is, if it is not a row; labels and weights may be names of columns: ``Units("machine")``. Units
        are aggregated in the engine, and one score a unit comes back; a share of their rows needs DuckDB or polars.
        For ``Units("machine", "one")`` and ``"average"``, `Spaced` and `Weighted`, the columns are read into memory,
        also from DuckDB and polars; other engines are refused.

    Returns
    -------
    Certificate, FamilyCertificate or GroupCertificate
        What `certify`, `certify_family` or `certify_groups` give for the same numbers, to the last bit.

    Examples
    --------
    >>> import pandas as pd
    >>> import pacband
    >>> table = pd.DataFrame({"y": range(1000), "guess": [value + (-1) ** value for value in range(1000)]})
    >>> pacband.certify_frame(table, target="y", prediction="guess", eps=0.1, delta=0.01).gamma
    1.0
    """
    promised: dict[str, Any] = {
        "eps": eps, "delta": delta, "rank": rank, "rule": rule, "n_candidates": n_candidates, "nonfinite": nonfinite,
        "draws": draws, "about": about,
    }  # fmt: skip
    scored: dict[str, Any] = {"side": side, "min_scale": min_scale, "gauge": gauge, "clip": clip}
    terms = make_terms(promised, scored, tolerance, own=score is not None)
    if score is None:
        named = named_columns(target, prediction, scale, group, candidates, run=run, step=step)
    else:
        named = score_column(score, group, target, prediction, scale, candidates, run, step)
    if tolerance is not None and (group is not None or candidates is not None):
        raise InvalidInput(
            "a tolerance cannot be combined with group or candidates: each would have a share of its own. Certify each "
            "of them in a table of its own, with n_candidates set to their number."
        )
    if group is not None and (candidates is not None or rank is not None):
        raise InvalidInput("group cannot be combined with candidates or rank: every group gets its own rank.")
    if candidates is not None and n_candidates != 1:
        raise InvalidInput(f"with candidates, n_candidates is their number, {len(named)}: leave it out.")
    if candidates is None and weights is not None:
        raise InvalidInput(
            f"weights share δ among candidates: pass candidates with them, got weights={weights!r} alone."
        )
    shares = weighted_shares(weights, list(named)) if candidates is not None else None

    table = as_frame(frame)
    first = next(iter(named.values()))
    numeric = [name for columns in named.values() for name in columns.numeric] + ([] if step is None else [step])
    schema = check_columns(table, numeric, *first.others, *terms.draws.columns)
    wanted = list(dict.fromkeys([*(name for columns in named.values() for name in columns.all), *terms.draws.columns]))
    others = other_columns(table, wanted)
    if isinstance(table, nw.DataFrame):
        return _certify_in_memory(terms, in_memory(table, wanted), named, shares, others)
    units = None
    if run is None and not first.groups:
        units = unit_column(table, schema, terms.scoring, terms.draws.column, terms.draws.kind)
    if run is not None or (terms.draws.kind != ROWS and units is None):
        what = "runs" if run is not None else f"draws of {terms.draws.kind.kind}"
        values = read_whole(table, schema, wanted, numeric, what)
        return _certify_in_memory(terms, values, named, shares, others)
    limits = current_limits()
    if first.groups and terms.scoring.gauge != "max":
        what = "scores of overlapping groups with this gauge"
        values = read_whole(table, schema, wanted, numeric, what)
        return _certify_in_memory(terms, values, named, shares, others)
    if first.groups and isinstance(terms, Terms):
        by_column = {name: replace(first, group=name, groups=()) for name in first.groups}
        tables = {name: Table.of(table, schema, terms.scoring, {"": one}) for name, one in by_column.items()}
        joint = search_columns(terms, tables, first, report_passes(progress, len(tables)))
        first_rows = fetch_columns(table.select(*wanted).head(limits.sample), wanted)
        screen_engine(terms.scoring, table, joint, named, first_rows)
        return joint
    whole = len(named) <= limits.together or terms.scoring.gauge != "max"
    parts = [named] if whole else _split_candidates(named, limits.together)
    certificate: AnyCertificate
    if units is not None:
        scans = [UnitScan(Table.of(table, schema, terms.scoring, part, unit=units.name), units) for part in parts]
        certificate = certify_units(terms, scans, named, shares, report_passes(progress, 0))
        best = certificate.best if isinstance(certificate, FamilyCertificate) else ""
        near = next(scan for scan in scans if best in scan.table.candidates).table.fetch_first(2 * MOST_ROWS)
        screen_units(terms.scoring, table, named[best], units.kind, near, units.name)
        return certificate
    in_engine = [Table.of(table, schema, terms.scoring, part) for part in parts]
    values = in_engine[0].fetch_first(limits.sample + 1)
    if len(parts) == 1 and len(next(iter(values.values()))) <= limits.sample:
        return _certify_in_memory(terms, values, named, shares, others)

    if terms.scoring.gauge != "max":
        raise InvalidInput("a matrix gauge or a Share needs the rows in memory: collect the table first.")
    reporting = report_passes(progress, len(parts))
    if isinstance(terms, ToleranceTerms):
        found = reporting(TableScan(in_engine[0]))({"": terms.request})[""]
        columns = named[""]
        certificate = terms.certify_count(
            found, n_outputs=len(columns.target), scale_kind=columns.scale_kind, columns=columns
        )
    elif shares is not None:
        certificate = search_family(terms, in_engine, parts, values, shares, reporting)
    else:
        sample = score_sample(terms, values, named[""])
        if first.group is not None:
            scan = GroupScan(in_engine[0], first.group)
            certificate = search_groups(terms, scan, named[""], sample, values[first.group], reporting)
        else:
            certificate = search_single(terms, in_engine[0], named[""], sample, reporting)
    screen_engine(terms.scoring, table, certificate, named, values)
    return certificate


def _split_candidates(named: Mapping[str, Columns], together: int) -> list[dict[str, Columns]]:
    """Return the candidates in parts that share their passes."""
    names = list(named)
    return [{name: named[name] for name in names[k : k + together]} for k in range(0, len(names), together)]


def _certify_in_memory(
    terms: Terms | ToleranceTerms,
    values: Mapping[str, Any],
    named: Mapping[str, Columns],
    shares: Mapping[str, DeltaShare] | None,
    others: Others | None,
) -> AnyCertificate:
    """Certify a table whose columns are in memory; `others` reads its other columns."""
    rows = {name: read_table(values, columns) for name, columns in named.items()}
    first = next(iter(rows.values()))
    terms = replace(terms, draws=first.bind(terms.draws, values))
    others = first.at_draws(others)
    if shares is not None and isinstance(terms, Terms):
        pairs = {name: (one.y_pred, one.scale) for name, one in rows.items()}
        stated = {name: one.columns for name, one in rows.items()}
        return certify_family_rows(terms, first.y, pairs, shares, columns=stated, others=others)
    named_rows: dict[str, Any] = {"columns": first.columns, "others": others}
    if isinstance(terms, ToleranceTerms):
        return terms.certify_rows(first.y, first.y_pred, first.scale, **named_rows)
    if first.groups is not None:
        return certify_group_rows(terms, first.y, first.y_pred, first.groups, first.scale, **named_rows)
    return certify_rows(terms, first.y, first.y_pred, first.scale, **named_rows)
