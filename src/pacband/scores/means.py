"""Means that are the same to the last bit in any order of the rows, in any number of parts, on any engine.

Values v with |v| ≤ m are summed in fixed point. With the power of two u that brings m to at most 2³⁰,

    ⌊v·u⌋  and  ⌊(v·u − ⌊v·u⌋)·2³⁰⌋

are integers that every engine computes exactly, and sums of them do not depend on their order. The part that is cut off
is less than 2⁻⁵⁹ of m. `pacband.scores.expressions.fixed_terms` is the same for engines.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pacband.core.arrays import Floats, blocks

__all__ = ["exact_mean", "fixed_mean", "fixed_unit"]

STEP = 2.0**30


def fixed_unit(largest: float) -> float:
    """Return the power of two that brings numbers of at most this size to at most 2³⁰."""
    return math.ldexp(1.0, 30 - max(math.frexp(largest)[1], -990))


def fixed_mean(coarse: int, fine: int, unit: float, n_values: int) -> float:
    """Return the mean of n values from the sums of their coarse and their fine parts."""
    return float((Fraction(coarse) + Fraction(fine, 2**30)) / Fraction(unit) / n_values)


def exact_mean(values: Floats) -> float:
    """Return the mean of finite values.

    Examples
    --------
    >>> exact_mean(np.array([0.5, 1.5, 4.0]))
    2.0
    """
    flat = values.reshape(-1)
    unit = fixed_unit(max(abs(float(flat.min())), abs(float(flat.max()))))
    coarse = fine = 0
    for rows in blocks(len(flat)):
        scaled = flat[rows] * unit
        whole = np.floor(scaled)
        # Sums of 2¹⁴ integers of at most 2³⁰ are exact in float64.
        coarse += int(whole.sum())
        fine += int(np.floor((scaled - whole) * STEP).sum())
    return fixed_mean(coarse, fine, unit, len(flat))
