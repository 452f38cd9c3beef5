"""Where does a condition that only ever turns true turn true, on a line of integers or of floats."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Callable

__all__ = ["first", "first_float", "float_at", "ordinal"]


def first(holds: Callable[[int], bool], numbers: range, guess: float) -> int:
    """Return the first of consecutive numbers from which on `holds` is true, or the end of the range.

    Bisection, in a bracket that doubles around the guess until it holds the answer: a good guess makes it
    quick, a bad one costs no more than a few steps.
    """
    low, high = numbers.start, numbers.stop
    at, step = min(max(int(guess), low), high - 1) if math.isfinite(guess) else low, 1
    if holds(at):
        high = at
        while high > low:
            probe = max(low, high - step)
            if not holds(probe):
                low = probe + 1
                break
            high, step = probe, 2 * step
    else:
        low = at + 1
        while low < high:
            probe = min(high - 1, low + step - 1)
            if holds(probe):
                high = probe
                break
            low, step = probe + 1, 2 * step
    return low + bisect_left(range(low, high), True, key=holds)


def first_float(holds: Callable[[float], bool], guess: float) -> float:
    """Return the first float in (0, 1) from which on `holds` is true, or 1.0."""
    return float_at(first(lambda place: holds(float_at(place)), range(1, ordinal(1.0)), guess=ordinal(guess)))


def ordinal(value: float) -> int:
    """Return the place of a float among all floats: consecutive ones have consecutive places, both zeros have 0."""
    # Positive floats are ordered as the integers that share their bits.
    bits = int.from_bytes(struct.pack(">d", abs(value)), "big")
    return -bits if value < 0.0 else bits


def float_at(place: int) -> float:
    """Return the float at a place."""
    value = float(struct.unpack(">d", abs(place).to_bytes(8, "big"))[0])
    return -value if place < 0 else value
