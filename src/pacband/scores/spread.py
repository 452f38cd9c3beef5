"""The scale σ̂ of every row, in the shape that the errors have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacband.core.arrays import Floats, Numbers, as_numbers, name_rows
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores.means import exact_mean
from pacband.scores.rule import SCALE_KINDS, ScoreRule

__all__ = ["Spread", "spread_of"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The scale of every row, in parts: () where σ̂ is one, (σ̂,), or the pair (σ̂⁻, σ̂⁺).

    A part is an array that broadcasts against the errors. `floor` is the declared min_scale.
    """

    parts: tuple[Numbers, ...]
    floor: float | None

    @property
    def kind(self) -> str:
        """Return "none", "symmetric" or "asymmetric"."""
        return SCALE_KINDS[len(self.parts)]

    def block(self, rows: slice) -> tuple[Floats, ...]:
        """Return the parts of these rows, floored; raise where one is not a positive finite number."""
        floored = tuple(self._floored(part[rows]) for part in self.parts)
        if not all(part.min() > 0.0 and part.max() < math.inf for part in floored):
            raise self._invalid()
        return floored

    def at(self, rows: Any) -> Spread:
        """Return the scale of some rows."""
        return Spread(tuple(part[rows] for part in self.parts), self.floor)

    def mean(self, weights: Floats | None = None) -> float:
        """Return the mean of σ̂ over the rows (of (σ̂⁻ + σ̂⁺)/2 for a pair); `weights` of mean one weigh the steps."""
        if not self.parts:
            return 1.0
        parts = self.block(slice(None))
        weighed = parts if weights is None else tuple(part * weights for part in parts)
        return sum(exact_mean(part) for part in weighed) / len(parts)

    def _floored(self, part: Numbers) -> Floats:
        if self.floor is None:
            return part.astype(np.float64, copy=False)
        # fmax lets a NaN scale fall to the floor as well.
        return np.fmax(part, self.floor, dtype=np.float64)

    def _invalid(self) -> InvalidScale:
        bad = np.zeros(len(self.parts[0]), dtype=bool)
        for part in self.parts:
            floored = self._floored(part)
            unsound = ~((floored > 0.0) & (floored < np.inf))
            bad |= unsound.reshape(len(unsound), -1).any(axis=1)
        cure = "" if self.floor is not None else " Declare a min_scale to put a floor under it."
        return InvalidScale(
            f"scale must be positive and finite in every row: it is zero, negative, NaN or infinite in "
            f"{name_rows(bad)}.{cure}"
        )


def spread_of(rule: ScoreRule, scale: Any, shape: tuple[int, ...]) -> Spread:
    """Return the scale that a user passed, or raise unless its shape fits rows of this shape."""
    if scale is None:
        return Spread((), rule.min_scale)
    pair = isinstance(scale, tuple)
    if pair and len(scale) != 2:
        raise InvalidInput(f"a scale pair must be (lower, upper), got {len(scale)} parts.")
    if pair and (rule.side != "both" or rule.matrices):
        raise InvalidInput("a scale pair (lower, upper) needs side='both' and a gauge without a matrix.")
    # An ellipsoid has one size: σ̂ is one number a row, or a step of a run.
    error_shape = shape[: 2 if len(shape) == 3 else 1] if rule.matrices else shape
    return Spread(tuple(_scale_part(part, error_shape) for part in (scale if pair else (scale,))), rule.min_scale)


def _scale_part(part: Any, shape: tuple[int, ...]) -> Numbers:
    array = as_numbers("scale", part, scalar=True, empty=True, runs=True)
    if array.ndim == 0:
        return np.broadcast_to(array, shape)
    if len(shape) == 3 and array.ndim == 2 and array.shape[1] == shape[1] * shape[2]:
        # A run that is one row of a table has the outputs of its first step first, as y and T(x) have.
        array = array.reshape(len(array), *shape[1:])
    # One value a row, or a step, is the same for all that belongs to it.
    wide = array.reshape(*array.shape, *(1,) * (len(shape) - array.ndim)) if array.ndim <= len(shape) else array
    fits = wide.ndim == len(shape) and len(wide) == shape[0]
    if not fits or any(here not in (1, there) for here, there in zip(wide.shape[1:], shape[1:], strict=True)):
        hint = " A pair is a tuple (lower, upper)." if 2 in array.shape else ""
        if len(shape) == 3:
            hint += " For runs it may have one value a run (n,), a step (n, H), or a step and output (n, H, k) "
            hint += "or (n, H·k)."
        raise InvalidInput(f"scale must have one value per row of shape {shape}, got shape {array.shape}.{hint}")
    return wide
