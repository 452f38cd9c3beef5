"""Passes over a table that stays where it is: counts and sums come back, and the few scores that decide.

A pass serves all candidates of a family, or all groups.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import narwhals as nw
import numpy as np

from pacband.core.arrays import Floats
from pacband.core.labels import Label, check_label, sorted_labels
from pacband.exceptions import InvalidInput
from pacband.scores.expressions import any_of, at_least, count
from pacband.selection import Request, Tally, check_unchanged, within
from pacband.selection.expressions import fingerprint_terms
from pacband.tables.engines import fetch_columns, fetch_inside, fetch_rows
from pacband.tables.lookup import beside, rank_rows
from pacband.tables.table import Table

__all__ = ["FamilyScan", "GroupScan"]

K = TypeVar("K")

# Scores that an engine may keep in a pass, over all groups.
KEPT = 1 << 23


class _Scan(ABC, Generic[K]):
    """A pass over a table, called for by requests and answered by tallies."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._signed = table.rule.side != "both"

    def __call__(self, requests: Mapping[K, Request]) -> dict[K, Tally]:
        """Make a pass."""
        fetched = {key: request for key, request in requests.items() if request.keep is not None}
        counted = {key: request for key, request in requests.items() if request.keep is None}
        return (self._fetch(fetched) if fetched else {}) | (self._count(counted) if counted else {})

    @abstractmethod
    def _count(self, requests: Mapping[K, Request]) -> dict[K, Tally]:
        """Count and sum up."""

    @abstractmethod
    def _fetch(self, requests: Mapping[K, Request]) -> dict[K, Tally]:
        """Return the scores in the windows; in engines that can in the same reading, count and sum up as well."""


class FamilyScan(_Scan[str]):
    """Passes for all candidates at once; with the first come the checks."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._column = dict(zip(table.candidates, table.scores, strict=True))
        self._checked = False

    def _count(self, requests: Mapping[str, Request]) -> dict[str, Tally]:
        asked: dict[str, nw.Expr] = {} if self._checked else {"whole": count(self.table.whole())}
        for name, request in requests.items():
            column = self._column[name]
            asked |= {f"{column}at{j}": count(at_least(column, edge)) for j, edge in enumerate(request.edges)}
            if request.unit is not None:
                asked[f"{column}total"] = nw.col(f"{column}total").sum()
        (row,) = fetch_rows(self._scored(requests).select(nw.len().alias("n"), **asked))
        if not self._checked:
            self.table.check(int(row["n"]), int(row["whole"] or 0))
            self._checked = True
        return {name: _tally(row, request, self._column[name]) for name, request in requests.items()}

    def _fetch(self, requests: Mapping[str, Request]) -> dict[str, Tally]:
        windows = {self._column[name]: request.keep for name, request in requests.items() if request.keep is not None}
        inside = {column: _between(column, *window) for column, window in windows.items()}
        scored = self._scored(requests)
        row = fetch_inside(scored, inside, [f"{column}total" for column in windows])
        if row is None:
            row = {"n": 0, **fetch_columns(scored.filter(any_of(list(inside.values()))), list(windows))}
        return {
            name: _tally(row, request, self._column[name], within(row[self._column[name]], windows[self._column[name]]))
            for name, request in requests.items()
        }

    def _scored(self, requests: Mapping[str, Request]) -> nw.LazyFrame[Any]:
        """Return the table with its scores, and with the terms of the fingerprints that are asked for."""
        terms = {
            f"{self._column[name]}total": fingerprint_terms(self._column[name], request.unit, signed=self._signed)
            for name, request in requests.items()
            if request.unit is not None
        }
        frame = self.table.frame.with_columns(**self.table.scores)
        return frame.with_columns(**terms) if terms else frame


class GroupScan(_Scan[Label]):
    """Passes for all groups at once. What differs from group to group stands beside their rows."""

    def __init__(self, table: Table, group: str) -> None:
        super().__init__(table)
        self._group = group
        self._frame = table.frame.select("g", **table.scores)
        self._counts: dict[Label, int] = {}

    def counts(self) -> dict[Label, int]:
        """Check every row, and return the number of rows of every group, groups in sorted order."""
        frame = self.table.frame.with_columns(**self.table.scores)
        whole = frame.with_columns(whole=self.table.whole().cast(nw.Int64)).group_by("g")
        rows = fetch_rows(whole.agg(nw.len().alias("n"), nw.col("whole").sum()))
        self.table.check(sum(int(row["n"]) for row in rows), sum(int(row["whole"] or 0) for row in rows))
        missing = sum(int(row["n"]) for row in rows if row["g"] is None or row["g"] != row["g"])
        if missing:
            shown = f"{missing} row{'s' if missing > 1 else ''}"
            raise InvalidInput(f"column {self._group!r} must have a label in every row: it is missing in {shown}.")
        for row in rows:
            check_label(row["g"])
        found = {row["g"]: int(row["n"]) for row in rows}
        self._counts = {label: found[label] for label in sorted_labels(found)}
        return self._counts

    def ranked(
        self, ranks: Mapping[Label, int], units: Sequence[float]
    ) -> dict[Label, tuple[float, dict[float, int]]] | None:
        """Return the score at the rank of every group and its fingerprints in these units, from one pass.

        None where the engine cannot, or not in little memory.
        """
        most = max(ranks.values())
        if sum(ranks.values()) > KEPT:
            return None
        sums = {f"t{k}": fingerprint_terms("q0", unit, signed=self._signed) for k, unit in enumerate(units)}
        values = self._places() | {"rank": {label: float(rank) for label, rank in ranks.items()}}
        rows = rank_rows(self._frame, values, sums, most=most if most * len(ranks) <= KEPT else 0)
        if rows is None:
            return None
        self._check_counts({row[0]: row[1] for row in rows})
        found = {place: (gamma, dict(zip(units, map(int, totals), strict=True))) for place, _, gamma, *totals in rows}
        return {label: found[place] for place, label in enumerate(self._counts)}

    def _count(self, requests: Mapping[Label, Request]) -> dict[Label, Tally]:
        most = max(len(request.edges) for request in requests.values())
        limits = self._places()
        none = Request((math.inf,) * most)
        asked = [requests.get(label, none) for label in self._counts]
        for j in range(most):
            edges = (request.edges[j] if j < len(request.edges) else math.inf for request in asked)
            limits[f"e{j}"] = dict(zip(self._counts, edges, strict=True))
        units = (request.unit or 1.0 for request in asked)
        limits["unit"] = dict(zip(self._counts, units, strict=True))
        terms = {f"q0at{j}": at_least("q0", nw.col(f"e{j}")).cast(nw.Int64) for j in range(most)}
        terms["q0total"] = fingerprint_terms("q0", nw.col("unit"), signed=self._signed)
        sums = (
            beside(self._frame, "g", limits)
            .select("place", **terms)
            .group_by("place")
            .agg(nw.len().alias("n"), *(nw.col(t).sum() for t in terms))
        )
        rows = {_place(row["place"]): row for row in fetch_rows(sums)}
        self._check_counts({place: int(row["n"]) for place, row in rows.items()})
        return {
            label: _tally(rows[place], requests[label], "q0")
            for place, label in enumerate(self._counts)
            if label in requests
        }

    def _places(self) -> dict[str, dict[Label, float]]:
        """Return the place of every group: integers are grouped and fetched quicker than labels."""
        return {"place": {label: float(place) for place, label in enumerate(self._counts)}}

    def _fetch(self, requests: Mapping[Label, Request]) -> dict[Label, Tally]:
        windows = {label: request.keep for label, request in requests.items() if request.keep is not None}
        limits = {
            "low": {label: low for label, (low, _) in windows.items()},
            "high": {label: math.inf if high is None else high for label, (_, high) in windows.items()},
            "place": {label: float(place) for place, label in enumerate(windows)},
        }
        inside = at_least("q0", nw.col("low")) & ((nw.col("q0") < nw.col("high")) | (nw.col("high") == math.inf))
        found = fetch_columns(beside(self._frame, "g", limits).filter(inside), ["place", "q0"])
        places = np.asarray(found["place"]).astype(np.intp)
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(windows)))
        scores = np.split(np.asarray(found["q0"])[order], ends[:-1])
        return {
            label: Tally(0, (), 0, within(kept, window))
            for (label, window), kept in zip(windows.items(), scores, strict=True)
        }

    def _check_counts(self, found: Mapping[int | None, int]) -> None:
        """Raise unless the groups, by their places, have as many rows as were counted first; without others."""
        check_unchanged(0, found.get(None, 0), "rows with other labels")
        for place, (label, n_rows) in enumerate(self._counts.items()):
            check_unchanged(n_rows, found.get(place, 0), f"rows of group {label!r}")


def _place(value: float | None) -> int | None:
    return None if value is None or value != value else int(value)


def _tally(row: Mapping[str, Any], request: Request, column: str, kept: Floats | None = None) -> Tally:
    counts = tuple(int(row[f"{column}at{j}"] or 0) for j in range(len(request.edges)))
    total = int(row.get(f"{column}total") or 0)
    return Tally(int(row["n"]), counts, total, np.empty(0) if kept is None else kept)


def _between(column: str, low: float, high: float | None) -> nw.Expr:
    """Whether a score is in the window, or perhaps where it ends at infinity."""
    above = at_least(column, low)
    return above if high is None or math.isinf(high) else above & (nw.col(column) < high)
