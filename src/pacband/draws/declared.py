"""What a user declares about draws, and how the scores of rows become the scores of draws.

`Draws.sample` looks at labels, order and weights, never at scores. It fixes how many draws there are before the rank is
chosen; only then are scores reduced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats
from pacband.core.cells import spelled
from pacband.core.checks import check_positive, check_positive_integer
from pacband.core.labels import as_labels, factorize, refuse_two_spellings
from pacband.draws.kinds import ROWS, DrawKind, SpacedDraws, UnitDraws
from pacband.draws.samples import Sample
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare, choose_rank
from pacband.planning.binomial import special, tail_at_most

__all__ = ["Draws", "Rows", "Spaced", "Units", "check_seed", "random_stream"]

Places: TypeAlias = npt.NDArray[np.intp]

# The bytes of "pacband".
_OUR_STREAM = 0x70616362616E64


class Draws(ABC):
    """What one independent draw is, as a user declares it."""

    kind: DrawKind

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.kind.description}>"

    @abstractmethod
    def sample(self, n_rows: int) -> Sample:
        """Return the draws that n rows make, or raise unless the declaration fits them."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that the draws are read from, if they were named in place of their values."""
        return ()

    @property
    def column(self) -> str | None:
        """The column of a table that the draws are read from, if there is one."""
        return self.columns[0] if len(self.columns) == 1 else None

    @property
    def row_values(self) -> Any:
        """The label or the weight of every row, as it was given; None if there is none, or if a column was named."""
        return None

    def bind(self, *values: Any) -> Draws:
        """Return the draws with the values of their columns."""
        return self

    def take(self, rows: npt.NDArray[np.intp]) -> Draws:
        """Return the draws of some of the rows."""
        return self

    def clusters(self, n_rows: int) -> npt.NDArray[Any] | None:
        """Return a label for every row such that rows of different labels are independent, or None: every row is.

        Folds that keep equal labels together predict a row only from rows that do not depend on it.
        """
        return None


class Rows(Draws):
    """Every row is a draw: the default."""

    kind = ROWS

    def sample(self, n_rows: int) -> Sample:
        """Return n draws."""
        return Sample(n_rows, lambda scores: scores)


class Units(Draws):
    """A unit is a draw: the rows of one machine, patient or run depend on each other, units do not.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The unit of every row; in tables the name of a column.
    within : "all", "one", "average" or float in (0, 1)
        "all": at least 1 − ε of future units keep *all* rows within the bound; the score of a unit is its largest. A
        share such as 0.99: they keep at least that share of their rows within it. "average": at least 1 − ε of the rows
        of future units are within it, on average over units; such a certificate has no rank. "one": of every unit one
        row is drawn at random; the promise is then about future rows, every unit counted equally, as "average" is. With
        many units the bound is less sharp than that of "average".
    name : str, optional
        What a unit is called in the promise; in tables the name of the column.
    random_state : int, optional
        The seed by which "one" draws its rows; by default 0. It is part of the certificate. Nothing else is random.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> machine = np.repeat(np.arange(300), 20)
    >>> error = rng.standard_normal(300)[machine] + 0.3 * rng.standard_normal(6000)
    >>> units = pacband.draws.Units(machine, name="machine")
    >>> print(pacband.certify(error, np.zeros(6000), eps=0.1, delta=0.01, draws=units).promise)
    With confidence 99 %, at least 90 % of future machines keep all their errors within |y − T(x)| ≤ 2.34827.
    """

    def __init__(
        self, labels: Any, within: str | float = "all", *, name: str = "unit", random_state: int | None = None
    ) -> None:
        self.labels = labels
        # A column names its units.
        name = labels if isinstance(labels, str) and name == "unit" else name
        seed = check_seed(0 if random_state is None else random_state)
        self.kind: UnitDraws = UnitDraws(within, name, seed if within == "one" else None)
        if random_state is not None and within != "one":
            raise InvalidInput(
                f"random_state is for within='one', which draws rows: leave it out, got within={within!r} and "
                f"random_state={random_state!r}."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of units, if one was named in place of labels."""
        return (self.labels,) if isinstance(self.labels, str) else ()

    @property
    def row_values(self) -> Any:
        """The unit of every row, unless a column was named."""
        return None if self.columns else self.labels

    def bind(self, *values: Any) -> Units:
        """Return the units with the labels of their column."""
        return Units(values[0], self.kind.within, name=self.kind.unit, random_state=self.kind.seed)

    def take(self, rows: npt.NDArray[np.intp]) -> Units:
        """Return the units of some of the rows."""
        return self.bind(as_labels(self.labels, self.kind.plural)[rows])

    def clusters(self, n_rows: int) -> npt.NDArray[Any]:
        """Return the units as numbers."""
        return factorize(as_labels(self.labels, self.kind.plural))[1]

    def sample(self, n_rows: int) -> Sample:
        """Return a draw for every unit."""
        if isinstance(self.labels, str):
            raise InvalidInput(f"labels must be one label per row; the column {self.labels!r} needs a table.")
        labels = as_labels(self.labels, self.kind.plural)
        if len(labels) != n_rows:
            raise InvalidInput(f"y and the labels of units must have one length, got {n_rows} and {len(labels)}.")
        units, codes = factorize(labels)
        refuse_two_spellings(units, self.kind.plural)
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes)
        starts = np.cumsum(sizes) - sizes
        rows = order[starts]
        averaged = sizes if self.kind.averages else None
        if self.kind.seed is not None:
            # In the order of their texts: a file has texts where an array has numbers, and draws the same rows.
            named = np.argsort([str(spelled(unit)) for unit in units], kind="stable")
            drawn = np.empty_like(starts)
            drawn[named] = random_stream(self.kind.seed).integers(0, sizes[named])
            rows = order[starts + drawn]
            reduce = partial(_take, rows)
        elif self.kind.averages:
            reduce = partial(_take, order)
        elif self.kind.within == "all":
            reduce = partial(_largest, order, starts)
        else:
            places = starts + np.array([self.kind.row_in_unit(int(size)) for size in sizes], dtype=np.intp)
            reduce = partial(_at_places, codes, places)
        return Sample(len(sizes), reduce, rows, codes, sizes=averaged, units=units)


class Spaced(Draws):
    """Every a-th row of one series, in the order of time: the last row of every `gap` rows.

    Parameters
    ----------
    gap : int
        a. Rows between are not used. If inputs have lags, let the gap exceed them.
    mixing : float or function, optional
        A declared bound of the β-mixing coefficients of the series: a rate such as 0.9, for β(a) ≤ 0.9^a, or a function
        a → β(a). Without it the promise assumes that rows a apart are independent. It is never estimated from the rows.

    Examples
    --------
    >>> Spaced.best(100_000, eps=0.05, delta=1e-6, mixing=0.5)
    <Spaced: one row in 33 is one draw; β(33) ≤ 1.16415e-10>
    """

    def __init__(self, gap: int, mixing: float | Callable[[int], float] | None = None) -> None:
        gap = check_positive_integer("gap", gap)
        self.kind: SpacedDraws = SpacedDraws(gap, None if mixing is None else _beta(mixing, gap))

    @classmethod
    def best(
        cls, n_rows: int, *, eps: float, delta: float, mixing: float | Callable[[int], float], n_candidates: int = 1
    ) -> Spaced:
        """Return the gap with the sharpest promise, from (N, ε, δ, β) alone: r/(m + 1) is largest."""
        share = DeltaShare(n_candidates)
        budget = share.budget(delta)
        found: tuple[int, int, int] | None = None
        # Many tails follow. For many rows this loads scipy, which computes them faster.
        special(n_rows, 1.0)

        def valid(rank: int, n_draws: int) -> bool:
            return rank <= n_draws and tail_at_most(n_draws, rank, eps, budget)

        def can_win(rank: int, n_draws: int) -> bool:
            # r/(m + 1) exceeds r₀/(m₀ + 1), which was found, if m + 1 < r·(m₀ + 1)/r₀. The largest such m decides:
            # with fewer draws, r is not valid either.
            most = n_draws if found is None else min(n_draws, -(-rank * (found[1] + 1) // found[0]) - 2)
            return valid(rank, most)

        # As m falls, r/(m + 1) rises as long as r stays, and then drops. So a gap that does not win is no reason to
        # stop. Ranks below `least` cannot win at this gap or a larger one, not even with independent draws.
        least = 1
        for gap in range(1, n_rows + 1):
            n_draws = n_rows // gap
            while valid(least, n_draws) and not can_win(least, n_draws):
                least += 1
            if not valid(least, n_draws):
                break
            rank = _largest_rank(n_draws, eps, delta, share, SpacedDraws(gap, _beta(mixing, gap)).slack(n_draws))
            if rank and (found is None or rank * (found[1] + 1) > found[0] * (n_draws + 1)):
                found = rank, n_draws, gap
        if found is None:
            raise InvalidInput(
                f"no gap makes the promise eps={eps:g}, delta={delta:g} with {n_rows} rows and this mixing. "
                "Take more rows, a larger eps or a larger delta."
            )
        return cls(found[2], mixing)

    def clusters(self, n_rows: int) -> npt.NDArray[Any]:
        """Return blocks of `gap` rows. Only the rows at the ends of two blocks are closer than that."""
        return np.arange(n_rows) // self.kind.gap

    def sample(self, n_rows: int) -> Sample:
        """Return a draw for every `gap` rows."""
        gap = self.kind.gap
        if gap > n_rows:
            raise InvalidInput(f"gap must not exceed the number of rows, {n_rows}, got {gap}.")
        rows = np.arange(gap - 1, n_rows, gap)
        return Sample(n_rows // gap, lambda scores: scores[gap - 1 :: gap].copy(), rows, series=True)


def check_seed(random_state: Any) -> int:
    """Return the seed, or raise unless it is an integer: the certificate states it."""
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)) or random_state < 0:
        raise InvalidInput(
            f"random_state must be an integer of at least 0, which the certificate states, got {random_state!r}."
        )
    return int(random_state)


def random_stream(seed: int) -> np.random.Generator:
    """Return random numbers that are those of no other use of the seed.

    If a user simulates rows with the same seed, their numbers must not decide which rows are drawn.
    """
    return np.random.default_rng([seed, _OUR_STREAM])


def _beta(mixing: float | Callable[[int], float], gap: int) -> float:
    """Return β(a), or raise unless it is a mixing coefficient: in [0, 1] and not increasing."""
    if not callable(mixing):
        rate = check_positive("mixing", mixing)
        if rate >= 1.0:
            raise InvalidInput(f"mixing must be a rate in (0, 1) or a function, got {mixing!r}.")
        return rate**gap
    here, further = float(mixing(gap)), float(mixing(gap + 1))
    if not 0.0 <= further <= here <= 1.0:
        raise InvalidInput(
            f"mixing must be in [0, 1] and not increase, got β({gap}) = {here:g} and β({gap + 1}) = {further:g}."
        )
    return here


def _take(rows: Places, scores: Floats) -> Floats:
    """Return the scores of some rows."""
    return scores[rows]


def _largest(order: Places, starts: Places, scores: Floats) -> Floats:
    """Return the largest score of every unit; `order` sorts the rows by unit."""
    return np.maximum.reduceat(scores[order], starts)


def _at_places(codes: Places, places: Places, scores: Floats) -> Floats:
    """Return the score of every unit at its place, if the scores are sorted unit by unit."""
    return scores[np.lexsort((scores, codes))][places]


def _largest_rank(n_draws: int, eps: float, delta: float, share: DeltaShare, slack: Fraction) -> int:
    """Return the largest valid rank, or 0 if there is none."""
    try:
        return choose_rank(n_draws, eps, delta, share, slack=slack)
    except InvalidInput:
        return 0
