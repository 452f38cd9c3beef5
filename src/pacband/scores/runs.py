"""The shape of rows: one number, k outputs, or a run of H steps with k outputs each.

Rows of shape (n, H, k) are runs. Rows of shape (n, H) are k = H outputs. The promise of runs of one output is the same
as that of H outputs, and only its words differ. A gauge over steps (`Share`, or a matrix for each step) makes runs of
them as well.
"""

from __future__ import annotations

from typing import Any, TypedDict

from pacband.core.arrays import Numbers, as_numbers
from pacband.exceptions import InvalidInput
from pacband.scores.rule import ScoreRule

__all__ = ["RowShape", "as_rows", "row_shape"]


class RowShape(TypedDict):
    """The number of outputs, and of steps; None where a row has no steps."""

    n_outputs: int
    n_steps: int | None


def as_rows(
    rule: ScoreRule, name: str, value: Any, *, steps: int | None = None, scalar: bool = False, empty: bool = False
) -> Numbers:
    """Return rows as numbers of shape (n,), (n, k), or (n, H, k) for runs.

    Parameters
    ----------
    rule : ScoreRule
        How rows are scored.
    name : str
        What an error calls the rows.
    value : array-like
        The rows.
    steps : int, optional
        The number of steps, if the rows are known to be runs: (n, H) is then (n, H, 1).
    scalar, empty : bool
        As in `as_numbers`.
    """
    array = as_numbers(name, value, scalar=scalar, empty=empty, runs=True)
    if array.ndim == 2 and (steps is not None or rule.over_steps):
        return array[:, :, None]
    if array.ndim == 1 and steps == 1:
        return array[:, None, None]
    if array.ndim == 1 and rule.over_steps and steps is None:
        raise InvalidInput(
            f"a gauge over steps needs runs: {name} must have shape (n, H) or (n, H, k), got {array.shape}."
        )
    return array


def row_shape(rows: Numbers) -> RowShape:
    """Return the number of outputs and steps of rows, as a certificate states them."""
    outputs = int(rows.shape[-1]) if rows.ndim > 1 else 1
    return {"n_outputs": outputs, "n_steps": int(rows.shape[1]) if rows.ndim == 3 else None}
