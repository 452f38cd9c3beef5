"""Runs in a table: a row is one step of a run, named by a column of runs and a column of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, as_numbers, name_rows
from pacband.core.labels import as_labels, factorize
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.tables.columns import read_values

__all__ = ["Runs", "gather_runs", "read_runs"]


@dataclass(frozen=True, eq=False)
class Runs:
    """Which rows of a table are the steps of which run.

    Attributes
    ----------
    rows : array of int, of shape (n, H)
        The row of the table that holds each step of each run. Runs are in the order of their first rows.
    steps : tuple of float
        The steps that every run has, in increasing order.
    run : str
        The column of runs.
    """

    rows: npt.NDArray[np.intp]
    steps: tuple[float, ...]
    run: str

    def of_steps(self, column: Any) -> Any:
        """Return numbers of steps, (n, H) or (n, H, k), from those of rows."""
        return column[self.rows]

    def of_runs(self, name: str, values: Any) -> npt.NDArray[Any]:
        """Return one label or number a run, or raise if a run has several."""
        column = as_labels(values)
        found = column[self.rows[:, 0]]
        mixed = column[self.rows] != found[:, None]
        if mixed.any():
            where = np.zeros(len(column), dtype=bool)
            where[self.rows[mixed]] = True
            raise InvalidInput(
                f"every run must have one value in column {name!r}, because a run is one draw: another one is in "
                f"{name_rows(where)}."
            )
        return found


def gather_runs(values: Mapping[str, Any], run: str, step: str, steps: tuple[float, ...] | None = None) -> Runs:
    """Return the runs of a table, or raise unless every run has the same steps, each of them once.

    Parameters
    ----------
    values : mapping of str to column
        The columns of the table.
    run, step : str
        The columns of runs and steps. Rows may be in any order.
    steps : tuple of float, optional
        The steps that every run must have; by default those that most runs have.
    """
    labels, codes = _codes(run, values[run])
    places = _steps(step, values[step])
    if not len(codes):
        raise InvalidInput("the table is empty: at least one run is needed.")
    order = np.lexsort((places, codes))
    ends = np.cumsum(np.bincount(codes))
    again = (places[order][1:] == places[order][:-1]) & (codes[order][1:] == codes[order][:-1])
    if again.any():
        row = order[1:][again][0]
        raise InvalidInput(
            f"every step of a run must be there once: run {labels[codes[row]]!r} has step {places[row]:g} more than "
            "once."
        )
    own = np.split(places[order], ends[:-1])
    wanted = np.asarray(steps) if steps is not None else _usual(own)
    for label, found in zip(labels, own, strict=True):
        if not np.array_equal(found, wanted):
            _refuse_run(label, found, wanted, certified=steps is not None)
    return Runs(order.reshape(len(own), len(wanted)), tuple(wanted.tolist()), run)


def read_runs(runs: Runs, values: Mapping[str, Any], columns: Columns) -> tuple[Any, Any, Any]:
    """Return y of shape (n, H, k), T and σ̂ of runs, as `certify` takes them."""
    target, prediction, *parts = (
        runs.of_steps(read_values(values, names)) for names in (columns.target, columns.prediction, *columns.scale)
    )
    # One output keeps its axis, so that the rows are runs.
    target, prediction = (array[..., None] if array.ndim == 2 else array for array in (target, prediction))
    return target, prediction, tuple(parts) if len(parts) == 2 else parts[0] if parts else None


def _codes(run: str, values: Any) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the runs in the order of their first rows, and the place of every row's run among them."""
    names, codes = factorize(as_labels(values, f"column {run!r}"))
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    place = np.empty(len(names), dtype=np.intp)
    place[order] = np.arange(len(names))
    return [names[k] for k in order], place[codes]


def _steps(step: str, values: Any) -> Floats:
    places = as_numbers(f"column {step!r}", values, empty=True).astype(np.float64)
    bad = ~np.isfinite(places)
    if bad.any():
        raise InvalidInput(f"column {step!r} must have a finite number in every row: it is not in {name_rows(bad)}.")
    return places


def _usual(own: list[Floats]) -> Floats:
    """Return the steps that most runs have."""
    ((steps, _),) = Counter(found.tobytes() for found in own).most_common(1)
    return np.frombuffer(steps)


def _refuse_run(label: Any, found: Floats, wanted: Floats, *, certified: bool) -> None:
    missing, extra = np.setdiff1d(wanted, found), np.setdiff1d(found, wanted)
    others = "the certified runs" if certified else "other runs"
    parts = []
    if len(missing):
        parts.append(f"lacks step {missing[0]:g}" + (f" and {len(missing) - 1} more" if len(missing) > 1 else ""))
    if len(extra):
        parts.append(f"has step {extra[0]:g}" + (f" and {len(extra) - 1} more" if len(extra) > 1 else "") + " too many")
    raise InvalidInput(
        f"every run must have the same steps: run {label!r} {' and '.join(parts)}, compared with the {len(wanted)} "
        f"steps of {others}. Leave the run out, or cut all runs to the steps that they share."
    )
