"""The rows of every group: by one label a row, or by masks of groups that may overlap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import check_lengths, name_rows
from pacband.core.cells import spelled
from pacband.core.labels import Label, as_labels, check_label, factorize, group_rows, listed
from pacband.exceptions import InvalidInput

__all__ = ["Masks", "as_masks", "cells_of", "group_members", "groups_of_columns", "name_groups", "refuse_same_groups"]

# For every group, whether each row is in it.
Masks = dict[Label, npt.NDArray[np.bool_]]


def as_masks(groups: Mapping[Any, Any]) -> Masks:
    """Return the masks of groups that may overlap, or raise unless every row is in a group.

    Examples
    --------
    >>> as_masks({"night": [True, True, False], "north": [False, True, True]})["night"]
    array([ True,  True, False])
    """
    if not groups:
        raise InvalidInput("groups must have at least one mask, got none.")
    masks = {}
    for name, given in groups.items():
        check_label(name)
        labels = as_labels(given)
        mask = np.asarray(labels.tolist()) if labels.dtype.kind == "O" and len(labels) else labels
        if mask.dtype.kind != "b" and len(mask):
            raise InvalidInput(f"group {name!r} must be a mask, True for the rows in it, got values of {mask.dtype}.")
        masks[name] = mask.astype(np.bool_)
    check_lengths(**{f"group {name!r}": mask for name, mask in masks.items()})
    outside = ~np.logical_or.reduce(list(masks.values()))
    if outside.any():
        raise InvalidInput(
            f"every row must be in a group, because only groups have a bound: outside of all groups are "
            f"{name_rows(outside)}. Leave these rows out, or add a group of all rows."
        )
    return masks


def cells_of(masks: Masks) -> npt.NDArray[np.uint64]:
    """Return a number for every row that is the same for rows in the same groups."""
    # The sum of random numbers, one for each group, differs between different groups but for a chance of 2⁻⁶⁴.
    keys = np.random.default_rng(0).integers(0, 2**63, len(masks), dtype=np.uint64)
    found = np.zeros(len(next(iter(masks.values()))), dtype=np.uint64)
    for key, mask in zip(keys, masks.values(), strict=True):
        found += key * mask
    return found


def group_members(
    groups: Any, assign: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] = lambda labels: labels
) -> dict[Label, npt.NDArray[np.intp]]:
    """Return the rows of every group, given one label a row or a mapping of masks.

    `assign` returns the labels of draws from those of rows.
    """
    if not isinstance(groups, Mapping):
        return group_rows(assign(as_labels(groups)))
    return {name: np.flatnonzero(assign(mask)) for name, mask in as_masks(groups).items()}


def name_groups(column: str, labels: list[Label]) -> dict[Label, Label]:
    """Return the names of the groups of a column of labels, such as 'site=north'.

    Raises `InvalidInput` if labels are missing, or if two of them cannot be distinguished.
    """
    if missing := [label for label in labels if spelled(label) is None]:
        raise InvalidInput(f"column {column!r} must have a label in every row, got {missing[0]!r} in some.")
    # Labels have one spelling in every kind of table: 1, 1.0 and "1" are one label.
    names: dict[Label, Label] = {label: f"{column}={spelled(label)}" for label in labels}
    if len(set(names.values())) < len(names):
        raise InvalidInput(
            f"the labels of column {column!r} must be distinguishable as texts, got {listed(labels)}: write each label "
            "in one way."
        )
    return names


def groups_of_columns(columns: Mapping[str, Any]) -> Masks:
    """Return the masks of the groups that several columns of labels make: every label of every column is one."""
    masks: Masks = {}
    for column, values in columns.items():
        labels, codes = factorize(as_labels(values))
        own = {name: codes == code for code, name in enumerate(name_groups(column, labels).values())}
        refuse_same_groups(masks, own)
        masks |= own
    return masks


def refuse_same_groups(known: Mapping[Label, Any], more: Mapping[Label, Any]) -> None:
    """Raise if two columns of labels make a group of one name."""
    if same := [name for name in more if name in known]:
        raise InvalidInput(f"two columns make a group {same[0]!r}: rename one of them.")
