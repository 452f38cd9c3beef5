"""Passes over a table that stays where it is: counts and sums come back, and the few scores that decide.

A pass serves all candidates of a family, or all groups.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar

import narwhals as nw
import numpy as np

from pacband._labels import Label, check_label, sorted_labels
from pacband.exceptions import InvalidInput
from pacband.frames.engines import fetch_columns, fetch_rows
from pacband.frames.expressions import at_least, by_label, count, fingerprint_terms
from pacband.frames.table import Table
from pacband.selection import Request, Tally, Window, within

__all__ = ["FamilyScan", "GroupScan"]

K = TypeVar("K")


class _Scan(ABC, Generic[K]):
    """A pass over a table, called for by requests and answered by tallies."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._signed = table.rule.side != "both"

    def __call__(self, requests: Mapping[K, Request]) -> dict[K, Tally]:
        """Make a pass."""
        windows = {key: request.keep for key, request in requests.items() if request.keep is not None}
        counted = {key: request for key, request in requests.items() if request.keep is None}
        fetched = {
            key: Tally(0, (), 0, within(scores, windows[key]))
            for key, scores in (self._fetch(windows) if windows else {}).items()
        }
        return fetched | (self._count(counted) if counted else {})

    @abstractmethod
    def _count(self, requests: Mapping[K, Request]) -> dict[K, Tally]:
        """Count and sum up."""

    @abstractmethod
    def _fetch(self, windows: Mapping[K, Window]) -> dict[K, Any]:
        """Return the scores in the windows, and perhaps some more."""


class FamilyScan(_Scan[str]):
    """Passes for all candidates at once; with the first come the checks."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._column = dict(zip(table.candidates, table.scores, strict=True))
        self._checked = False

    def _count(self, requests: Mapping[str, Request]) -> dict[str, Tally]:
        guards = {} if self._checked else self.table.guards()
        asked: dict[str, nw.Expr] = {}
        terms: dict[str, nw.Expr] = {}
        for name, request in requests.items():
            column = self._column[name]
            asked |= {f"{column}at{j}": count(at_least(column, edge)) for j, edge in enumerate(request.edges)}
            if request.unit is not None:
                terms[f"{column}total"] = fingerprint_terms(column, request.unit, signed=self._signed)
        asked |= {total: nw.col(total).sum() for total in terms}
        frame = self.table.frame.with_columns(**self.table.scores)
        if terms:
            frame = frame.with_columns(**terms)
        (row,) = fetch_rows(frame.select(nw.len().alias("n"), **asked, **guards))
        if guards:
            self.table.check(int(row["n"]), {name: row[name] for name in guards})
            self._checked = True
        return {name: _tally(row, request, self._column[name]) for name, request in requests.items()}

    def _fetch(self, windows: Mapping[str, Window]) -> dict[str, Any]:
        columns = {name: self._column[name] for name in windows}
        scores = self.table.frame.select(**{column: self.table.scores[column] for column in columns.values()})
        inside = reduce(or_, (_between(columns[name], *window) for name, window in windows.items()))
        found = fetch_columns(scores.filter(inside), list(columns.values()))
        return {name: found[column] for name, column in columns.items()}


class GroupScan(_Scan[Label]):
    """Passes for all groups at once. What differs from group to group is joined to their rows."""

    def __init__(self, table: Table, group: str) -> None:
        super().__init__(table)
        self._frame = table.frame.select("g", **table.scores)
        self._group = group

    def counts(self) -> dict[Label, int]:
        """Check every row, and return the number of rows of every group, groups in sorted order."""
        self.table.check_all()
        found = {row["g"]: int(row["n"]) for row in fetch_rows(self._frame.group_by("g").agg(nw.len().alias("n")))}
        missing = sum(n for label, n in found.items() if label is None or label != label)
        if missing:
            rows = f"{missing} row{'s' if missing > 1 else ''}"
            raise InvalidInput(f"column {self._group!r} must have a label in every row: it is missing in {rows}.")
        for label in found:
            check_label(label)
        return {label: found[label] for label in sorted_labels(found)}

    def _count(self, requests: Mapping[Label, Request]) -> dict[Label, Tally]:
        most = max(len(request.edges) for request in requests.values())
        limits = {
            f"e{j}": {label: (*request.edges, *[math.inf] * most)[j] for label, request in requests.items()}
            for j in range(most)
        }
        limits["unit"] = {label: request.unit or 1.0 for label, request in requests.items()}
        terms = {f"q0at{j}": at_least("q0", nw.col(f"e{j}")).cast(nw.Int64) for j in range(most)}
        terms["q0total"] = fingerprint_terms("q0", nw.col("unit"), signed=self._signed)
        sums = (
            self._limited(limits)
            .select("g", **terms)
            .group_by("g")
            .agg(nw.len().alias("n"), *(nw.col(t).sum() for t in terms))
        )
        return {row["g"]: _tally(row, requests[row["g"]], "q0") for row in fetch_rows(sums)}

    def _fetch(self, windows: Mapping[Label, Window]) -> dict[Label, Any]:
        limits = {
            "low": {label: low for label, (low, _) in windows.items()},
            "high": {label: math.inf if high is None else high for label, (_, high) in windows.items()},
        }
        inside = at_least("q0", nw.col("low")) & ((nw.col("q0") < nw.col("high")) | (nw.col("high") == math.inf))
        found = fetch_columns(self._limited(limits).filter(inside), ["g", "q0"])
        labels, scores = np.asarray(found["g"]), found["q0"]
        return {label: scores[labels == label] for label in windows}

    def _limited(self, limits: Mapping[str, Mapping[Label, float]]) -> nw.LazyFrame[Any]:
        labels = list(next(iter(limits.values())))
        groups = self._frame.select("g").filter(nw.col("g").is_in(labels)).unique()
        beside = groups.with_columns(**{name: by_label("g", values) for name, values in limits.items()})
        return self._frame.join(beside, on="g", how="inner")


def _tally(row: Mapping[str, Any], request: Request, column: str) -> Tally:
    counts = tuple(int(row[f"{column}at{j}"] or 0) for j in range(len(request.edges)))
    return Tally(int(row["n"]), counts, int(row.get(f"{column}total") or 0), np.empty(0))


def _between(column: str, low: float, high: float | None) -> nw.Expr:
    """Whether a score is in the window, or perhaps where it ends at infinity."""
    above = at_least(column, low)
    return above if high is None or math.isinf(high) else above & (nw.col(column) < high)
