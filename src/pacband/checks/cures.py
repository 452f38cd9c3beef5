"""What to do about a finding, in the words of Python. The command line has its own words (`cli/shell_words.py`)."""

from __future__ import annotations

__all__ = ["copies_cure", "drift_cure", "group_cure", "label_cure", "serial_cure"]


def label_cure(column: str) -> str:
    """Return the cure for rows of one label that resemble each other. It depends on which rows are to come."""
    return (
        f"Do future rows come from new values of {column}, or from these? Use draws=pacband.draws.Units({column!r}) if "
        f"new ones are to come, or group={column!r} (groups={column!r} of an estimator, certify_groups for arrays) if "
        "future rows come from these, and if each of them has enough rows."
    )


def group_cure() -> str:
    """Return the cure for groups beyond a common bound. It depends on which rows are to come."""
    return (
        "Do future rows come from these groups, or from new ones? Certify every group by itself with certify_groups if "
        "they come from these, or use draws=pacband.draws.Units(labels) if new groups are to come. A scale that "
        "depends on the group also helps."
    )


def serial_cure() -> str:
    """Return the cure for rows that depend on the rows before."""
    return (
        "Use draws=pacband.draws.Spaced(a), with a gap a beyond which rows are independent, or "
        "draws=pacband.draws.Units(labels), with a label for every machine, day or run."
    )


def drift_cure(row: int) -> str:
    """Return the cure for a distribution that changes near a row."""
    return f"Find out what changed near row {row}, and calibrate on later rows."


def copies_cure() -> str:
    """Return the cure for rows that repeat."""
    return "Remove the repeated rows, and find their cause: a join, a retry, files that overlap."
