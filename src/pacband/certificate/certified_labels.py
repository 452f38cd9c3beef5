"""Match row labels with the groups of a certificate, and refuse labels that have no certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from pacband.core.labels import Label, factorize, listed
from pacband.exceptions import InvalidInput

__all__ = ["locate_rows", "refuse_labels", "refuse_unknown"]


def locate_rows(labels: npt.NDArray[Any], places: Mapping[Label, int]) -> npt.NDArray[np.intp]:
    """Return the place of every row's label, or raise if a label has no place."""
    names, codes = factorize(labels)
    refuse_unknown(names, places, "groups")
    return np.array([places[name] for name in names], dtype=np.intp)[codes]


def refuse_unknown(names: Iterable[Label], known: Mapping[Label, Any], where: str) -> None:
    """Raise if a label has no certificate. The error calls the labels `where`."""
    unknown = [name for name in names if name not in known]
    if unknown:
        refuse_labels(unknown, known, where)


def refuse_labels(unknown: Iterable[Any], known: Iterable[Any], where: str) -> NoReturn:
    """Raise the error for labels without a certificate."""
    raise InvalidInput(f"{where} has labels without a certificate: {listed(unknown)}. Certified are {listed(known)}.")
