"""Values of ε and δ that are valid, but usually a mistake: a confidence in place of the share that may fail."""

from __future__ import annotations

import warnings

from pacband.core.callers import caller_level
from pacband.exceptions import UnlikelyPromise

__all__ = ["warn_of_mistakes"]


def warn_of_mistakes(*, eps: float | None = None, delta: float | None = None) -> None:
    """Issue one `UnlikelyPromise` if ε or δ is more than half. Such a promise is valid, but says little.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_mistakes(eps=0.95, delta=0.01)
    >>> print(found[0].message)  # doctest: +NORMALIZE_WHITESPACE
    eps is the share of errors that may exceed the bound: 0.95 is more than half. For at least 95 %
    within the bound, eps is 0.05.
    """
    words = []
    if eps is not None and eps > 0.5:
        words.append(
            f"eps is the share of errors that may exceed the bound: {eps:g} is more than half. For at least "
            f"{_percent(eps)} within the bound, eps is {1 - eps:.6g}."
        )
    if delta is not None and delta > 0.5:
        words.append(
            f"delta is the probability that the promise fails: {delta:g} is more than half. For a confidence of "
            f"{_percent(delta)}, delta is {1 - delta:.6g}."
        )
    if words:
        warnings.warn(UnlikelyPromise(" ".join(words)), stacklevel=caller_level())


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"
