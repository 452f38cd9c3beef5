"""Which rows violate a certificate, by its own rule; and which cannot say, since their label has not come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.certified_labels import locate_rows
from pacband.core.arrays import Numbers, as_numbers, check_same_rows
from pacband.core.labels import Label, as_labels
from pacband.exceptions import InvalidInput
from pacband.scores import Spread

__all__ = ["Judge", "Judged"]


@dataclass(frozen=True)
class Judged:
    """What became of the rows of one group: a violation or not where there was a label, and how many had none."""

    violated: npt.NDArray[np.bool_]
    unlabelled: int


_NOTHING = np.empty(0, dtype=np.bool_)


class Judge:
    """Compares rows with the bound of a certificate: the best of a family, each row's own of groups."""

    def __init__(self, certificate: Certificate | FamilyCertificate | GroupCertificate) -> None:
        if isinstance(certificate, GroupCertificate):
            self.parts: dict[Label | None, Certificate] = dict(certificate.groups.items())
        elif isinstance(certificate, FamilyCertificate):
            self.parts = {None: certificate.certificate}
        elif isinstance(certificate, Certificate):
            self.parts = {None: certificate}
        else:
            raise InvalidInput(f"certificate must be a pacband certificate, got {type(certificate).__name__}.")
        self._any = next(iter(self.parts.values()))
        self._rule = self._any.rule
        self._labels = list(self.parts)
        self._places = {label: place for place, label in enumerate(self.parts) if label is not None}
        self._gammas = np.array([part.gamma for part in self.parts.values()])

    @property
    def scale_kind(self) -> str:
        """Which scale the certificate takes: "none", "symmetric" or "asymmetric"."""
        return self._any.scale_kind

    def judged(self, y: Any, y_pred: Any, scale: Any, groups: Any) -> dict[Label | None, Judged]:
        """Return what became of the rows of every part that has any, rows in their order; or raise."""
        check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
        target, prediction = self._rows("y", y), self._rows("y_pred", y_pred)
        if target.shape != prediction.shape:
            raise InvalidInput(f"y and y_pred must have the same shape, got {target.shape} and {prediction.shape}.")
        self._any.check_scale(scale)
        spread = self._rule.spread(scale, target.shape)
        codes = self._codes(groups, len(target))
        missing = _missing(target)
        without: dict[Label | None, int] = {}
        if missing is not None:
            without = self._counted(None if codes is None else codes[missing], int(np.count_nonzero(missing)))
            keep = ~missing
            target, prediction = target[keep], prediction[keep]
            spread = Spread(tuple(part[keep] for part in spread.parts), spread.floor)
            codes = codes if codes is None else codes[keep]
        scores = self._rule.score_rows(target, prediction, spread)
        if codes is None:
            violated: dict[Label | None, npt.NDArray[np.bool_]] = {None: scores > self._any.gamma}
        else:
            violated = self._split(scores > self._gammas[codes], codes)
        # Only parts that have rows are touched: a batch costs what its rows cost, however many groups there are.
        return {
            label: Judged(violated.get(label, _NOTHING), without.get(label, 0)) for label in {**violated, **without}
        }

    def _split(
        self, violated: npt.NDArray[np.bool_], codes: npt.NDArray[np.intp]
    ) -> dict[Label | None, npt.NDArray[np.bool_]]:
        """Return the rows of every part, in their order, by one sort."""
        if not len(codes):
            return {}
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        pieces = np.split(violated[order], starts[1:])
        return {self._labels[code]: piece for code, piece in zip(ordered[starts].tolist(), pieces, strict=True)}

    def _counted(self, codes: npt.NDArray[np.intp] | None, n_rows: int) -> dict[Label | None, int]:
        """Return the number of rows of every part that has any."""
        if codes is None:
            return {None: n_rows}
        places, counts = np.unique(codes, return_counts=True)
        return {self._labels[place]: count for place, count in zip(places.tolist(), counts.tolist(), strict=True)}

    def _rows(self, name: str, value: Any) -> Numbers:
        """Return the column with one entry a row, where a lone row may come without its bracket."""
        array = as_numbers(name, value, scalar=True, empty=True)
        n_outputs = self._any.n_outputs
        if array.ndim == 0 or (array.ndim == 1 and n_outputs > 1 and len(array) == n_outputs):
            array = array[None]
        return self._any.check_outputs(name, array)

    def _codes(self, groups: Any, n_rows: int) -> npt.NDArray[np.intp] | None:
        """Return which part each row belongs to; None where there is but one."""
        if None in self.parts:
            if groups is not None:
                raise InvalidInput("groups were given, but the certificate has none.")
            return None
        if groups is None:
            raise InvalidInput("this certificate has groups: say of every row which one it belongs to.")
        labels = as_labels([groups] if isinstance(groups, (str, int, float, np.generic)) else groups)
        if len(labels) != n_rows:
            raise InvalidInput(f"y and groups must have one length, got {n_rows} and {len(labels)}.")
        return locate_rows(labels, self._places)


def _missing(target: Numbers) -> npt.NDArray[np.bool_] | None:
    """Return which rows have no label, or None where all have one."""
    if target.dtype.kind != "f":
        return None
    missing = np.isnan(target)
    if not missing.any():
        return None
    return missing if missing.ndim == 1 else np.asarray(missing.any(axis=1))
