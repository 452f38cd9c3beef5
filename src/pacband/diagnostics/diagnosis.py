"""The result of `diagnose`: findings, each with its evidence, its effect on the promise, and advice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import Any

from pacband.checks import Finding
from pacband.checks.order import DEPENDENCE, DRIFT, FEWEST_ROWS
from pacband.core.frozen import FrozenMap
from pacband.core.wording import percent

__all__ = ["Diagnosis", "Finding"]


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The findings about calibration rows.

    Attributes
    ----------
    findings : tuple of Finding
        The findings, the smallest p-value first; empty if the data look sound.
    p_values : mapping of str to float
        The p-value of every check that was possible, with or without a finding.
    level : float
        An upper bound for the probability of one or more findings in sound data.
    n_rows : int
        The number of rows.
    rows_used : mapping of str to str
        For every check that did not use all rows, which rows it used.
    """

    findings: tuple[Finding, ...]
    p_values: FrozenMap[str, float]
    level: float
    n_rows: int
    rows_used: FrozenMap[str, str] = field(default_factory=lambda: FrozenMap({}))

    @property
    def used(self) -> str:
        """Which rows the checks used, in words; empty if they used all rows."""
        checks: dict[str, list[str]] = {}
        for check, rows in self.rows_used.items():
            checks.setdefault(rows, []).append(check)
        return "; ".join(f"{rows} for {', '.join(names)}" for rows, names in checks.items())

    @property
    def not_checked(self) -> str:
        """What no check looked for, in words: the order of few rows shows nothing. Empty if the order was checked."""
        if any(name.startswith(DEPENDENCE) for name in self.p_values):
            return ""
        return (
            f"{DEPENDENCE.capitalize()} and {DRIFT} were not looked for: that takes at least {FEWEST_ROWS} draws, not "
            "sorted by y or T(x)."
        )

    def with_finding(self, finding: Finding) -> Diagnosis:
        """Return the diagnosis with one more finding, in place of one of the same name."""
        others = tuple(other for other in self.findings if other.name != finding.name)
        p_values = FrozenMap({**self.p_values, finding.name: finding.p_value})
        return replace(self, findings=(finding, *others), p_values=p_values)

    @property
    def sound(self) -> bool:
        """Whether no finding can break the promise."""
        return not any(finding.harmful for finding in self.findings)

    def __str__(self) -> str:
        checks = f"{_counted(len(self.p_values), 'check')} of {_counted(self.n_rows, 'row')}"
        assurance = f"in sound data, the probability of any finding is at most {percent(self.level)}"
        harmful = sum(finding.harmful for finding in self.findings)
        head = f"{_counted(harmful, 'finding')} in" if harmful else "No evidence against the promise in"
        listed = [f"- {finding}" if finding.harmful else f"- note: {finding}" for finding in self.findings]
        used = [f"Not all rows were used: {self.used}."] if self.rows_used else []
        unknown = [self.not_checked] if self.not_checked else []
        return "\n".join([f"{head} {checks} ({assurance}){':' if listed else '.'}", *listed, *used, *unknown])

    def _repr_html_(self) -> str:
        head, *lines = str(self).split("\n")
        items = "".join(f"<li>{escape(line.removeprefix('- '))}</li>" for line in lines)
        return (
            '<div style="border:1px solid #8888;border-radius:6px;padding:.8em 1em;max-width:44em">'
            f'<strong>pacband diagnosis</strong><p style="margin:.4em 0">{escape(head)}</p>'
            f'<ul style="margin:0;font-size:90%">{items}</ul></div>'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON-ready values."""
        return {
            "sound": self.sound,
            "n_rows": self.n_rows,
            "rows_used": dict(self.rows_used),
            "level": self.level,
            "p_values": dict(self.p_values),
            "findings": [asdict(finding) for finding in self.findings],
        }


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
