"""Certificates of a table's candidates or groups, joined into one."""

from __future__ import annotations

from collections.abc import Mapping

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.single import issue
from pacband.certification.terms import Terms
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label
from pacband.planning.shares import DeltaShare
from pacband.scores.columns import Columns
from pacband.selection import Measured
from pacband.tables.means import count_unanswered, mean_offsets, mean_scales
from pacband.tables.table import Table

__all__ = ["CandidateParts", "join_groups"]


class CandidateParts:
    """Certificates of candidates, and what a family compares them by. Tables are added one after the other."""

    def __init__(self, terms: Terms, shares: Mapping[str, DeltaShare]) -> None:
        self._terms = terms
        self._shares = shares
        self._certificates: dict[str, Certificate] = {}
        self._scales: dict[str, float] = {}
        self._offsets: dict[str, float] = {}
        self._unanswered: dict[str, int] = {}

    def issue(self, name: str, measured: Measured, rank: int, columns: Columns) -> None:
        """Issue the certificate of one candidate, at its share of δ."""
        self._certificates[name] = issue(self._terms.promise_of(columns), measured, rank, self._shares[name])

    def compare(self, table: Table, n_rows: int) -> None:
        """Measure what the candidates of a table are compared by. Raises if the table has another number of rows."""
        self._scales |= mean_scales(table, n_rows)
        self._offsets |= mean_offsets(table, n_rows)
        self._unanswered |= count_unanswered(table, n_rows)

    def join(self) -> FamilyCertificate:
        """Return the certificate of the family."""
        return FamilyCertificate.of(self._certificates, self._scales, self._offsets, self._unanswered)


def join_groups(
    terms: Terms,
    columns: Columns,
    measured: Mapping[Label, Measured],
    ranks: Mapping[Label, int],
    *,
    overlapping: bool = False,
) -> GroupCertificate:
    """Issue the certificate of every group, each at an even part of the share, and join them."""
    basis, share = terms.promise_of(columns), terms.share.among(len(ranks))
    parts = {label: issue(basis, measured[label], rank, share) for label, rank in ranks.items()}
    return GroupCertificate(groups=FrozenMap(parts), overlapping=overlapping)
