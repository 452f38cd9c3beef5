"""Group labels: which groups there are, and which row belongs to which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import name_rows
from pacband.exceptions import InvalidInput

__all__ = [
    "Label",
    "as_labels",
    "check_label",
    "factorize",
    "group_rows",
    "listed",
    "locate_rows",
    "refuse_labels",
    "refuse_unknown",
    "sorted_labels",
]

Label: TypeAlias = str | int | float | bool


def as_labels(groups: Any) -> npt.NDArray[Any]:
    """Return one label per row; missing labels are refused."""
    if isinstance(groups, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(groups))
        groups = groups.data
    if not isinstance(groups, (np.ndarray, list, tuple)):
        import narwhals as nw

        series = nw.from_native(groups, allow_series=True, pass_through=True)
        if isinstance(series, nw.Series):
            _refuse_missing(series.is_null().to_numpy())
            groups = series.to_numpy()
    labels = np.asarray(groups, dtype=object if isinstance(groups, (list, tuple)) else None)
    if labels.ndim != 1:
        raise InvalidInput(f"groups must have one label per row, got shape {labels.shape}.")
    if labels.dtype.kind == "O":
        _refuse_missing(np.array([label is None or label != label for label in labels], dtype=bool))
    elif labels.dtype.kind == "f":
        _refuse_missing(np.isnan(labels))
    return labels


def group_rows(labels: npt.NDArray[Any]) -> dict[Label, npt.NDArray[np.intp]]:
    """Return the rows of every group, groups in sorted order."""
    names, codes = factorize(labels)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    return dict(zip(names, np.split(order, ends[:-1]), strict=True))


def locate_rows(labels: npt.NDArray[Any], places: Mapping[Label, int]) -> npt.NDArray[np.intp]:
    """Return the place of every row's label; a label without a place is refused."""
    names, codes = factorize(labels)
    refuse_unknown(names, places, "groups")
    return np.array([places[name] for name in names], dtype=np.intp)[codes]


def refuse_unknown(names: Iterable[Label], known: Mapping[Label, Any], where: str) -> None:
    """Raise where a label has no certificate; `where` is what the error calls the labels."""
    unknown = [name for name in names if name not in known]
    if unknown:
        refuse_labels(unknown, known, where)


def refuse_labels(unknown: Iterable[Any], known: Iterable[Any], where: str) -> NoReturn:
    """Raise for labels without a certificate."""
    raise InvalidInput(f"{where} has labels without a certificate: {listed(unknown)}. Certified are {listed(known)}.")


def factorize(labels: npt.NDArray[Any]) -> tuple[list[Label], npt.NDArray[np.intp]]:
    """Return the distinct labels in sorted order, and which of them each row has."""
    if labels.dtype.kind != "O":
        unique, codes = np.unique(labels, return_inverse=True)
        names: list[Any] = unique.tolist()
    else:
        order: dict[Any, int] = {}
        try:
            found = np.fromiter((order.setdefault(label, len(order)) for label in labels), np.intp, len(labels))
        except TypeError:  # it cannot be a key
            for label in labels:
                check_label(label)
            raise
        ranked = sorted_labels(order)
        position = np.empty(len(order), dtype=np.intp)
        position[[order[label] for label in ranked]] = np.arange(len(order))
        names = [label.item() if isinstance(label, np.generic) else label for label in ranked]
        codes = position[found]
    for name in names:
        check_label(name)
    return names, codes


def check_label(label: Any) -> None:
    """Raise unless this can name a group in a certificate."""
    if not isinstance(label, (str, int, float)) or label in (math.inf, -math.inf):
        raise InvalidInput(f"group labels must be strings, finite numbers or booleans, got {label!r}.")


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Return labels in sorted order, type by type."""
    return sorted(labels, key=lambda label: (type(label).__name__, label))


def _refuse_missing(missing: npt.NDArray[np.bool_]) -> None:
    if missing.any():
        raise InvalidInput(f"groups must have a label in every row: it is missing in {name_rows(missing)}.")


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Return the first few labels or names of columns in words."""
    given = list(names)
    shown = ", ".join(repr(name) for name in given[:most])
    return shown if len(given) <= most else f"{shown} and {len(given) - most} more"
