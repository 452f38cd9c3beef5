"""What to do about a finding, in the words of the place where it is read: a Python session or a command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["copies_cure", "drift_cure", "group_cure", "label_cure", "serial_cure", "shell_words"]

_SHELL: ContextVar[bool] = ContextVar("pacband_shell_words", default=False)


@contextmanager
def shell_words() -> Iterator[None]:
    """Name options of the command line, in place of arguments, while the block runs."""
    token = _SHELL.set(True)
    try:
        yield
    finally:
        _SHELL.reset(token)


def label_cure(column: str) -> str:
    """Return the cure for rows of one label that resemble each other. It depends on which rows are to come."""
    unit, group = (
        (f"--unit {column}", f"--group {column}")
        if _SHELL.get()
        else (f"draws=pacband.draws.Units({column!r})", f"group={column!r} (certify_groups for arrays)")
    )
    return (
        f"Do future rows come from new values of {column}, or from these? Use {unit} if new ones are to come, or "
        f"{group} if future rows come from these."
    )


def group_cure() -> str:
    """Return the cure for groups beyond a common bound. It depends on which rows are to come."""
    group, unit = ("--group", "--unit") if _SHELL.get() else ("certify_groups", "draws=pacband.draws.Units(labels)")
    return (
        f"Do future rows come from these groups, or from new ones? Certify every group by itself with {group} if they "
        f"come from these, or use {unit} if new groups are to come. A scale that depends on the group also helps."
    )


def serial_cure() -> str:
    """Return the cure for rows that depend on the rows before."""
    gap, unit = (
        ("--gap A", "--unit COLUMN")
        if _SHELL.get()
        else ("draws=pacband.draws.Spaced(a)", "draws=pacband.draws.Units(labels)")
    )
    return (
        f"Use {gap}, with a gap beyond which rows are independent, or {unit}, with a label for every machine, day or "
        "run."
    )


def drift_cure(row: int) -> str:
    """Return the cure for a distribution that changes near a row."""
    return f"Find out what changed near row {row}, and calibrate on later rows."


def copies_cure() -> str:
    """Return the cure for rows that repeat."""
    return "Remove the repeated rows, and find their cause: a join, a retry, files that overlap."
