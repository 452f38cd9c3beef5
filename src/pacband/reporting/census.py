"""What is counted over all rows: how many there are, how many exceed their bound, and whether they are known.

Nothing here depends on a sample. Rows in arrays are scored here; a table in an engine is counted there, in passes that
bring back a few numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, Certificate, GroupCertificate
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.arrays import Floats
from pacband.core.labels import group_rows
from pacband.exceptions import InvalidInput
from pacband.reporting.candidates import single_of
from pacband.scores.columns import Columns
from pacband.selection import Request, Tally, begin_search, edges_above, measure, select
from pacband.selection.fingerprint import fingerprint_unit, seal
from pacband.selection.ranked import Ranked
from pacband.tables.columns import as_frame, check_columns
from pacband.tables.engines import fetch_columns
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.table import Table

__all__ = ["Census", "TableCensus", "count_rows"]

# Bins of a summary of scores: a bin is at most 1/STEPS as wide as its distance from the lowest one plus their spread.
STEPS = 1 << 15


@dataclass(frozen=True, kw_only=True)
class Census:
    """Counts over all rows.

    Attributes
    ----------
    parts : tuple of (int, int)
        Rows, and rows beyond their bound, of every part that has a promise of its own: all, or each group.
    calibration : bool
        Whether these are the rows the certificate was made from: γ̄ comes out the same.
    exact : bool
        Whether the fingerprint does so as well. It does not where predictions were computed again and rounded
        otherwise.
    """

    parts: tuple[tuple[int, int], ...]
    calibration: bool
    exact: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return sum(n_rows for n_rows, _ in self.parts)

    @property
    def n_violations(self) -> int:
        """How many of them exceed their bound."""
        return sum(n_violations for _, n_violations in self.parts)


def count_rows(certificate: AnyCertificate, scores: Floats, labels: npt.NDArray[Any] | None) -> Census:
    """Count rows whose scores are in an array."""
    if labels is None or not isinstance(certificate, GroupCertificate):
        single = single_of(certificate)
        alike = [_recognised(single, scores)]
        parts = [(len(scores), int(np.count_nonzero(scores > single.gamma)))]
    else:
        members, groups = group_rows(labels), certificate.groups
        alike = [_recognised(groups[label], scores[rows]) for label, rows in members.items()]
        parts = [
            (len(rows), int(np.count_nonzero(scores[rows] > groups[label].gamma))) for label, rows in members.items()
        ]
        alike += [(False, False)] * (len(groups) - len(members))
    return _census(parts, alike)


def _census(parts: list[tuple[int, int]], alike: list[tuple[bool, bool]]) -> Census:
    return Census(
        parts=tuple(parts),
        calibration=all(calibration for calibration, _ in alike),
        exact=all(exact for _, exact in alike),
    )


def _recognised(single: Certificate, scores: Floats) -> tuple[bool, bool]:
    """Return whether these are the scores a certificate was made from, up to rounding and to the last bit."""
    if len(scores) != single.n_samples:
        return False, False
    measured = measure(scores.copy(), single.rank)
    if (measured.gamma, measured.digest) == (single.gamma, single.data_digest):
        return True, True
    return _close(measured.gamma, single, int(np.count_nonzero(scores == measured.gamma))), False


def _close(gamma: float, single: Certificate, n_tied: int) -> bool:
    # Nine digits of one score agree by chance only where scores are tied.
    return math.isclose(gamma, single.gamma, rel_tol=1e-9) and n_tied == 1


class TableCensus:
    """Counts of a table that stays in its engine; every row is checked as `certify` checks it."""

    def __init__(self, certificate: AnyCertificate, frame: Any, columns: Columns) -> None:
        self._certificate = certificate
        single = single_of(certificate)
        table = as_frame(frame)
        schema = check_columns(table, columns.numeric, columns.group)
        assert isinstance(table, nw.LazyFrame)
        grouped = isinstance(certificate, GroupCertificate)
        self._table = Table.of(table, schema, single.basis.scoring, {"": columns})
        self._singles: Mapping[Any, Certificate] = certificate.groups if grouped else {"": single}  # type: ignore[union-attr]
        self._scan: Any
        if grouped and columns.group is not None:
            self._scan = GroupScan(self._table, columns.group)
            self._labels = list(self._scan.counts())
            refuse_unknown(self._labels, self._singles, f"column {columns.group!r}")
        else:
            self._scan, self._labels = TableScan(self._table), [""]
        # How many scores reach γ̄, and how many exceed it.
        self._answers = self._count({label: self._singles[label].gamma for label in self._labels})
        self.n_rows = sum(answer.n_samples for answer in self._answers.values())

    def census(self, sample: Callable[[Any], Floats]) -> Census:
        """Return the counts; `sample` gives scores of a part, from which a search for γ̄ starts."""
        alike = {label: self._exact(label) for label in self._labels}
        again = [
            label
            for label, exact in alike.items()
            if not exact and self._answers[label].n_samples == self._singles[label].n_samples
        ]
        close = self._compared(again, sample) if again else {}
        parts = [(self._answers[label].n_samples, _above(self._answers[label])) for label in self._labels]
        found = [(exact or close.get(label, False), exact) for label, exact in alike.items()]
        found += [(False, False)] * (len(self._singles) - len(self._labels))
        return _census(parts, found)

    def ranked(self, sample: Floats) -> Ranked:
        """Summarise all scores of one bound in bins narrower than 0.01 % of their range; γ̄ itself is exact.

        The smallest scores share one bin: no ε of interest is above 0.5, or above the certificate's.
        """
        finite, single = sample[np.isfinite(sample)], single_of(self._certificate)
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
                label: Request((gamma, *edges_above(gamma)), fingerprint_unit(self._singles[label].gamma))
                for label, gamma in gammas.items()
            }
        )
        return answers

    def _exact(self, label: Any) -> bool:
        single, answer = self._singles[label], self._answers[label]
        return (
            single.data_digest == seal(answer.n_samples, answer.total)
            and answer.n_samples == single.n_samples
            and _above(answer) < single.rank <= answer.at_least[0]
        )

    def _compared(self, labels: list[Any], sample: Callable[[Any], Floats]) -> dict[Any, bool]:
        """Find γ̄ of these parts anew, and return whether it is close to the certificate's."""
        searches = {label: begin_search(sample(label), _rank_of(self._singles[label])) for label in labels}
        gammas = {label: measured.gamma for label, measured in select(self._scan, searches).items()}
        tied = {label: answer.at_least[0] - _above(answer) for label, answer in self._count(gammas).items()}
        return {label: _close(gammas[label], self._singles[label], tied[label]) for label in labels}


def _above(answer: Tally) -> int:
    return sum(answer.at_least[1:])


def _rank_of(single: Certificate) -> Callable[[int], int]:
    """The rank of the certificate; of fewer or more scores, the same share."""
    return lambda n: single.rank if n == single.n_samples else max(1, round(single.rank * (n / single.n_samples)))
