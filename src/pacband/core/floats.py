"""Find the first integer or float at which a monotone condition becomes true."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Callable

__all__ = ["first", "first_float", "float_at", "ordinal"]


def first(holds: Callable[[int], bool], numbers: range, guess: float) -> int:
    """Return the first number of a range for which `holds` is true, or the end of the range.

    `holds` must be monotone: if it is true for a number, it is true for all larger ones. The search doubles a bracket
    around the guess until it contains the answer, and then bisects. A good guess makes it fast; a bad guess costs a
    few more steps.
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
    """Return the first float in (0, 1) for which the monotone condition `holds` is true, or 1.0."""
    return float_at(first(lambda place: holds(float_at(place)), range(1, ordinal(1.0)), guess=ordinal(guess)))


def ordinal(value: float) -> int:
    """Return the place of a float among all floats. Neighbouring floats have neighbouring places; both zeros have 0."""
    # Positive floats have the same order as the integers with the same bits.
    bits = int.from_bytes(struct.pack(">d", abs(value)), "big")
    return -bits if value < 0.0 else bits


def float_at(place: int) -> float:
    """Return the float at a place."""
    value = float(struct.unpack(">d", abs(place).to_bytes(8, "big"))[0])
    return -value if place < 0 else value
