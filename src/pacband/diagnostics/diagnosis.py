"""What `diagnose` returns: findings, each with what was seen, how sure it is, what it does, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from pacband.core.frozen import FrozenMap
from pacband.core.wording import figure, percent

__all__ = ["Diagnosis", "Finding"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that stands between the data and the promise.

    Attributes
    ----------
    check : str
        Which check found it.
    seen : str
        What was seen.
    p_value : float
        The probability of seeing as much in sound data; zero where it is a plain fact.
    effect : str
        What it does to the promise.
    advice : str
        What to do about it.
    harmful : bool
        Whether it can break the promise; otherwise it is a note, on sharpness or on other uses of the scores.
    """

    check: str
    seen: str
    p_value: float
    effect: str
    advice: str
    harmful: bool = True

    @property
    def certainty(self) -> str:
        """How sure it is, in words."""
        return "certain" if self.p_value == 0.0 else f"by chance with probability {figure(self.p_value)}"

    def __str__(self) -> str:
        return f"{self.check}: {self.seen} ({self.certainty}). {self.effect} {self.advice}"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The findings about calibration rows.

    Attributes
    ----------
    findings : tuple of Finding
        What was found, the surest first; none where the data look sound.
    p_values : mapping of str to float
        Of every check that could be made, whether it found something or not.
    level : float
        The probability of one or more findings in sound data, at most.
    n_rows : int
        How many rows there are.
    rows_used : mapping of str to str
        For every check that was made, which rows it used, where it did not use all.
    """

    findings: tuple[Finding, ...]
    p_values: FrozenMap[str, float]
    level: float
    n_rows: int
    rows_used: FrozenMap[str, str] = field(default_factory=lambda: FrozenMap({}))

    @property
    def used(self) -> str:
        """Which rows the checks used, in words; empty where they used all."""
        checks: dict[str, list[str]] = {}
        for check, rows in self.rows_used.items():
            checks.setdefault(rows, []).append(check)
        return "; ".join(f"{rows} for {', '.join(names)}" for rows, names in checks.items())

    @property
    def sound(self) -> bool:
        """Whether nothing was found that can break the promise."""
        return not any(finding.harmful for finding in self.findings)

    def __str__(self) -> str:
        checks = f"{len(self.p_values)} checks of {self.n_rows} rows"
        assurance = f"sound data raise any finding with probability {percent(self.level)} at most"
        harmful = sum(finding.harmful for finding in self.findings)
        head = f"{harmful} finding(s) in" if harmful else "Nothing speaks against the promise in"
        listed = [f"- {finding}" if finding.harmful else f"- note: {finding}" for finding in self.findings]
        used = [f"Not all rows were used: {self.used}."] if self.rows_used else []
        return "\n".join([f"{head} {checks} ({assurance}){':' if listed else '.'}", *listed, *used])

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
