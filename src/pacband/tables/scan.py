"""Passes over a table in an engine. Counts and sums come back, and the few scores in which the search ends.

One pass answers the requests of all candidates, or of all groups.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import narwhals as nw
import numpy as np

from pacband.core.arrays import Floats
from pacband.core.labels import Label, check_label, sorted_labels
from pacband.exceptions import InvalidInput
from pacband.scores.expressions import any_of, at_least
from pacband.selection import Request, Tally, Window, check_unchanged, current_limits, within
from pacband.selection.expressions import fingerprint_terms
from pacband.tables.asks import Answers, Ask, ask_groups, ask_rows, ask_windows, count_rows
from pacband.tables.engines import fetch_columns
from pacband.tables.guards import Guards
from pacband.tables.lookup import join_values, rank_rows
from pacband.tables.table import GROUP, Table

__all__ = ["GroupScan", "TableScan"]

K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class _Question:
    """A request about a column of scores, as columns that the engine computes."""

    counts: tuple[Ask, ...]
    totals: tuple[Ask, ...]

    @classmethod
    def of(cls, column: str, edges: Sequence[Any], unit: Any, *, signed: bool) -> Self:
        """Ask for counts at or above edges and for the fingerprint: by numbers, or by columns that hold them."""
        totals = () if unit is None else (Ask(fingerprint_terms(column, unit, signed=signed)),)
        return cls(tuple(count_rows(at_least(column, edge)) for edge in edges), totals)

    @property
    def asks(self) -> tuple[Ask, ...]:
        return self.counts + self.totals

    def read(self, answers: Answers, request: Request, kept: Floats | None = None) -> Tally:
        """Return the answer to a request, which may have fewer edges than were counted."""
        counts = tuple(answers[ask] for ask in self.counts[: len(request.edges)])
        total = 0 if request.unit is None else sum(answers[ask] for ask in self.totals)
        return Tally(answers.n_rows, counts, total, np.empty(0) if kept is None else kept)


class _Scan(ABC, Generic[K]):
    """A pass over a table: takes requests, returns tallies."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._guards = Guards(table)
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
        """Return the scores in the windows. Engines that can do so in the same reading also count and sum up."""


class TableScan(_Scan[str]):
    """Passes over all rows, for all candidates at once. The first pass that counts also checks the rows."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._checked = False

    def _count(self, requests: Mapping[str, Request]) -> dict[str, Tally]:
        questions = {name: self._question(name, request) for name, request in requests.items()}
        checks = () if self._checked else (self._guards.count_scorable(),)
        answers = ask_rows(self.table.scored, [*checks, *(ask for one in questions.values() for ask in one.asks)])
        for scorable in checks:
            self._guards.check(answers.n_rows, answers[scorable])
        self._checked = True
        return {name: questions[name].read(answers, request) for name, request in requests.items()}

    def _fetch(self, requests: Mapping[str, Request]) -> dict[str, Tally]:
        columns = self.table.score_columns
        windows = {columns[name]: request.keep for name, request in requests.items() if request.keep is not None}
        inside = {column: _in_window(column, window) for column, window in windows.items()}
        questions = {name: self._question(name, request) for name, request in requests.items()}
        found = ask_windows(self.table.scored, inside, [ask for one in questions.values() for ask in one.asks])
        if found is None:
            rows = fetch_columns(self.table.scored.filter(any_of(list(inside.values()))), list(windows))
            return {name: _only(within(rows[columns[name]], windows[columns[name]])) for name in requests}
        answers, values = found
        kept = {name: within(values[columns[name]], windows[columns[name]]) for name in requests}
        return {name: questions[name].read(answers, request, kept[name]) for name, request in requests.items()}

    def _question(self, name: str, request: Request) -> _Question:
        return _Question.of(self.table.score_columns[name], request.edges, request.unit, signed=self._signed)


class GroupScan(_Scan[Label]):
    """Passes over all rows, for all groups at once. What differs between groups is joined to their rows."""

    def __init__(self, table: Table, group: str) -> None:
        super().__init__(table)
        self._group = group
        (self._score,) = table.score_columns.values()
        self._frame = table.frame.select(GROUP, **table.scores)
        self._counts: dict[Label, int] = {}

    def counts(self) -> dict[Label, int]:
        """Check every row, and return the number of rows of every group, groups in sorted order."""
        scorable = self._guards.count_scorable()
        found = ask_groups(self.table.scored, GROUP, [scorable])
        self._guards.check(sum(one.n_rows for _, one in found), sum(one[scorable] for _, one in found))
        missing = sum(one.n_rows for label, one in found if label is None or label != label)
        if missing:
            rows = f"{missing} row{'s' if missing > 1 else ''}"
            raise InvalidInput(f"column {self._group!r} must have a label in every row: it is missing in {rows}.")
        for label, _ in found:
            check_label(label)
        n_rows = {label: one.n_rows for label, one in found}
        self._counts = {label: n_rows[label] for label in sorted_labels(n_rows)}
        return self._counts

    def ranked(
        self, ranks: Mapping[Label, int], units: Sequence[float]
    ) -> dict[Label, tuple[float, dict[float, int]]] | None:
        """Return the score at the rank of every group and its fingerprints in these units, from one pass.

        Returns None if the engine cannot do so, or only in much memory.
        """
        largest, kept = max(ranks.values()), current_limits().kept
        if sum(ranks.values()) > kept:
            return None
        sums = [fingerprint_terms(self._score, unit, signed=self._signed) for unit in units]
        values = {"place": self._places, "rank": {label: float(rank) for label, rank in ranks.items()}}
        most = largest if largest * len(ranks) <= kept else 0
        rows = rank_rows(self._frame, GROUP, self._score, values, sums, most=most)
        if rows is None:
            return None
        self._check_counts({row[0]: row[1] for row in rows})
        found = {place: (gamma, dict(zip(units, map(int, totals), strict=True))) for place, _, gamma, *totals in rows}
        return {label: found[place] for place, label in enumerate(self._counts)}

    def _count(self, requests: Mapping[Label, Request]) -> dict[Label, Tally]:
        n_edges = max(len(request.edges) for request in requests.values())
        edges = [nw.col(f"edge{j}") for j in range(n_edges)]
        question = _Question.of(self._score, edges, nw.col("unit"), signed=self._signed)
        joined = join_values(self._frame, GROUP, self._limits(requests, n_edges))
        answers = {_as_place(place): one for place, one in ask_groups(joined, "place", question.asks)}
        self._check_counts({place: one.n_rows for place, one in answers.items()})
        places = {label: place for place, label in enumerate(self._counts)}
        return {label: question.read(answers[places[label]], request) for label, request in requests.items()}

    def _limits(self, requests: Mapping[Label, Request], n_edges: int) -> dict[str, dict[Label, float]]:
        """Return the table to join to the rows: every group's place, unit and edges, in the columns of `_count`.

        Some groups have fewer edges, and some have no request. Infinite edges and the unit 1 fill their cells; what is
        counted and summed with these is not read.
        """
        limits: dict[str, dict[Label, float]] = {"place": self._places, "unit": {}}
        limits |= {f"edge{j}": {} for j in range(n_edges)}
        for label in self._counts:
            request = requests.get(label, Request())
            limits["unit"][label] = request.unit or 1.0
            for j in range(n_edges):
                limits[f"edge{j}"][label] = request.edges[j] if j < len(request.edges) else math.inf
        return limits

    def _fetch(self, requests: Mapping[Label, Request]) -> dict[Label, Tally]:
        windows = {label: request.keep for label, request in requests.items() if request.keep is not None}
        limits = {
            "low": {label: low for label, (low, _) in windows.items()},
            "high": {label: math.inf if high is None else high for label, (_, high) in windows.items()},
            "place": {label: float(place) for place, label in enumerate(windows)},
        }
        below = (nw.col(self._score) < nw.col("high")) | (nw.col("high") == math.inf)
        inside = join_values(self._frame, GROUP, limits).filter(at_least(self._score, nw.col("low")) & below)
        found = fetch_columns(inside, ["place", self._score])
        places = np.asarray(found["place"]).astype(np.intp)
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(windows)))
        scores = np.split(np.asarray(found[self._score])[order], ends[:-1])
        return {label: _only(within(kept, windows[label])) for label, kept in zip(windows, scores, strict=True)}

    @property
    def _places(self) -> dict[Label, float]:
        """The place of every group: engines group and return integers faster than labels."""
        return {label: float(place) for place, label in enumerate(self._counts)}

    def _check_counts(self, found: Mapping[int | None, int]) -> None:
        """Raise unless every group, by its place, has as many rows as at first, and no row has another label."""
        check_unchanged(0, found.get(None, 0), "rows with other labels")
        for place, (label, n_rows) in enumerate(self._counts.items()):
            check_unchanged(n_rows, found.get(place, 0), f"rows of group {label!r}")


def _as_place(value: float | None) -> int | None:
    return None if value is None or value != value else int(value)


def _only(kept: Floats) -> Tally:
    """Return the tally of a pass that only fetched scores."""
    return Tally(0, (), 0, kept)


def _in_window(column: str, window: Window) -> nw.Expr:
    """Whether a score is in the window, or may be, if the window ends at infinity."""
    low, high = window
    above = at_least(column, low)
    return above if high is None or math.isinf(high) else above & (nw.col(column) < high)
