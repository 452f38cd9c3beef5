"""What is counted over all rows: how many there are, how many exceed their bound, and whether they are known.

Nothing here depends on a sample. Rows in arrays are scored here; a table in an engine is counted there, in passes that
bring back a few numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from pacband.certificate import Certificate
from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.judging.checking import verdict_of
from pacband.judging.judge import Judge, Judged
from pacband.judging.verdicts import Verdict
from pacband.scores.columns import Columns
from pacband.selection import Request, Tally, begin_search, edges_above, measure, same_share, select
from pacband.selection.fingerprint import fingerprint_unit, seal
from pacband.selection.ranked import Ranked
from pacband.tables.columns import as_frame, check_columns
from pacband.tables.engines import fetch_columns
from pacband.tables.guards import Guards
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.table import Table

__all__ = ["LEVEL", "Census", "TableCensus", "count_rows"]

# The probability that rows contradict a promise that holds, at most.
LEVEL = 0.01

# Bins of a summary of scores: a bin is at most 1/STEPS as wide as its distance from the lowest one plus their spread.
STEPS = 1 << 15


@dataclass(frozen=True, kw_only=True)
class Census:
    """Counts over all rows.

    Attributes
    ----------
    verdict : Verdict
        Whether the counts contradict the promise.
    exact : bool
        Whether the fingerprint is that of the calibration rows. It is not where predictions were computed again and
        rounded differently.
    """

    verdict: Verdict
    exact: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return sum(count.n_samples for count in self.verdict.counts.values())

    @property
    def n_violations(self) -> int:
        """How many of them exceed their bound."""
        return sum(count.violations for count in self.verdict.counts.values())

    @property
    def calibration(self) -> bool:
        """Whether these are the rows the certificate was made from: they give the same γ̄."""
        return self.verdict.reused


def count_rows(judge: Judge, judged: Judged) -> Census:
    """Count rows that were judged in memory."""
    found = {label: _recognise(judge.parts[label], scores) for label, scores in judged.by_part(judged.scores).items()}
    return _census(judge, judged.tallies(), found, judged.n_outside)


def _census(
    judge: Judge, tallies: Mapping[Any, Tally], found: Mapping[Any, tuple[bool, bool]], out_of_range: int
) -> Census:
    """Return the counts. `found` has the result of `_recognise` for every part that has rows."""
    whole = len(found) == len(judge.parts)
    verdict = verdict_of(judge, tallies, LEVEL, out_of_range=out_of_range)
    verdict = replace(verdict, reused=whole and all(near for near, _ in found.values()))
    return Census(verdict=verdict, exact=whole and all(exact for _, exact in found.values()))


def _recognise(single: Certificate, scores: Floats) -> tuple[bool, bool]:
    """Return whether these are the scores a certificate was made from, up to rounding and to the last bit."""
    if len(scores) != single.n_samples:
        return False, False
    if single.bound_given:
        # The bound is not a score, so that nothing but the fingerprint and the count recognises the rows.
        same = single.matches(scores)
        return same, same
    measured = measure(scores.copy(), single.chosen_rank)
    if (measured.gamma, measured.digest) == (single.gamma, single.data_digest):
        return True, True
    return _close(measured.gamma, single, int(np.count_nonzero(scores == measured.gamma))), False


def _close(gamma: float, single: Certificate, n_tied: int) -> bool:
    # Nine digits of one score agree by chance only where scores are tied.
    return math.isclose(gamma, single.gamma, rel_tol=1e-9) and n_tied == 1


class TableCensus:
    """Counts of a table that stays in its engine; every row is checked as `check` checks it."""

    def __init__(self, judge: Judge, frame: Any, columns: Columns) -> None:
        self._judge = judge
        table = as_frame(frame)
        schema = check_columns(table, columns.numeric, columns.group)
        assert isinstance(table, nw.LazyFrame)
        self._table = Table.of(table, schema, judge.scoring, {"": columns})
        self._scan: Any
        if judge.grouped and columns.group is not None:
            self._scan = GroupScan(self._table, columns.group)
            labels = list(self._scan.counts())
            judge.check_known(labels, f"column {columns.group!r}")
        else:
            scan, labels = TableScan(self._table), [None]
            self._scan = lambda requests: {None: scan({"": requests[None]})[""]}
        # How many scores reach γ̄, and how many exceed it.
        self._answers = self._count({label: judge.gamma(label) for label in labels})
        self.n_rows = sum(answer.n_samples for answer in self._answers.values())

    def census(self, sample: Callable[[Any], Floats]) -> Census:
        """Return the counts; `sample` gives scores of a part, from which a search for γ̄ starts."""
        exact = {label: self._is_exact(label) for label in self._answers}
        again = [
            label
            for label, answer in self._answers.items()
            if not exact[label]
            and answer.n_samples == self._judge.parts[label].n_samples
            and not self._judge.basis.bound_given
        ]
        close = self._compare(again, sample) if again else {}
        # Of the two edges, a verdict is about the scores that exceed γ̄.
        tallies = {label: replace(answer, at_least=(_above(answer),)) for label, answer in self._answers.items()}
        found = {label: (exact[label] or close.get(label, False), exact[label]) for label in exact}
        return _census(self._judge, tallies, found, Guards(self._table).count_outside())

    def ranked(self, sample: Floats) -> Ranked:
        """Summarise all scores of one bound in bins narrower than 0.01 % of their range; γ̄ itself is exact.

        The smallest scores share one bin: no ε of interest is above 0.5, or above the certificate's.
        """
        finite, single = sample[np.isfinite(sample)], self._judge.parts[None]
        start = 0.8 * (1.0 - max(0.5, single.eps))
        middle, *highs = np.quantile(finite, (start, (1.0 + start) / 2, 0.99, 1.0)) if len(finite) else (0.0, 1.0)
        # Where all are tied, few rows are left for the bins above them: these may be as narrow as can be.
        spread = next((float(high - middle) for high in highs if high > middle), 1e-9 * abs(float(middle)) or 1e-9)
        far = (nw.col("q0") - float(middle)) / spread
        # Infinite scores have a bin of their own: their largest is infinite.
        far = nw.when(far <= 1e300).then(far).otherwise(nw.lit(1e300, nw.Float64))
        steps = nw.when(nw.col("far") > 0.0).then(((nw.col("far") + 1.0).log() * STEPS).floor())
        bins = (
            self._table.frame.select(**self._table.scores)
            .with_columns(far=far)
            .with_columns(
                step=steps.otherwise(nw.lit(-1.0, nw.Float64)).cast(nw.Int64),
                infinite=nw.col("q0") == math.inf,
                beyond=nw.col("q0") > single.gamma,
            )
            .group_by("step", "infinite", "beyond")
            .agg(nw.len().alias("n"), nw.col("q0").max().alias("largest"))
        )
        found = fetch_columns(bins, ["largest", "n"])
        ranked = Ranked.of_bins(np.asarray(found["largest"]), np.asarray(found["n"]))
        if len(ranked) != self.n_rows:
            raise InvalidInput(
                f"the rows changed while they were read: {self.n_rows:,} at first, then {len(ranked):,}."
            )
        return ranked

    def _count(self, gammas: Mapping[Any, float]) -> Mapping[Any, Tally]:
        answers: Mapping[Any, Tally] = self._scan(
            {
                label: Request((gamma, *edges_above(gamma)), fingerprint_unit(self._judge.gamma(label)))
                for label, gamma in gammas.items()
            }
        )
        return answers

    def _is_exact(self, label: Any) -> bool:
        single, answer = self._judge.parts[label], self._answers[label]
        same = single.data_digest == seal(answer.n_samples, answer.total) and answer.n_samples == single.n_samples
        if single.bound_given:
            return same and _above(answer) == single.chosen_rank - 1
        return same and _above(answer) < single.chosen_rank <= answer.at_least[0]

    def _compare(self, labels: list[Any], sample: Callable[[Any], Floats]) -> dict[Any, bool]:
        """Find γ̄ of these parts again, and return whether it is close to the certificate's."""
        parts = self._judge.parts
        searches = {
            label: begin_search(sample(label), same_share(parts[label].chosen_rank, parts[label].n_samples))
            for label in labels
        }
        gammas = {label: measured.gamma for label, measured in select(self._scan, searches).items()}
        tied = {label: answer.at_least[0] - _above(answer) for label, answer in self._count(gammas).items()}
        return {label: _close(gammas[label], parts[label], tied[label]) for label in labels}


def _above(answer: Tally) -> int:
    return sum(answer.at_least[1:])
