"""The certificate of units of a table in an engine: one score a unit comes back, and the rest is as for arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pacband.certificate import AnyCertificate, FamilyCertificate, GroupCertificate
from pacband.certificate.single import issue
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms
from pacband.planning.shares import DeltaShare
from pacband.scores.columns import Columns
from pacband.selection import check_unchanged, measure, tally
from pacband.tables.asks import ask_rows
from pacband.tables.joining import CandidateParts, join_groups
from pacband.tables.passes import Reporting
from pacband.tables.unit_scores import UnitScan, UnitScores

__all__ = ["certify_units"]


def certify_units(
    terms: Terms | ToleranceTerms,
    scans: Sequence[UnitScan],
    named: Mapping[str, Columns],
    shares: Mapping[str, DeltaShare] | None,
    reporting: Reporting,
) -> AnyCertificate:
    """Certify the units of a table.

    Parameters
    ----------
    terms : Terms or ToleranceTerms
        What is asked for.
    scans : sequence of UnitScan
        One scan for the candidates that share their passes.
    named : mapping of str to Columns
        The columns of every candidate; of a single one, under the empty name.
    shares : mapping of str to DeltaShare or None
        The share of δ of every candidate; None without candidates.
    reporting : function
        Makes a scan report its passes.
    """
    if shares is not None and isinstance(terms, Terms):
        return _certify_family(terms, scans, named, shares, reporting)
    (scan,), columns = scans, named[""]
    if isinstance(terms, ToleranceTerms):
        found = tally(reporting(scan)(None).scores[""], terms.request)
        return terms.certify_count(found, n_outputs=len(columns.target), scale_kind=columns.scale_kind, columns=columns)
    if columns.group is not None:
        return _certify_groups(terms, scan, columns, columns.group, reporting)
    units: UnitScores = reporting(scan)(None)
    rank = terms.choose_rank(units.n_units)
    return issue(terms.promise_of(columns), measure(units.scores[""], rank), rank, terms.share)


def _certify_family(
    terms: Terms,
    scans: Sequence[UnitScan],
    named: Mapping[str, Columns],
    shares: Mapping[str, DeltaShare],
    reporting: Reporting,
) -> FamilyCertificate:
    family = CandidateParts(terms, shares)
    n_units = 0
    for scan in scans:
        units: UnitScores = reporting(scan)(None)
        n_units = n_units or units.n_units
        check_unchanged(n_units, units.n_units, terms.draws.kind.counted)
        ranks = terms.family_ranks(n_units, shares)
        for name, scores in units.scores.items():
            family.issue(name, measure(scores, ranks[name]), ranks[name], named[name])
        family.compare(scan.table, ask_rows(scan.table.frame, []).n_rows)
    return family.join()


def _certify_groups(
    terms: Terms, scan: UnitScan, columns: Columns, group: str, reporting: Reporting
) -> GroupCertificate:
    scores = reporting(scan.of_groups)(group)
    ranks = terms.group_ranks({label: len(own) for label, own in scores.items()})
    return join_groups(terms, columns, {label: measure(own, ranks[label]) for label, own in scores.items()}, ranks)
