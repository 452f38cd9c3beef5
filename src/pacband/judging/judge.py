"""Decide which draws violate a certificate, for checks, monitors, reports and diagnostics.

A row violates if its score exceeds γ̄: of the certificate, of the best candidate of a family, or of the row's own group.
Rows in memory are scored here. Rows in an engine are counted there (`pacband.tables.checking`); either way the answer
is a `Tally` for every part, from which `pacband.judging.checking` makes the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, Certificate, check_certificate, groups_overlap
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.arrays import Floats, Numbers, check_lengths, check_same_rows
from pacband.core.labels import Label, as_labels, factorize
from pacband.core.members import group_members
from pacband.draws import Draws, Rows, Sample, Spaced, Units, Weighted
from pacband.draws.kinds import SpacedDraws, UnitDraws, WeightedDraws
from pacband.exceptions import InvalidInput
from pacband.scores import score_rows
from pacband.scores.clip import outside_range
from pacband.selection import Request, Tally, edges_above
from pacband.selection.fingerprint import fingerprint_total, fingerprint_totals, fingerprint_unit

__all__ = ["Judge", "Judged", "deciding_rows"]


@dataclass(frozen=True, eq=False)
class Judged:
    """The scores and violations of some draws.

    Attributes
    ----------
    labels : list
        The groups that occur; [None] where rows were judged without groups.
    scores : array
        The scores of the draws, or of the rows that have a label y, in their order. If groups overlap, the scores of
        each group follow each other, and a draw is there once for each of its groups.
    codes : array of int or None
        The place of each score's group among `labels`; None where there is one for all.
    gammas : array
        γ̄ of each group in `labels`.
    unlabelled : array of int
        How many rows of each group have no label y yet. They are not scored.
    rows : array of int or None
        The row that each score is the score of; None where it is every row.
    n_rows : int
        How many rows were judged, with a label or without.
    n_outside : int
        How many of them have a y outside of its declared range.
    """

    labels: list[Label | None]
    scores: Floats
    codes: npt.NDArray[np.intp] | None
    gammas: Floats
    unlabelled: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp] | None
    n_rows: int
    n_outside: int

    @property
    def violated(self) -> npt.NDArray[np.bool_]:
        """Whether each score exceeds its bound."""
        return np.asarray(self.scores > (self.gammas[0] if self.codes is None else self.gammas[self.codes]))

    def by_part(self, column: npt.NDArray[Any]) -> dict[Label | None, npt.NDArray[Any]]:
        """Return a column beside the scores, such as `violated`, by group. The order is kept."""
        if self.codes is None or not self.labels:
            return dict.fromkeys(self.labels, column)
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=len(self.labels)))
        return dict(zip(self.labels, np.split(column[order], ends[:-1]), strict=True))

    def tallies(self) -> dict[Label | None, Tally]:
        """Return, for every group that occurs, its scores, its violations, and the sum of its fingerprint."""
        units = np.array([fingerprint_unit(gamma) for gamma in self.gammas])
        if self.codes is None:
            counts, beyond = [len(self.scores)], [int(np.count_nonzero(self.violated))]
            totals = [fingerprint_total(self.scores, float(units[0]))]
        else:
            counts, beyond = (
                np.bincount(codes, minlength=len(self.labels)).tolist()
                for codes in (self.codes, self.codes[self.violated])
            )
            totals = fingerprint_totals(self.scores, units, self.codes).tolist()
        columns = zip(self.labels, counts, beyond, totals, strict=True)
        return {label: Tally(n, (violations,), total, np.empty(0)) for label, n, violations, total in columns}


class Judge:
    """Compares rows with the bound of a certificate.

    Attributes
    ----------
    basis : Promise
        What the rows must have: outputs, steps, kind of scale and draws.
    scoring : ScoreRule
        How rows are scored: as at calibration, but a y outside of its declared range violates and is not refused.
    parts : mapping of label to Certificate
        The certificate of every group. Without groups the only key is None.
    """

    def __init__(self, certificate: AnyCertificate) -> None:
        self.basis = check_certificate(certificate).basis
        self.scoring = self.basis.scoring.judging
        self.parts: dict[Label | None, Certificate] = dict(certificate.parts.items())
        self._gammas = {label: part.gamma for label, part in self.parts.items()}
        self._overlapping = certificate if groups_overlap(certificate) else None

    @property
    def grouped(self) -> bool:
        """Whether the certificate makes a promise for each group."""
        return None not in self.parts

    def gamma(self, label: Label | None) -> float:
        """Return γ̄ of a group. A certificate without groups has one γ̄ for all rows, whatever their label."""
        return self._gammas[label if self.grouped else None]

    def check_known(self, labels: Iterable[Any], where: str = "groups") -> None:
        """Raise if the certificate promises within groups and does not know one of these."""
        if self.grouped:
            refuse_unknown(labels, self._gammas, where)  # type: ignore[arg-type]

    def request(self, label: Label | None) -> Request:
        """Return what an engine has to count: how many scores of a group exceed γ̄, and the sum of the fingerprint."""
        gamma = self.gamma(label)
        return Request(edges_above(gamma), fingerprint_unit(gamma))

    def judge(
        self, y: Any, y_pred: Any = None, scale: Any = None, groups: Any = None, *, draws: Draws | None = None
    ) -> Judged:
        """Judge the draws that rows in memory make, or raise.

        Parameters
        ----------
        y, y_pred, scale
            The rows, as in `certify`. For own scores, y holds the scores, and nothing else is given.
        groups : array-like, optional
            The group of every row. A certificate that promises within groups needs it; if its groups overlap, the
            mask of every group. For any other, the groups only sort the rows.
        draws : Units, Spaced or Weighted, optional
            How the rows make draws; see `draws_of`.
        """
        declared = self.draws_of(draws)
        masks = tuple(groups.values()) if isinstance(groups, Mapping) else groups
        check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=masks, draws=declared.row_values)
        target, prediction, spread = self.basis.align(y, y_pred, scale)
        sample = declared.sample(len(target))
        if sample.sizes is not None or sample.certain is not None:
            raise InvalidInput("units on average and an interval of importance are not judged draw by draw: use check.")
        # Where groups overlap, the draws of one group after the other; else all draws in their order.
        places: slice | npt.NDArray[np.intp] = slice(None)
        if self._overlapping is None:
            labels, codes = self._codes(groups, len(target), sample)
        else:
            labels, codes, places = _one_after_the_other(self.members(groups, len(target), sample))
        of_rows = score_rows(self.scoring, target, prediction, spread)
        scores = sample.reduce(of_rows)
        rows = deciding_rows(sample, of_rows, scores)
        if rows is None and self._overlapping is not None:
            rows = np.arange(len(target))
        return Judged(
            labels,
            scores[places],
            codes,
            np.array([self.gamma(label) for label in labels]),
            np.zeros(len(labels), dtype=np.intp),
            None if rows is None else rows[places],
            len(target),
            self.count_outside(target),
        )

    def judge_rows(self, y: Any, y_pred: Any = None, scale: Any = None, groups: Any = None) -> Judged:
        """Judge every row by itself, or raise. NaN in y means that the label is not known yet.

        A single row may be given as numbers. Own scores that count as infinite where they are NaN are never without a
        label.
        """
        check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
        target, prediction, spread = self.basis.align(y, y_pred, scale, lone_row=True)
        n_rows = len(target)
        if groups is None and not self.grouped:
            labels, codes = list(self.parts), None
        else:
            labels, codes = self._codes(groups, n_rows, Rows().sample(n_rows))
        without = np.zeros(len(labels), dtype=np.intp)
        nan_violates = self.basis.scoring.own and self.basis.scoring.nonfinite == "violate"
        missing = None if nan_violates else _missing(target)
        if missing is not None:
            keep = ~missing
            without += missing.sum() if codes is None else np.bincount(codes[missing], minlength=len(labels))
            target, prediction, codes = target[keep], prediction[keep], None if codes is None else codes[keep]
            spread = spread.at(keep)
        scores = score_rows(self.scoring, target, prediction, spread)
        rows = None if missing is None else np.flatnonzero(~missing)
        gammas = np.array([self.gamma(label) for label in labels])
        return Judged(labels, scores, codes, gammas, without, rows, n_rows, self.count_outside(target))

    def count_outside(self, target: Numbers) -> int:
        """Return how many rows have a y outside of its declared range."""
        outside = outside_range(self.scoring.clip, target)
        return 0 if outside is None else int(outside.reshape(len(outside), -1).any(axis=1).sum())

    def members(self, groups: Any, n_rows: int, sample: Sample) -> dict[Label, npt.NDArray[np.intp]]:
        """Return the places of every group's draws, or raise unless the certificate knows the groups."""
        if self._overlapping is not None:
            for mask in self._overlapping.masks(groups).values():
                check_lengths(y=np.empty(n_rows), groups=mask)
        elif isinstance(groups, Mapping):
            raise InvalidInput("masks are for certificates whose groups overlap: pass one label for every row.")
        members = {label: places for label, places in group_members(groups, sample.assign).items() if len(places)}
        self.check_known(members)
        return members

    def draws_of(self, draws: Draws | None) -> Draws:
        """Return how these rows make draws, or raise unless it is what the certificate promises about.

        Units need their labels. Rows of a series are spaced as at calibration. Fresh rows of a weighted certificate are
        draws of the future distribution, unless weights are given: then they are drawn as the calibration rows were.
        """
        kind = self.basis.draws
        if isinstance(kind, UnitDraws):
            if not isinstance(draws, Units) or draws.kind.within != kind.within:
                raise InvalidInput(
                    f"this certificate makes a promise about {kind.plural}: pass draws=Units(labels, "
                    f"within={kind.within!r})."
                )
            return draws
        if isinstance(kind, SpacedDraws):
            if draws is not None and not (isinstance(draws, Spaced) and draws.kind.gap == kind.gap):
                raise InvalidInput(
                    f"this certificate is about every {kind.gap}-th row: draws must be Spaced({kind.gap})."
                )
            return Spaced(kind.gap)
        if draws is None:
            return Rows()
        if isinstance(kind, WeightedDraws) and isinstance(draws, Weighted):
            if draws.kind.interval:
                raise InvalidInput("an interval of importance does not say which rows are draws: pass one importance.")
            return draws
        raise InvalidInput(f"draws were given, but the certificate makes no promise about {draws.kind.counted}.")

    def _codes(
        self, groups: Any, n_rows: int, sample: Sample
    ) -> tuple[list[Label | None], npt.NDArray[np.intp] | None]:
        """Return the groups that occur, and the place of each row's group among them."""
        if groups is None:
            if self.grouped:
                raise InvalidInput("this certificate promises within groups: pass the group of every row.")
            return [None], None
        if isinstance(groups, Mapping):
            raise InvalidInput("masks are for certificates whose groups overlap: pass one label for every row.")
        labels = as_labels([groups] if isinstance(groups, (str, int, float, np.generic)) else groups)
        if len(labels) != n_rows:
            raise InvalidInput(f"y and groups must have one length, got {n_rows} and {len(labels)}.")
        names, codes = factorize(sample.assign(labels))
        self.check_known(names)
        return list(names), codes


def _one_after_the_other(
    members: Mapping[Label, npt.NDArray[np.intp]],
) -> tuple[list[Label | None], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the groups, then for the draws of one group after the other: the place of the group, and of the draw."""
    codes = np.repeat(np.arange(len(members)), [len(places) for places in members.values()])
    return list(members), codes, np.concatenate([np.empty(0, dtype=np.intp), *members.values()])


def deciding_rows(sample: Sample, of_rows: Floats, of_draws: Floats) -> npt.NDArray[np.intp] | None:
    """Return the row that has the score of every draw; None where every row is a draw.

    Examples
    --------
    >>> units, scores = Units(["a", "b", "a", "b"]).sample(4), np.array([1.0, 2.0, 3.0, 0.5])
    >>> deciding_rows(units, scores, units.reduce(scores)).tolist()
    [2, 1]
    """
    if sample.codes is None or sample.rows is None:
        return sample.rows
    rows = sample.rows.copy()
    # The first row of a unit that has its score. A row that was drawn has it already.
    found = np.flatnonzero((of_rows == of_draws[sample.codes]) & (of_rows[rows] != of_draws)[sample.codes])
    codes, first = np.unique(sample.codes[found], return_index=True)
    rows[codes] = found[first]
    return rows


def _missing(target: Numbers) -> npt.NDArray[np.bool_] | None:
    """Return which rows have no label, or None if all have one."""
    if target.dtype.kind != "f":
        return None
    missing = np.isnan(target)
    if not missing.any():
        return None
    return missing if missing.ndim == 1 else np.asarray(missing.reshape(len(missing), -1).any(axis=1))
