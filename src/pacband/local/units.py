"""The size of a target: the unit it is computed in, and the error that rounding leaves in it."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats

__all__ = ["rounding_error", "unit_of"]

_FLOAT = np.finfo(np.float64)


def unit_of(y: Floats) -> float:
    """Return the power of two just below max|y|, or 1 if y is zero.

    Squares of y in this unit neither overflow nor vanish, and a power of two changes no digit.

    >>> unit_of(np.array([5.0, -3.0]))
    4.0
    """
    largest = float(np.abs(y).max())
    return 2.0 ** float(np.clip(np.floor(np.log2(largest)), -1000, 1000)) if largest else 1.0


def rounding_error(y: Floats, unit: float = 1.0) -> float:
    """Return the rounding error of the data, 2.2e-16·max|y|·unit, or the smallest normal number if that is larger.

    σ̂ is at least this: a smaller error cannot be distinguished from zero, and a scale must be positive.
    """
    return max(float(_FLOAT.eps * np.abs(y).max()) * unit, float(_FLOAT.tiny))
