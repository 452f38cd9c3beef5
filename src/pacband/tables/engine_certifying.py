"""The certificate of a large table in an engine: it is searched in passes, and only counts and a few rows come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.single import issue
from pacband.certification.terms import Terms
from pacband.core.labels import Label, as_labels, group_rows
from pacband.core.members import name_groups, refuse_same_groups
from pacband.planning.shares import DeltaShare
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
from pacband.tables.columns import read_predicted, read_values
from pacband.tables.joining import CandidateParts, join_groups
from pacband.tables.passes import Reporting
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.table import Table

__all__ = ["search_columns", "search_family", "search_groups", "search_single", "score_sample"]


def search_single(terms: Terms, table: Table, columns: Columns, sample: Any, reporting: Reporting) -> Certificate:
    """Certify one prediction, or one column of scores. `sample` holds the scores of the first rows."""
    search = begin_search(sample, terms.choose_rank, guess=terms.guess_rank)
    measured = select(reporting(TableScan(table)), {"": search})[""]
    return issue(terms.promise_of(columns), measured, terms.choose_rank(measured.n_samples), terms.share)


def search_family(
    terms: Terms,
    tables: list[Table],
    parts: Sequence[Mapping[str, Columns]],
    first: Mapping[str, Any],
    shares: Mapping[str, DeltaShare],
    reporting: Reporting,
) -> FamilyCertificate:
    """Certify candidates. Those of one table share their passes; `first` holds the first rows of the first table."""
    ranks = cache(lambda n: terms.family_ranks(n, shares))

    def begin(name: str, sample: Any, n_searches: int) -> Search:
        guess = replace(terms, share=shares[name]).guess_rank
        # In some engines a pass fetches a row that is in the window of any candidate, with the scores of all of them.
        return begin_search(sample, lambda n: ranks(n)[name], guess=guess, share=n_searches**2)

    family = CandidateParts(terms, shares)
    n_rows = 0
    for table, named in zip(tables, parts, strict=True):
        values = first if table is tables[0] else table.fetch_first(current_limits().sample)
        searches = {
            name: begin(name, score_sample(terms, values, columns), len(named)) for name, columns in named.items()
        }
        for name, found in select(reporting(TableScan(table)), searches).items():
            n_rows = n_rows or found.n_samples
            check_unchanged(n_rows, found.n_samples)
            family.issue(name, found, ranks(n_rows)[name], named[name])
        family.compare(table, n_rows)
    return family.join()


def search_groups(
    terms: Terms, scan: GroupScan, columns: Columns, sample: Any, labels: Any, reporting: Reporting
) -> GroupCertificate:
    """Certify every group of one column. `sample` and `labels` are the scores and labels of the first rows."""
    counts = scan.counts()
    ranks = terms.group_ranks(counts)
    measured = _search_groups(scan, counts, ranks, sample, labels, reporting)
    return join_groups(terms, columns, measured, ranks)


def search_columns(
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
    ranks = terms.group_ranks(counts)
    measured: dict[Label, Measured] = {}
    for name, scan in scans.items():
        own_ranks = {label: ranks[group] for label, group in named[name].items()}
        values = tables[name].fetch_first(current_limits().sample)
        sample = score_sample(terms, values, columns)
        found = _search_groups(scan, found_in[name], own_ranks, sample, values[name], reporting)
        measured |= {group: found[label] for label, group in named[name].items()}
    return join_groups(terms, columns, measured, ranks, overlapping=True)


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


def score_sample(terms: Terms, values: Mapping[str, Any], columns: Columns) -> Any:
    """Return the scores of rows in memory."""
    return scores_of(terms.scoring, read_values(values, columns.target), *read_predicted(values, columns))
