"""One property of the data that concerns the promise: what was seen, how certain it is, its effect, and the cure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pacband.core.wording import significant

__all__ = ["Finding", "Kind"]


class Kind(StrEnum):
    """The kinds of findings. Their numbers never change; `docs/reference/findings.md` explains each."""

    SERIAL_DEPENDENCE = "PB001"
    DRIFT = "PB002"
    SHARED_LABELS = "PB003"
    COPIES = "PB004"
    ORDER_OF_TIME = "PB005"
    TRAINING_ROWS = "PB006"
    SIGNS_OF_TRAINING = "PB007"
    GROUPS = "PB008"
    DOMINATING_SCORES = "PB009"
    TIES = "PB010"
    POOR_SCALE = "PB011"
    OTHER_MODEL = "PB012"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One property of the data that concerns the promise.

    Attributes
    ----------
    code : Kind
        The number of this kind of finding, such as PB001.
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

    code: Kind
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
        return "certain" if self.p_value == 0.0 else f"by chance with probability {significant(self.p_value, 2)}"

    @property
    def sentences(self) -> str:
        """The number of the finding, what was seen, its effect and the advice."""
        return f"{self.code} {self.seen}. {self.effect} {self.advice}"

    def __str__(self) -> str:
        return f"{self.code} {self.check}: {self.seen} ({self.certainty}). {self.effect} {self.advice}"
