r"""The known range of a target: the ends of a band are clipped to it.

If y never leaves [a, b], then y ∈ [l, u] if and only if y ∈ [l, u] ∩ [a, b]. The clipped band has the promise of the
band, and is never wider. Scores, ranks and predictions do not change. If the whole band lies outside of the range, both
ends are the end of the range that is nearest: the band is one value, a or b. Such a row violates the bound wherever y
lies, so that a band with this value promises no less. `check` and the monitor count it as a violation.

A target outside of the range shows that the assumption is wrong. At calibration it is refused. Afterwards it is outside
of every clipped band: it counts as a violation, by an infinite score, and is never left out.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, Numbers, name_rows
from pacband.exceptions import InvalidInput

__all__ = [
    "Clip",
    "check_clip",
    "clip_ends",
    "left_range_words",
    "outside_range",
    "outside_words",
    "range_assumption",
    "refuse_outside",
]

# The smallest and the largest value that y may have; None where it has no limit on that side.
Clip: TypeAlias = tuple[float | None, float | None]


def check_clip(clip: Any) -> Clip | None:
    """Return the range as a pair of numbers, or None if there is none; raise unless low < high.

    Examples
    --------
    >>> check_clip((0, None))
    (0.0, None)
    >>> check_clip((0, float("inf")))
    (0.0, None)
    """
    if clip is None:
        return None
    if not isinstance(clip, (tuple, list)) or len(clip) != 2:
        raise InvalidInput(f"clip must be a pair (low, high) of numbers or None, got {clip!r}.")
    low, high = (_limit(clip, value, without) for value, without in zip(clip, (-math.inf, math.inf), strict=True))
    if low is not None and high is not None and low >= high:
        raise InvalidInput(f"clip must be a pair (low, high) with low < high, got {clip!r}.")
    return None if low is None and high is None else (low, high)


def _limit(clip: Any, value: Any, without: float) -> float | None:
    """Return one end of the range as a number; None where it has no limit."""
    if value is None or value == without:
        return None
    try:
        number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"clip must be a pair (low, high) of numbers or None, got {clip!r}.")
    # −0.0 would be printed, and would not be the end that an engine gives.
    return number + 0.0


def clip_ends(clip: Clip | None, ends: Floats) -> None:
    """Replace the ends of bands that leave the range by the end of the range. Changes `ends` in place.

    Examples
    --------
    >>> ends = np.array([[-1.0, 2.0], [3.0, 4.0], [-5.0, -4.0]])
    >>> clip_ends((0.0, 3.5), ends)
    >>> ends.tolist()
    [[0.0, 2.0], [3.0, 3.5], [0.0, 0.0]]
    """
    low, high = clip or (None, None)
    if low is not None:
        ends[ends < low] = low
    if high is not None:
        ends[ends > high] = high


def refuse_outside(clip: Clip | None, target: Numbers) -> None:
    """Raise if a target lies outside of the range: then the assumption is wrong, and so is a clipped band."""
    outside = outside_range(clip, target)
    if clip is not None and outside is not None:
        raise InvalidInput(f"{outside_words(clip, 'y')} in {name_rows(outside)}.")


def outside_range(clip: Clip | None, target: Numbers) -> npt.NDArray[np.bool_] | None:
    """Return which targets lie outside of the range; None if none does. NaN does not.

    Examples
    --------
    >>> outside_range((0.0, None), np.array([-1.0, 0.0, 2.0])).tolist()
    [True, False, False]
    """
    low, high = clip or (None, None)
    outside = np.zeros(target.shape, dtype=bool)
    # In float64, as all arithmetic: the float32 nearest to 99.9 is larger than 99.9, and as float32 both are equal.
    if low is not None:
        outside |= np.less(target, low, signature="dd->?")
    if high is not None:
        outside |= np.greater(target, high, signature="dd->?")
    return outside if outside.any() else None


def left_range_words(n_rows: int) -> str:
    """Return what is to be known of rows whose target left the range after calibration; nothing if there are none.

    Examples
    --------
    >>> left_range_words(1)
    'In 1 row y left its declared range, to which bands are clipped: the row is outside of every band.'
    """
    if not n_rows:
        return ""
    rows, are = ("1 row", "the row is") if n_rows == 1 else (f"{n_rows} rows", "these rows are")
    return f"In {rows} y left its declared range, to which bands are clipped: {are} outside of every band."


def outside_words(clip: Clip, name: str) -> str:
    """Return the rule for targets and that it is broken, without the rows."""
    return f"{name} must lie in {_range_words(clip)}, the range of clip: it does not"


def range_assumption(clip: Clip) -> str:
    """Return what a promise with a clipped band rests on, too.

    >>> range_assumption((0.0, None))
    'the target y never leaves [0, ∞), to which the ends of the band are clipped'
    """
    return f"the target y never leaves {_range_words(clip)}, to which the ends of the band are clipped"


def _range_words(clip: Clip) -> str:
    low, high = clip
    lower = "(−∞" if low is None else f"[{repr(low).removesuffix('.0').replace('-', '−')}"
    upper = "∞)" if high is None else f"{repr(high).removesuffix('.0').replace('-', '−')}]"
    return f"{lower}, {upper}"
