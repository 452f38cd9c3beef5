"""The score of every unit of a table in an engine: the rows are aggregated there, and one number a unit comes back.

The score of a unit is its largest row score, or the ⌈share·n⌉-th smallest of its n row scores (`UnitDraws`). The memory
grows with the number of units, not with the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats
from pacband.core.labels import Label, refuse_two_spellings
from pacband.draws import DrawKind
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule
from pacband.scores.expressions import fails, finite
from pacband.selection import check_unchanged
from pacband.tables.engines import fetch_columns, fetch_rows, lazy_frame
from pacband.tables.guards import Guards
from pacband.tables.lookup import join_values
from pacband.tables.scan import GroupScan
from pacband.tables.table import GROUP, UNIT, Table

__all__ = ["UnitColumn", "UnitScan", "UnitScores", "unit_column"]

_SHARES = (nw.Implementation.DUCKDB, nw.Implementation.POLARS)
_LABELS = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object)
# The engine computes ⌈share·n⌉ in integers of 128 bits: a share with so many digits, of up to 10¹² rows.
_MOST_DIGITS = 10**24


@dataclass(frozen=True, eq=False)
class UnitScores:
    """The scores of all units.

    Attributes
    ----------
    scores : mapping of str to array
        The score of every unit, by candidate.
    places : array of int or None
        The place of every unit's group, if there are groups.
    """

    scores: Mapping[str, Floats]
    places: npt.NDArray[np.intp] | None = None

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return len(next(iter(self.scores.values())))

    def by_group(self, labels: list[Label]) -> dict[Label, Floats]:
        """Return the scores of the one candidate, by group; `labels` are the groups in the order of their places."""
        assert self.places is not None  # it was asked for groups
        (scores,) = self.scores.values()
        order = np.argsort(self.places, kind="stable")
        ends = np.cumsum(np.bincount(self.places, minlength=len(labels)))
        return dict(zip(labels, np.split(scores[order], ends[:-1]), strict=True))


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """The column of units, and what the score of a unit is.

    Attributes
    ----------
    name : str
        The user's name of the column.
    dtype : narwhals dtype
        Its type.
    kind : UnitDraws
        What a draw is.
    """

    name: str
    dtype: Any
    kind: UnitDraws

    def __post_init__(self) -> None:
        if not (self.dtype.is_numeric() or self.dtype in _LABELS):
            raise InvalidInput(
                f"column {self.name!r} must hold the labels of units: strings, numbers or booleans, got {self.dtype}."
            )

    @property
    def missing(self) -> nw.Expr:
        """Whether a row has no label, in a table with a column of units."""
        return fails(finite(nw.col(UNIT))) if self.dtype.is_float() else nw.col(UNIT).is_null()


def unit_column(
    frame: nw.LazyFrame[Any], schema: Mapping[str, Any], rule: ScoreRule, name: str | None, kind: DrawKind
) -> UnitColumn | None:
    """Return the column of units if the engine finds their scores itself; None if the rows have to be in memory.

    Raises `InvalidInput` if this engine can do neither, and names one that can.
    """
    if not isinstance(kind, UnitDraws) or name is None or rule.gauge != "max":
        return None
    if kind.within != "all" and frame.implementation not in _SHARES:
        raise InvalidInput(
            f"within={kind.within!r} needs the rows of a unit in order: use DuckDB or polars, or a table in memory; "
            f"this one is of {frame.implementation.name.lower()}, where only within='all' is found."
        )
    return UnitColumn(name, schema[name], kind) if kind.reads_whole_units else None


class UnitScan:
    """Aggregates the rows of every unit in the engine.

    Parameters
    ----------
    table : Table
        A table with a column of units.
    units : UnitColumn
        The column of units.
    """

    def __init__(self, table: Table, units: UnitColumn) -> None:
        self.table = table
        self._units = units
        self._kind = units.kind
        self._guards = Guards(table)

    def of_groups(self, group: str) -> dict[Label, Floats]:
        """Return the scores of the units of every group, groups in sorted order; `group` is the user's column."""
        labels = list(GroupScan(self.table, group).counts())
        found = self({label: float(place) for place, label in enumerate(labels)})
        return found.by_group(labels)

    def check_labels(self) -> None:
        """Raise unless every row has the label of a unit."""
        name = self._units.name
        self._guards.refuse(self._units.missing, f"column {name!r} must have a label in every row: it is missing")

    def __call__(self, places: Mapping[Label, float] | None = None) -> UnitScores:
        """Return the scores of all units, or raise if a row has no label or cannot be scored.

        Parameters
        ----------
        places : mapping of label to float, optional
            The place of every group. Every unit must be in one group.
        """
        columns = self.table.score_columns
        bad = nw.when(self._units.missing).then(nw.lit(1)).otherwise(fails(self._guards.can_be_scored()).cast(nw.Int32))
        rows = self.table.scored.with_columns(bad=bad)
        if places is None:
            rows = rows.select(UNIT, "bad", *columns.values())
        else:
            rows = join_values(rows.select(UNIT, GROUP, "bad", *columns.values()), GROUP, {"place": places})
            # A label that was not there before has no place.
            rows = rows.with_columns(nw.col("place").fill_null(-1.0))
        units = self._aggregate(rows, list(columns.values()), grouped=places is not None)
        ends = [] if places is None else ["first", "last"]
        # Numbers and booleans have one spelling.
        names = [] if self._units.dtype.is_numeric() or self._units.dtype == nw.Boolean else [UNIT]
        found = fetch_columns(units, [*names, "bad", *ends, *columns.values()])
        self._check(np.asarray(found["bad"]))
        refuse_two_spellings(found[UNIT].tolist() if names else (), self._kind.plural)
        scores = {name: np.array(found[column], dtype=np.float64) for name, column in columns.items()}
        if places is None:
            return UnitScores(scores)
        first, last = (np.asarray(found[end]) for end in ends)
        if (first != last).any():
            (mixed, *_) = fetch_rows(units.filter(nw.col("first") != nw.col("last")).select(UNIT).sort(UNIT).head(1))
            raise InvalidInput(
                f"every unit must be in one group, for its rows are one draw: {self._kind.unit} {mixed[UNIT]!r} has "
                f"rows in several."
            )
        check_unchanged(0, int(np.count_nonzero(first < 0)), "rows with other labels")
        return UnitScores(scores, first.astype(np.intp))

    def _check(self, bad: npt.NDArray[Any]) -> None:
        """Raise unless there are units and all their rows can be scored."""
        if not len(bad):
            self._guards.check(0, 0)
        if bad.any():
            self.check_labels()
            self._guards.check_all()
            check_unchanged(0, int(np.count_nonzero(bad)), "units with rows that cannot be scored")

    def _aggregate(self, rows: nw.LazyFrame[Any], scores: list[str], *, grouped: bool) -> nw.LazyFrame[Any]:
        """Return a table with one row a unit: its scores, whether a row is bad, the first and last of its groups."""
        if self._kind.within == "all":
            ends = [nw.col("place").min().alias("first"), nw.col("place").max().alias("last")] if grouped else []
            largest = [nw.col(name).max() for name in scores]
            return rows.group_by(UNIT).agg(nw.col("bad").max(), *ends, *largest)
        share = Fraction(repr(self._kind.within))
        if share.denominator > _MOST_DIGITS:
            raise InvalidInput(f"within must have at most 24 decimals in an engine, got {self._kind.within!r}.")
        at_share = _at_share_duckdb if rows.implementation is nw.Implementation.DUCKDB else _at_share_polars
        return lazy_frame(at_share(rows.to_native(), share, scores, grouped=grouped))


def _at_share_duckdb(relation: Any, share: Fraction, scores: list[str], *, grouped: bool) -> Any:
    """Return the ⌈share·n⌉-th smallest of the n scores of every unit: sorted by windows, which spill to disk."""
    within = f"(partition by {UNIT})"
    ends = f", min(place) over {within} as first, max(place) over {within} as last" if grouped else ""
    places = ", ".join(f"row_number() over (partition by {UNIT} order by {name}) as k_{name}" for name in scores)
    ranked = relation.project(
        f"{UNIT}, max(bad) over {within} as bad, count(*) over {within} as n{ends}, {', '.join(scores)}, {places}"
    )
    place = f"(n::hugeint * {share.numerator} + {share.denominator - 1}) // {share.denominator}"
    kept = ", ".join(f"max({name}) filter (where k_{name} = {place}) as {name}" for name in scores)
    ends = ", max(first) as first, max(last) as last" if grouped else ""
    return ranked.aggregate(f"{UNIT}, max(bad) as bad{ends}, {kept}", UNIT)


def _at_share_polars(lazy: Any, share: Fraction, scores: list[str], *, grouped: bool) -> Any:
    """Return the ⌈share·n⌉-th smallest of the n scores of every unit."""
    import polars as pl

    n_rows = pl.len().cast(pl.Int128)
    place = (n_rows * pl.lit(share.numerator, pl.Int128) + pl.lit(share.denominator - 1, pl.Int128)) // pl.lit(
        share.denominator, pl.Int128
    )
    ends = [pl.col("place").min().alias("first"), pl.col("place").max().alias("last")] if grouped else []
    kept = [pl.col(name).sort().get((place - 1).cast(pl.Int64)) for name in scores]
    return lazy.group_by(UNIT).agg(pl.col("bad").max(), *ends, *kept)
