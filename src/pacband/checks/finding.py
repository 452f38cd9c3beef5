"""One property of the data that concerns the promise: what was seen, how certain it is, its effect, and the cure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pacband.core.wording import figure

__all__ = ["Finding"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One property of the data that concerns the promise.

    Attributes
    ----------
    check : str
        The name of the check.
    seen : str
        What was seen.
    p_value : float
        The probability of seeing this, or more, in sound data; zero for a fact that is certain.
    effect : str
        The effect on the promise.
    advice : str
        What to do.
    harmful : bool
        Whether it can break the promise. Otherwise it is a note about the sharpness or about other uses of the scores.
    column : str or None
        The column that it is about, if it is about one.
    explains_order : bool
        Whether it is also the cause of what the checks of the order of rows find.
    """

    check: str
    seen: str
    p_value: float
    effect: str
    advice: str
    harmful: bool = True
    column: str | None = None
    explains_order: bool = False

    @property
    def name(self) -> str:
        """The name of the check, and of its column: no two checks of a diagnosis have the same."""
        return self.check if self.column is None or self.column in self.check else f"{self.check} along {self.column}"

    def at(self, p_value: float) -> Finding:
        """Return the finding with another p-value."""
        return replace(self, p_value=p_value)

    @property
    def certainty(self) -> str:
        """How certain the finding is, in words."""
        return "certain" if self.p_value == 0.0 else f"by chance with probability {figure(self.p_value)}"

    def __str__(self) -> str:
        return f"{self.check}: {self.seen} ({self.certainty}). {self.effect} {self.advice}"
