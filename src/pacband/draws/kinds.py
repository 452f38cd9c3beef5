"""What one draw is, as a certificate states it: without the rows.

A promise counts draws: rows, units, every a-th row of a series, accepted rows. The kind of draw decides the words of
the promise, its first assumption, and how much of δ the dependence between draws uses up.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from pacband.core.checks import check_choice, check_positive, check_positive_integer, check_probability
from pacband.core.shares import count_of_share
from pacband.core.wording import assumed, confidence, plural, share_text
from pacband.exceptions import InvalidInput
from pacband.planning.shares import rounded_up

__all__ = ["ROWS", "DrawKind", "RowDraws", "SpacedDraws", "UnitDraws", "WeightedDraws", "draw_kind"]


class DrawKind(ABC):
    """What one draw is."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def noun(self) -> str:
        """What a draw is called: "row", "machine"."""

    @property
    def one_draw(self) -> str:
        """What one draw is, in words."""
        return f"each {self.noun}"

    @property
    def declared(self) -> str:
        """What was declared about a draw, in a few words; empty for rows."""
        return ""

    @property
    def counted(self) -> str:
        """What N counts, in the plural."""
        return "samples"

    @property
    def tested(self) -> str:
        """What a test on fresh data counts, in the plural."""
        return "rows"

    def subject(self, noun: str = "errors") -> str:
        """Return what is promised something about, in the plural."""
        return noun

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the promise assumes about the draws."""

    @property
    @abstractmethod
    def breaker(self) -> str:
        """What breaks that assumption, in a sentence."""

    @property
    def unseen(self) -> str:
        """What predictor and scale must have been built without."""
        return "the calibration rows"

    def sentence(self, kept: str, limit: str, *, noun: str = "errors", verb: str = "satisfy") -> str:
        """Return what is promised: "at least 95 % of future errors satisfy …"; `kept` is "at least 95 %"."""
        return f"{kept} of future {noun} {verb} {limit}"

    @property
    def averages(self) -> bool:
        """Whether the promise is about an average over draws: it then has no rank."""
        return False

    @property
    def rank_is_chosen(self) -> bool:
        """Whether the rank is chosen before looking at the scores; an average and a worst case have no such rank."""
        return True

    @property
    def has_law(self) -> bool:
        """Whether the violation follows Beta(r, N − r + 1) for continuous scores: the draws are independent."""
        return self.rank_is_chosen and self.independent

    @property
    def description(self) -> str:
        """What one draw is, and what was declared about it, in words."""
        return "; ".join(filter(None, (f"{self.one_draw} is one draw", self.declared)))

    @property
    def reads_whole_units(self) -> bool:
        """Whether a draw is a unit whose score depends on all its rows."""
        return False

    def makes_the_draws_of(self, other: DrawKind) -> bool:
        """Return whether another kind makes the same draws of the same rows."""
        return self == other

    def slack(self, n_draws: int) -> Fraction:
        """Return how much of δ is used up by what is assumed of m draws: none, if they are independent."""
        return Fraction(0)

    def dependence(self, n_draws: int) -> float:
        """Return by how much m draws may differ from independent ones in the probability of any event."""
        return 0.0

    @property
    def independent(self) -> bool:
        """Whether the dependence between draws uses up nothing of δ, however many they are."""
        return not self.slack(1)

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

    @property
    def breaker(self) -> str:
        """Rows may depend on each other, or future rows may be others."""
        return (
            "It does not hold for time series, under drift, for several measurements of one unit, or for a population "
            "that was not sampled."
        )


ROWS = RowDraws()


@dataclass(frozen=True, slots=True)
class UnitDraws(DrawKind):
    """A unit is a draw: rows of one machine, patient or run depend on each other, units do not.

    Attributes
    ----------
    within : "all", "one", "average" or float in (0, 1)
        What is promised of a unit: all its rows are inside; a row drawn at random is; of all units on average, rows
        are; at least this share of its rows is.
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
            check_choice("within", self.within, ("all", "one", "average"))
        else:
            _keep(self, within=check_probability("within", self.within))
        if self.seed is not None:
            _keep(self, seed=operator.index(self.seed))
        if not isinstance(self.unit, str) or not self.unit:
            raise InvalidInput(f"name must be what a unit is called, got {self.unit!r}.")

    @property
    def noun(self) -> str:
        """Return what a unit is called."""
        return self.unit

    @property
    def reads_whole_units(self) -> bool:
        """Whether the score of a unit is its largest, or that at a share of its rows."""
        return self.within == "all" or not isinstance(self.within, str)

    def makes_the_draws_of(self, other: DrawKind) -> bool:
        """Return whether another kind makes the same draws of the same rows: what a unit is called does not matter."""
        return isinstance(other, UnitDraws) and (self.within, self.seed) == (other.within, other.seed)

    @property
    def assumption(self) -> str:
        """Units are independent."""
        return f"calibration {self.plural} and future {self.plural} are independent draws from one distribution"

    @property
    def breaker(self) -> str:
        """Units may depend on each other, or future units may be others."""
        return (
            f"It does not hold under drift, if {self.plural} depend on each other or on a common cause, or for "
            f"{self.plural} of a kind that was not sampled."
        )

    @property
    def declared(self) -> str:
        """Which of its rows the promise is about."""
        words = {"all": "all its rows", "one": "one of its rows", "average": "its rows on average"}
        return words.get(str(self.within)) or f"at least {share_text(float(self.within))} of its rows"

    @property
    def counted(self) -> str:
        """N counts units."""
        return self.plural

    @property
    def tested(self) -> str:
        """A test counts units."""
        return self.plural

    def subject(self, noun: str = "errors") -> str:
        """Return units, or errors if the promise is about rows of all units."""
        if self.averages:
            return f"{noun}, on average over {self.plural},"
        return noun if self.within == "one" else self.plural

    @property
    def averages(self) -> bool:
        """Whether the promise is about the share of rows on average over units: it has no rank."""
        return self.within == "average"

    @property
    def unseen(self) -> str:
        """Other rows of a unit tell about the unit as well."""
        return f"any row of the calibration {self.plural}"

    @property
    def rank_is_chosen(self) -> bool:
        """Whether a unit has one score."""
        return not self.averages

    @property
    def plural(self) -> str:
        """What several units are called."""
        return plural(self.unit.removesuffix("_id"))

    def sentence(self, kept: str, limit: str, *, noun: str = "errors", verb: str = "satisfy") -> str:
        """Return the sentence about future units."""
        if self.averages:
            rows = "rows" if noun == "errors" else noun
            return f"{kept} of the {rows} of future {self.plural}, on average over {self.plural}, {verb} {limit}"
        if self.within == "one":
            return f"{kept} of future {noun}, with all {self.plural} counted equally, {verb} {limit}"
        part = "all" if self.within == "all" else f"at least {share_text(float(self.within))} of"
        return f"{kept} of future {self.plural} keep {part} their {noun} within {limit}"

    def row_in_unit(self, n_rows: int) -> int:
        """Return the place of a unit's score among its n row scores in increasing order, from 0: ⌈share·n⌉ − 1."""
        if isinstance(self.within, str):
            return n_rows - 1
        return count_of_share(self.within, n_rows) - 1


@dataclass(frozen=True, slots=True)
class SpacedDraws(DrawKind):
    """Every a-th row of one series is a draw.

    If the series is stationary and β-mixing, m rows that are a apart differ from independent ones by at most
    (m − 1)β(a) in total variation (Yu, 1994, by Berbee's coupling). The predictor may have been fitted on rows that end
    a before the first of them: these are one more part of the series. So B(r − 1; m, ε) + mβ(a) ≤ δ suffices.

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
        _keep(self, gap=check_positive_integer("gap", self.gap))
        if self.mixing is not None:
            _keep(self, mixing=check_positive("mixing", self.mixing, or_zero=True))
            if self.mixing > 1.0:
                raise InvalidInput(f"the mixing coefficient must be in [0, 1], got {self.mixing!r}.")

    @property
    def noun(self) -> str:
        """Return "row"."""
        return "row"

    @property
    def one_draw(self) -> str:
        """Return which rows are draws."""
        return f"one row in {self.gap}"

    @property
    def declared(self) -> str:
        """The bound of the dependence, if there is one."""
        return "" if self.mixing is None else f"β({self.gap}) ≤ {assumed(self.mixing)}"

    @property
    def tested(self) -> str:
        """A test counts rows that are as far apart as those of the calibration."""
        return f"rows that are {self.gap} apart"

    @property
    def assumption(self) -> str:
        """The series is stationary, and rows that are a apart are nearly independent."""
        if self.mixing is None:
            return f"the series is stationary, and rows that are {self.gap} apart are independent"
        return f"the series is stationary and β-mixing, with β({self.gap}) at most {assumed(self.mixing)}, as declared"

    @property
    def breaker(self) -> str:
        """The series may change, or depend on its past for longer."""
        more = "" if self.mixing is None else " more than declared"
        return f"It does not hold under drift, or if rows that are {self.gap} apart depend on each other{more}."

    @property
    def unseen(self) -> str:
        """Rows near the calibration rows depend on them."""
        return f"rows of the series from {self.gap} rows before the first calibration draw on"

    def slack(self, n_draws: int) -> Fraction:
        """Return mβ(a): the rows that the predictor was fitted on and m draws are m + 1 parts of one series."""
        return Fraction(0) if self.mixing is None else n_draws * Fraction(self.mixing)

    def dependence(self, n_draws: int) -> float:
        """Return mβ(a)."""
        return rounded_up(self.slack(n_draws))


@dataclass(frozen=True, slots=True)
class WeightedDraws(DrawKind):
    """An accepted row is a draw of the target distribution (rejection sampling under known covariate shift).

    Attributes
    ----------
    at_most : float
        b, the declared bound of the importance w(x).
    seed : int
        The seed of the acceptance.
    interval : bool
        Whether the importance is known only to lie in an interval.
    interval_delta : float
        δ_w, the declared probability that the importance is outside its interval somewhere.
    """

    kind: ClassVar[str] = "weighted"

    at_most: float = 1.0
    seed: int = 0
    interval: bool = False
    interval_delta: float = 0.0

    def __post_init__(self) -> None:
        _keep(
            self,
            at_most=check_positive("at_most", self.at_most),
            seed=operator.index(self.seed),
            interval_delta=check_positive("interval_delta", self.interval_delta, or_zero=True),
        )
        if self.interval_delta >= 1.0:
            raise InvalidInput(f"interval_delta must be in [0, 1), got {self.interval_delta!r}.")
        if self.interval_delta and not self.interval:
            raise InvalidInput(
                f"interval_delta needs an importance (low, high), got interval_delta={self.interval_delta!r} alone."
            )

    @property
    def noun(self) -> str:
        """Return "row"."""
        return "row"

    @property
    def one_draw(self) -> str:
        """Return which rows are draws."""
        return "each accepted row"

    @property
    def declared(self) -> str:
        """What is known of the importance."""
        known = (
            f"w(x) in an interval, ≤ {assumed(self.at_most)}" if self.interval else f"w(x) ≤ {assumed(self.at_most)}"
        )
        return known + (f"; that with confidence {confidence(self.interval_delta)}" if self.interval_delta else "")

    @property
    def assumption(self) -> str:
        """The importance is known and bounded."""
        ratio = "the density of future inputs over that of calibration inputs"
        if not self.interval:
            known = f"their importance is {ratio}, at most {assumed(self.at_most)}"
        else:
            sure = (
                f"; it does with confidence {confidence(self.interval_delta)}, as declared"
                if self.interval_delta
                else ""
            )
            known = f"{ratio} lies in the declared interval, at most {assumed(self.at_most)}{sure}"
        return (
            "calibration rows and future rows are independent draws; given the inputs, y has the same distribution in "
            f"both; {known}"
        )

    @property
    def breaker(self) -> str:
        """More than the inputs may shift, or the inputs by more."""
        return (
            "It does not hold if y has another distribution than before at the same inputs, if the inputs shift in "
            "another way than declared, or if rows depend on each other."
        )

    @property
    def rank_is_chosen(self) -> bool:
        """Whether it is certain which rows are draws."""
        return not self.interval

    def slack(self, n_draws: int) -> Fraction:
        """Return δ_w."""
        return Fraction(self.interval_delta)

    def to_dict(self) -> dict[str, Any]:
        """Return the kind as JSON-ready values; the interval only if there is one."""
        content = {"kind": self.kind, "at_most": self.at_most, "seed": self.seed}
        return content | ({"interval": True, "interval_delta": self.interval_delta} if self.interval else {})


_KINDS: dict[str, type[DrawKind]] = {kind.kind: kind for kind in (RowDraws, UnitDraws, SpacedDraws, WeightedDraws)}


def draw_kind(content: Mapping[str, Any] | None) -> DrawKind:
    """Rebuild a kind from `to_dict`; None is every row."""
    if content is None:
        return ROWS
    values = dict(content)
    return _KINDS[values.pop("kind")](**values)


def _keep(kind: DrawKind, **values: Any) -> None:
    """Keep checked values in place of those that were passed: numbers of Python, not of numpy, are JSON-ready."""
    for name, value in values.items():
        object.__setattr__(kind, name, value)
