"""Which rows violate a certificate, by its own rule; and which cannot say, since their label has not come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband._arrays import Numbers, as_numbers, check_same_rows
from pacband._labels import Label, as_labels, locate_rows
from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
from pacband.exceptions import InvalidInput
from pacband.scores import Spread

__all__ = ["Judge", "Judged"]


@dataclass(frozen=True)
class Judged:
    """What became of the rows of one group: a violation or not where there was a label, and how many had none."""

    violated: npt.NDArray[np.bool_]
    unlabelled: int


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
        self._gammas = np.array([part.gamma for part in self.parts.values()])

    @property
    def scale_kind(self) -> str:
        """Which scale the certificate takes: "none", "symmetric" or "asymmetric"."""
        return self._any.scale_kind

    def judged(self, y: Any, y_pred: Any, scale: Any, groups: Any) -> list[Judged]:
        """Return what became of the rows of every part, rows in their order; or raise."""
        check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
        target, prediction = self._rows("y", y), self._rows("y_pred", y_pred)
        if target.shape != prediction.shape:
            raise InvalidInput(f"y and y_pred must have the same shape, got {target.shape} and {prediction.shape}.")
        self._any.check_scale(scale)
        spread = self._rule.spread(scale, target.shape)
        codes = self._codes(groups, len(target))
        missing = _missing(target)
        without = np.zeros(len(self.parts), dtype=np.intp)
        if missing is not None:
            absent = np.zeros(np.count_nonzero(missing), dtype=np.intp) if codes is None else codes[missing]
            without = np.bincount(absent, minlength=len(self.parts))
            keep = ~missing
            target, prediction = target[keep], prediction[keep]
            spread = Spread(tuple(part[keep] for part in spread.parts), spread.floor)
            codes = codes if codes is None else codes[keep]
        scores = self._rule.score_rows(target, prediction, spread)
        if codes is None:
            return [Judged(scores > self._any.gamma, int(without[0]))]
        violated = scores > self._gammas[codes]
        return [Judged(violated[codes == code], int(without[code])) for code in range(len(self.parts))]

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
        labels = as_labels([groups] if isinstance(groups, (str, int, float)) else groups)
        if len(labels) != n_rows:
            raise InvalidInput(f"y and groups must have one length, got {n_rows} and {len(labels)}.")
        return locate_rows(labels, [label for label in self.parts if label is not None])


def _missing(target: Numbers) -> npt.NDArray[np.bool_] | None:
    """Return which rows have no label, or None where all have one."""
    if target.dtype.kind != "f":
        return None
    missing = np.isnan(target)
    if not missing.any():
        return None
    return missing if missing.ndim == 1 else np.asarray(missing.any(axis=1))
