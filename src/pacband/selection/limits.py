"""How many rows and scores are in memory at a time. The limits change memory and passes, never a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

__all__ = ["Limits", "current_limits", "use_limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is fetched, kept or read at a time.

    Attributes
    ----------
    sample : int
        A table in an engine with at most this many rows is fetched whole. Of a larger table, this many rows are
        fetched as the sample from which the search starts.
    few : int
        The most scores that one search fetches.
    few_in_all : int
        The most scores that all searches of a pass fetch.
    kept : int
        The most scores that an engine keeps in a pass, over all groups.
    together : int
        The most candidates that share their passes. The next candidates are certified after them, in the same memory.
    piece : int
        The number of scores that are read back from a temporary file at a time.
    """

    sample: int = 1 << 17
    few: int = 1 << 19
    few_in_all: int = 1 << 22
    kept: int = 1 << 23
    together: int = 50
    piece: int = 1 << 20


_CURRENT: ContextVar[Limits] = ContextVar("pacband_limits", default=Limits())  # noqa: B039, a frozen value


def current_limits() -> Limits:
    """Return the limits that are in force."""
    return _CURRENT.get()


@contextmanager
def use_limits(**sizes: int) -> Iterator[Limits]:
    """Put other limits in force inside a ``with`` block.

    Examples
    --------
    >>> with use_limits(few=100):
    ...     current_limits().few
    100
    """
    token = _CURRENT.set(replace(_CURRENT.get(), **sizes))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)
