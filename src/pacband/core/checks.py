"""Checks of scalar arguments: each error states the rule and the value."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from pacband.exceptions import InvalidInput

__all__ = ["check_choice", "check_positive_integer", "check_probability"]


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float in the open interval (0, 1), or raise."""
    try:
        number = float(value)
    except OverflowError:  # an integer that no float comes near
        number = math.inf
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number in (0, 1), got {value!r}.") from None
    if isinstance(value, (bool, str)) or not 0.0 < number < 1.0:
        percent = _percentage(name, number) if 1.0 <= number < 100.0 else ""
        raise InvalidInput(f"{name} must be in (0, 1), got {value!r}.{percent}")
    return number


def _percentage(name: str, number: float) -> str:
    """What someone who wrote a percentage should write."""
    if number > 50.0:
        other = 1 - number / 100
        return f" {name} is the small one of two: for {number:g} % of what should hold, write {other:.6g}."
    return f" For {number:g} % write {number / 100:g}."


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an int ≥ 1, or raise. Floats are refused: a rank is never a quantile level."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be an integer, got {value!r}.") from None
    if isinstance(value, bool) or number < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value!r}.")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless `value` is one of `choices`."""
    options = tuple(choices)
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidInput(f"{name} must be one of {listed}, got {value!r}.")
