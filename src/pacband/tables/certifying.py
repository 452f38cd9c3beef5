"""`certify_frame`: the certificate of columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np

from pacband.certificate import About, Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.single import issue
from pacband.certification.arrays import certify_family_rows, certify_group_rows, certify_rows
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms
from pacband.checks.evidence import Others
from pacband.checks.sample import MOST_ROWS
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label, as_labels, group_rows
from pacband.core.members import name_groups, refuse_same_groups
from pacband.core.progress import Progress
from pacband.draws import ROWS, Draws
from pacband.exceptions import InvalidInput
from pacband.planning.shares import DeltaShare, weighted_shares
from pacband.scores import scores_of
from pacband.scores.columns import Columns
from pacband.selection import (
    Measured,
    Request,
    Search,
    begin_search,
    check_unchanged,
    current_limits,
    same_share,
    select,
)
from pacband.selection.fingerprint import fingerprint_unit, seal
from pacband.tables.certified_columns import make_terms, named_columns, score_column
from pacband.tables.columns import as_frame, check_columns, in_memory, read_predicted, read_values
from pacband.tables.engines import fetch_columns
from pacband.tables.means import count_unanswered, mean_offsets, mean_scales
from pacband.tables.other_columns import other_columns
from pacband.tables.reading import read_table, read_whole
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.screening import screen_engine, screen_units
from pacband.tables.table import Table
from pacband.tables.unit_certifying import certify_units
from pacband.tables.unit_scores import UnitScan, unit_column

__all__ = ["certify_frame"]

Reporting = Callable[[Callable[[Any], Any]], Callable[[Mapping[Any, Request]], Any]]


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
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Certificate | FamilyCertificate | GroupCertificate:
    """Certify columns of a table: one predictor, one within every group, or a family of candidates.

    Parameters
    ----------
    frame : table
        Of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask or PySpark. Tables in an engine stay there: only counts
        and a few rows come back.
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
    delta, weights, rank, rule, side, n_candidates, min_scale, nonfinite, gauge, about
        As in `certify`, `certify_family` and `certify_groups`. A matrix gauge needs a table in memory.
    draws : Units, Spaced or Weighted, optional
        What one draw is, if it is not a row; labels and weights may be names of columns: ``Units("machine")``. Units
        are aggregated in the engine, and one score a unit comes back; a share of their rows needs DuckDB or polars.
        For ``Units("machine", "one")``, `Spaced` and `Weighted`, the columns are read into memory, also from DuckDB and
        polars; other engines are refused.

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
    scored: dict[str, Any] = {"side": side, "min_scale": min_scale, "gauge": gauge}
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
        joint = _certify_columns(terms, tables, first, _report_passes(progress, len(tables)))
        first_rows = fetch_columns(table.select(*wanted).head(limits.sample), wanted)
        screen_engine(terms.scoring, table, joint, named, first_rows)
        return joint
    whole = len(named) <= limits.together or terms.scoring.gauge != "max"
    parts = [named] if whole else _split_candidates(named, limits.together)
    certificate: Certificate | FamilyCertificate | GroupCertificate
    if units is not None:
        scans = [UnitScan(Table.of(table, schema, terms.scoring, part, unit=units.name), units) for part in parts]
        certificate = certify_units(terms, scans, named, shares, _report_passes(progress, 0))
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
    reporting = _report_passes(progress, len(parts))
    if isinstance(terms, ToleranceTerms):
        found = reporting(TableScan(in_engine[0]))({"": terms.request})[""]
        columns = named[""]
        certificate = terms.certify_count(
            found, n_outputs=len(columns.target), scale_kind=columns.scale_kind, columns=columns
        )
    elif shares is not None:
        certificate = _certify_family(terms, in_engine, parts, values, shares, reporting)
    else:
        sample = _score_sample(terms, values, named[""])
        if first.group is not None:
            scan = GroupScan(in_engine[0], first.group)
            certificate = _certify_groups(terms, scan, named[""], sample, values[first.group], reporting)
        else:
            certificate = _certify_single(terms, in_engine[0], named[""], sample, reporting)
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
) -> Certificate | FamilyCertificate | GroupCertificate:
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


def _certify_single(terms: Terms, table: Table, columns: Columns, sample: Any, reporting: Reporting) -> Certificate:
    search = begin_search(sample, terms.choose_rank, guess=terms.guess_rank)
    measured = select(reporting(TableScan(table)), {"": search})[""]
    return issue(terms.promise_of(columns), measured, terms.choose_rank(measured.n_samples), terms.share)


def _certify_family(
    terms: Terms,
    tables: list[Table],
    parts: list[dict[str, Columns]],
    first: Mapping[str, Any],
    shares: Mapping[str, DeltaShare],
    reporting: Reporting,
) -> FamilyCertificate:
    ranks = cache(lambda n: terms.family_ranks(n, shares))

    def rank_of(name: str) -> Callable[[int], int]:
        return lambda n: ranks(n)[name]

    certificates: dict[str, Certificate] = {}
    scales: dict[str, float] = {}
    offsets: dict[str, float] = {}
    unanswered: dict[str, int] = {}
    n_rows = 0
    for table, named in zip(tables, parts, strict=True):
        values = first if table is tables[0] else table.fetch_first(current_limits().sample)
        # In some engines a pass fetches a row that is in the window of any candidate, with the scores of all of them.
        searches = {
            name: begin_search(_score_sample(terms, values, columns), rank_of(name), share=len(named) ** 2)
            for name, columns in named.items()
        }
        for name, found in select(reporting(TableScan(table)), searches).items():
            n_rows = n_rows or found.n_samples
            check_unchanged(n_rows, found.n_samples)
            basis = terms.promise_of(named[name])
            certificates[name] = issue(basis, found, ranks(n_rows)[name], shares[name])
        scales |= mean_scales(table, n_rows)
        offsets |= mean_offsets(table, n_rows)
        unanswered |= count_unanswered(table, n_rows)
    return FamilyCertificate.of(certificates, scales, offsets, unanswered)


def _certify_groups(
    terms: Terms, scan: GroupScan, columns: Columns, sample: Any, labels: Any, reporting: Reporting
) -> GroupCertificate:
    counts = scan.counts()
    ranks = terms.group_ranks(counts)
    measured = _search_groups(scan, counts, ranks, sample, labels, reporting)
    basis, share = terms.promise_of(columns), terms.share.among(len(counts))
    parts = {label: issue(basis, measured[label], ranks[label], share) for label in counts}
    return GroupCertificate(groups=FrozenMap(parts))


def _certify_columns(
    terms: Terms, tables: Mapping[str, Table], columns: Columns, reporting: Reporting
) -> GroupCertificate:
    """Certify the groups of several columns of labels, which overlap: those of each column in passes of their own."""
    scans = {name: GroupScan(table, name) for name, table in tables.items()}
    found_in = {name: scan.counts() for name, scan in scans.items()}
    named = {name: name_groups(name, list(own)) for name, own in found_in.items()}
    counts: dict[Label, int] = {}
    for name, labels in found_in.items():
        own = {named[name][label]: n for label, n in labels.items()}
        refuse_same_groups(counts, own)
        counts |= own
    ranks, share = terms.group_ranks(counts), terms.share.among(len(counts))
    basis = terms.promise_of(columns)
    parts: dict[Label, Certificate] = {}
    for name, scan in scans.items():
        own_ranks = {label: ranks[group] for label, group in named[name].items()}
        values = tables[name].fetch_first(current_limits().sample)
        sample = _score_sample(terms, values, columns)
        found = _search_groups(scan, found_in[name], own_ranks, sample, values[name], reporting)
        parts |= {group: issue(basis, found[label], ranks[group], share) for label, group in named[name].items()}
    return GroupCertificate(groups=FrozenMap(parts), overlapping=True)


def _search_groups(
    scan: GroupScan,
    counts: Mapping[Label, int],
    ranks: Mapping[Label, int],
    sample: Any,
    labels: Any,
    reporting: Reporting,
) -> Mapping[Label, Measured]:
    """Measure the score at the rank of every group."""
    measured = _measure_groups(scan, counts, ranks, sample, reporting)
    return select(reporting(scan), _begin_searches(sample, labels, counts, ranks)) if measured is None else measured


def _measure_groups(
    scan: GroupScan, counts: Mapping[Label, int], ranks: Mapping[Label, int], sample: Any, reporting: Reporting
) -> dict[Label, Measured] | None:
    """Measure every group in an engine that finds the scores at their ranks itself; None if the engine does not."""
    share = sum(ranks.values()) / sum(counts.values())
    likely = float(np.sort(sample)[-max(1, round(share * len(sample)))])
    # Most groups have a bound of about this size. The fingerprints of the others take another pass.
    units = sorted({fingerprint_unit(likely) * factor for factor in (0.5, 1.0, 2.0)})
    found: Any = reporting(lambda _: scan.ranked(ranks, units))({})
    if found is None:
        return None
    totals = {}
    requests = {}
    for label, (gamma, known) in found.items():
        unit = fingerprint_unit(gamma)
        if unit in known:
            totals[label] = known[unit]
        else:
            requests[label] = Request(unit=unit)
    if requests:
        totals |= {label: answer.total for label, answer in reporting(scan)(requests).items()}
    # Adding 0.0 turns −0.0 into 0.0.
    return {label: Measured(n, found[label][0] + 0.0, seal(n, totals[label])) for label, n in counts.items()}


def _begin_searches(
    sample: Any, labels: Any, counts: Mapping[Label, int], ranks: Mapping[Label, int]
) -> dict[Label, Search]:
    """Return the search within every group. It starts from the rows of the group in the sample."""
    rows = group_rows(as_labels(labels))
    none = np.empty(0, dtype=np.intp)
    return {
        label: begin_search(sample[rows.get(label, none)], same_share(ranks[label], n), share=len(counts))
        for label, n in counts.items()
    }


def _report_passes(progress: Progress | None, n_parts: int) -> Reporting:
    """Return a wrapper that makes a scan report its passes. Each part takes at least two."""
    passes = 0

    def reporting(scan: Callable[[Any], Any]) -> Callable[[Mapping[Any, Request]], Any]:
        def scanned(requests: Mapping[Any, Request]) -> Any:
            nonlocal passes
            answers = scan(requests)
            passes += 1
            if progress is not None:
                progress(passes, max(2 * n_parts, passes))
            return answers

        return scanned

    return reporting


def _score_sample(terms: Terms, values: Mapping[str, Any], columns: Columns) -> Any:
    return scores_of(terms.scoring, read_values(values, columns.target), *read_predicted(values, columns))
