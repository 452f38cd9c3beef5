"""Group labels: the distinct groups, and the group of every row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import name_rows
from pacband.core.cells import spelled
from pacband.exceptions import InvalidInput

__all__ = [
    "Label",
    "as_labels",
    "check_label",
    "factorize",
    "group_rows",
    "listed",
    "refuse_two_spellings",
    "sorted_labels",
]

Label: TypeAlias = str | int | float | bool

_BEGINS_NUMBER = tuple("-0123456789")


def as_labels(groups: Any, name: str = "groups") -> npt.NDArray[Any]:
    """Return one label per row, or raise if a label is missing. An error calls what has the labels by `name`."""
    if isinstance(groups, np.ma.MaskedArray):
        _refuse_missing(name, np.ma.getmaskarray(groups))
        groups = groups.data
    if not isinstance(groups, (np.ndarray, list, tuple)):
        import narwhals as nw

        series = nw.from_native(groups, allow_series=True, pass_through=True)
        if isinstance(series, nw.Series):
            _refuse_missing(name, series.is_null().to_numpy())
            groups = series.to_numpy()
    labels = np.asarray(groups, dtype=object if isinstance(groups, (list, tuple)) else None)
    if labels.ndim != 1:
        raise InvalidInput(f"{name} must have one label per row, got shape {labels.shape}.")
    if labels.dtype.kind in "mM":
        what = "group labels" if name == "groups" else f"labels of {name}"
        raise InvalidInput(f"{what} must be strings, finite numbers or booleans, got {labels.dtype}.")
    if labels.dtype.kind == "O":
        _refuse_missing(name, np.array([_is_missing(label) for label in labels], dtype=bool))
    elif labels.dtype.kind == "f":
        _refuse_missing(name, np.isnan(labels))
    return labels


def group_rows(labels: npt.NDArray[Any]) -> dict[Label, npt.NDArray[np.intp]]:
    """Return the rows of every group, with the groups in sorted order."""
    names, codes = factorize(labels)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    return dict(zip(names, np.split(order, ends[:-1]), strict=True))


def factorize(labels: npt.NDArray[Any]) -> tuple[list[Label], npt.NDArray[np.intp]]:
    """Return the distinct labels in sorted order, and for every row the position of its label among them."""
    if labels.dtype.kind != "O":
        unique, codes = np.unique(labels, return_inverse=True)
        names: list[Any] = unique.tolist()
    else:
        order: dict[Any, int] = {}
        try:
            found = np.fromiter((order.setdefault(label, len(order)) for label in labels), np.intp, len(labels))
        except TypeError:  # a label that is not hashable
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
    """Raise unless a label is a text, a finite number or a boolean, which JSON can store."""
    if not isinstance(label, (str, int, float)) or label in (math.inf, -math.inf):
        raise InvalidInput(f"group labels must be strings, finite numbers or booleans, got {label!r}.")


def refuse_two_spellings(labels: Iterable[Label], plural: str) -> None:
    """Raise if a label is written in two ways, as 7 and "7", or "7" and "7.0": it would count as two.

    Texts of other numbers, such as "1.1" and "1.10", are names.

    >>> refuse_two_spellings(["7", "A7", "7.0"], "machines")
    Traceback (most recent call last):
    ...
    pacband.exceptions.InvalidInput: machines must be written in one way each: '7' and '7.0' would count as two.
    """
    given = list(labels)
    if not any(isinstance(label, str) and label[:1] in _BEGINS_NUMBER for label in given):
        return
    known: dict[str, Label] = {}
    for label in given:
        text = spelled(label) if not isinstance(label, str) or label[:1] in _BEGINS_NUMBER else None
        if text is None:
            continue
        first = known.setdefault(text, label)
        if first != label and (isinstance(first, str) != isinstance(label, str) or text.lstrip("-").isdecimal()):
            raise InvalidInput(f"{plural} must be written in one way each: {first!r} and {label!r} would count as two.")


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Return labels in sorted order, grouped by type."""
    return sorted(labels, key=lambda label: (type(label).__name__, label))


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or the missing value of pandas, which does not compare."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _refuse_missing(name: str, missing: npt.NDArray[np.bool_]) -> None:
    if missing.any():
        raise InvalidInput(f"{name} must have a label in every row: it is missing in {name_rows(missing)}.")


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Return the first few labels or column names as a text: "'a', 'b' and 3 more"."""
    given = list(names)
    shown = ", ".join(repr(name) for name in given[:most])
    return shown if len(given) <= most else f"{shown} and {len(given) - most} more"
