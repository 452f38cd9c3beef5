"""Checks of arguments: each error states the rule and the value."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from pacband.exceptions import InvalidInput

__all__ = [
    "check_choice",
    "check_jobs",
    "check_positive",
    "check_positive_integer",
    "check_probability",
    "check_symmetric",
]


# Shares that must hold, not shares that may fail; and what to write if everything must hold.
_HELD = {
    "within": " If all rows must be inside, write 'all'.",
    "share": " If all steps must be inside, use gauge='max'.",
}


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float in the open interval (0, 1), or raise."""
    try:
        number = float(value)
    except OverflowError:  # an integer that is larger than every float
        number = math.inf
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number in (0, 1), got {value!r}.") from None
    if isinstance(value, (bool, str)) or not 0.0 < number < 1.0:
        hint = _explain_percentage(name, number) if 1.0 <= number < 100.0 or (name in _HELD and number == 100.0) else ""
        raise InvalidInput(f"{name} must be in (0, 1), got {value!r}.{hint}")
    return number


def _explain_percentage(name: str, number: float) -> str:
    """Return what to write instead of a percentage."""
    if name in _HELD:
        return _HELD[name] if number in (1.0, 100.0) else f" For {number:g} % write {number / 100:g}."
    if number > 50.0:
        other = 1 - number / 100
        return f" {name} is the share that may fail: if {number:g} % must hold, write {other:.6g}."
    return f" For {number:g} % write {number / 100:g}."


def check_positive(name: str, value: Any, *, or_zero: bool = False, error: type[InvalidInput] = InvalidInput) -> float:
    """Return `value` as a positive finite float, or raise `error`. With `or_zero`, zero is accepted as well."""
    rule = f"{name} must be {'zero or ' if or_zero else ''}a positive finite number"
    try:
        number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except OverflowError:  # an integer that is larger than every float
        raise error(f"{rule}, got an integer beyond the largest float.") from None
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number < math.inf or (number == 0.0 and not or_zero):
        raise error(f"{rule}, got {value!r}.")
    return number


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an int ≥ 1, or raise. Floats are refused, whole ones too."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be an integer, got {value!r}.") from None
    if isinstance(value, bool) or number < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value!r}.")
    return number


def check_jobs(n_jobs: Any) -> None:
    """Raise unless this is a number of jobs, as in joblib: None or a whole number other than 0."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InvalidInput(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}.")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless `value` is one of `choices`."""
    options = tuple(choices)
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidInput(f"{name} must be one of {listed}, got {value!r}.")


def check_symmetric(name: str, matrix: Any) -> None:
    """Raise unless a square array is finite and symmetric, up to a relative rounding error of 1e-10."""
    import numpy as np  # the checks of single numbers do without numpy

    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InvalidInput(f"{name} must be symmetric and finite.")
