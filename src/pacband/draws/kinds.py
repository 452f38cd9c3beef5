"""What one draw is, as a certificate states it: without the rows.

A promise counts draws: rows, units, every a-th row of a series, accepted rows. The kind of draw decides the words of
the promise, its first assumption, and how much of δ the dependence between draws uses up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from pacband.core.checks import check_choice, check_positive, check_positive_integer, check_probability
from pacband.core.shares import count_of_share
from pacband.core.wording import figure, percent
from pacband.exceptions import InvalidInput

__all__ = ["ROWS", "DrawKind", "RowDraws", "SpacedDraws", "UnitDraws", "WeightedDraws", "draw_kind"]


class DrawKind(ABC):
    """What one draw is."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def noun(self) -> str:
        """What a draw is called: "row", "machine"."""

    @property
    def counted(self) -> str:
        """What N counts, in the plural."""
        return "samples"

    @property
    def subject(self) -> str:
        """What is promised something about, in the plural."""
        return "errors"

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the promise assumes about the draws."""

    @abstractmethod
    def sentence(self, kept: str, inequality: str) -> str:
        """Return what is promised: "at least 95 % of future errors satisfy …"; `kept` is "at least 95 %"."""

    def slack(self, n_draws: int) -> Fraction:
        """Return how much of δ the dependence between m draws uses up: none, if they are independent."""
        return Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """Return the kind as JSON-ready values."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class RowDraws(DrawKind):
    """Every row is a draw."""

    kind: ClassVar[str] = "rows"

    @property
    def noun(self) -> str:
        """Return "row"."""
        return "row"

    @property
    def assumption(self) -> str:
        """Rows are independent."""
        return "calibration rows and future rows are independent draws from one distribution"

    def sentence(self, kept: str, inequality: str) -> str:
        """Return the sentence about future errors."""
        return f"{kept} of future errors satisfy {inequality}"


ROWS = RowDraws()


@dataclass(frozen=True, slots=True)
class UnitDraws(DrawKind):
    """A unit is a draw: rows of one machine, patient or run depend on each other, units do not.

    Attributes
    ----------
    within : "all", "one" or float in (0, 1)
        What is promised of a unit: all its rows are inside; a row drawn at random is; at least this share of them is.
    unit : str
        What a unit is called.
    seed : int or None
        The seed by which one row of every unit was drawn.
    """

    kind: ClassVar[str] = "units"

    within: str | float = "all"
    unit: str = "unit"
    seed: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.within, str):
            check_choice("within", self.within, ("all", "one"))
        else:
            check_probability("within", self.within)
        if not isinstance(self.unit, str) or not self.unit:
            raise InvalidInput(f"name must be what a unit is called, got {self.unit!r}.")

    @property
    def noun(self) -> str:
        """Return what a unit is called."""
        return self.unit

    @property
    def assumption(self) -> str:
        """Units are independent."""
        return f"calibration {self.plural} and future {self.plural} are independent draws from one distribution"

    @property
    def counted(self) -> str:
        """N counts units."""
        return self.plural

    @property
    def subject(self) -> str:
        """Units, or errors if one row of every unit was drawn."""
        return "errors" if self.within == "one" else self.plural

    @property
    def plural(self) -> str:
        """What several units are called."""
        singular = self.unit.removesuffix("_id")
        return singular if singular.endswith("s") else f"{singular}s"

    def sentence(self, kept: str, inequality: str) -> str:
        """Return the sentence about future units."""
        if self.within == "one":
            return f"{kept} of future errors, with all {self.plural} counted equally, satisfy {inequality}"
        part = "all" if self.within == "all" else f"at least {percent(float(self.within))} of"
        return f"{kept} of future {self.plural} keep {part} their errors within {inequality}"

    def row_in_unit(self, n_rows: int) -> int:
        """Return the place of a unit's score among its n row scores in increasing order, from 0: ⌈share·n⌉ − 1."""
        if isinstance(self.within, str):
            return n_rows - 1
        return count_of_share(self.within, n_rows) - 1


@dataclass(frozen=True, slots=True)
class SpacedDraws(DrawKind):
    """Every a-th row of one series is a draw.

    If the series is stationary and β-mixing, m rows that are a apart differ from independent ones by at most
    (m − 1)β(a) in total variation (Yu, 1994, by Berbee's coupling). So B(r − 1; m, ε) + (m − 1)β(a) ≤ δ suffices.

    Attributes
    ----------
    gap : int
        a.
    mixing : float or None
        β(a) as declared; None assumes that rows a apart are independent.
    """

    kind: ClassVar[str] = "spaced"

    gap: int = 1
    mixing: float | None = None

    def __post_init__(self) -> None:
        check_positive_integer("gap", self.gap)
        if self.mixing is not None:
            check_positive("mixing", self.mixing, or_zero=True)
            if self.mixing > 1.0:
                raise InvalidInput(f"the mixing coefficient must be in [0, 1], got {self.mixing!r}.")

    @property
    def noun(self) -> str:
        """Return "row"."""
        return "row"

    @property
    def assumption(self) -> str:
        """The series is stationary, and rows that are a apart are nearly independent."""
        if self.mixing is None:
            return f"the series is stationary, and rows that are {self.gap} apart are independent"
        return f"the series is stationary and β-mixing, with β({self.gap}) at most {figure(self.mixing)}, as declared"

    def sentence(self, kept: str, inequality: str) -> str:
        """Return the sentence about future errors."""
        return f"{kept} of future errors satisfy {inequality}"

    def slack(self, n_draws: int) -> Fraction:
        """Return (m − 1)β(a)."""
        return Fraction(0) if self.mixing is None else (n_draws - 1) * Fraction(self.mixing)


@dataclass(frozen=True, slots=True)
class WeightedDraws(DrawKind):
    """An accepted row is a draw of the target distribution (rejection sampling under known covariate shift).

    Attributes
    ----------
    at_most : float
        b, the declared bound of the importance w(x).
    seed : int
        The seed of the acceptance.
    """

    kind: ClassVar[str] = "weighted"

    at_most: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive("at_most", self.at_most)

    @property
    def noun(self) -> str:
        """Return "row"."""
        return "row"

    @property
    def assumption(self) -> str:
        """The importance is known and bounded."""
        return (
            "calibration rows are independent draws, and their importance is the density of future inputs over that of "
            f"calibration inputs, at most {figure(self.at_most)}"
        )

    def sentence(self, kept: str, inequality: str) -> str:
        """Return the sentence about future errors."""
        return f"{kept} of future errors satisfy {inequality}"


_KINDS: dict[str, type[DrawKind]] = {kind.kind: kind for kind in (RowDraws, UnitDraws, SpacedDraws, WeightedDraws)}


def draw_kind(content: Mapping[str, Any] | None) -> DrawKind:
    """Rebuild a kind from `to_dict`; None is every row."""
    if content is None:
        return ROWS
    values = dict(content)
    return _KINDS[values.pop("kind")](**values)
