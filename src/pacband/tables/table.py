"""A table in an engine, and the scores of its rows as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np

from pacband.core.arrays import refuse_large_integers
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns, Names
from pacband.scores.expressions import NOT_IN_NUMPY, beyond_exact, number, scale_part, score
from pacband.tables.engines import fetch_columns, rename_columns

__all__ = ["GROUP", "UNIT", "Table"]

# The columns of groups and of units.
GROUP = "g"
UNIT = "u"


@dataclass(frozen=True)
class Table:
    """A table in an engine, with the columns and the rule by which its rows are scored.

    Here its columns are called c0, c1 and so on, the group g and the unit u. So no name that a user chooses is one of
    ours: some engines take Q0 for q0. Without targets there are no scores, only predictions and scales.

    Attributes
    ----------
    frame : LazyFrame
        The columns that are needed, under their names here.
    schema : mapping of str to dtype
        The types of the numeric columns.
    rule : ScoreRule
        How rows are scored.
    candidates : mapping of str to Columns
        The columns of every candidate, under their names here. A single model is one candidate.
    user_names : mapping of str to str
        The name here, and the user's name.
    """

    frame: nw.LazyFrame[Any]
    schema: Mapping[str, Any]
    rule: ScoreRule
    candidates: Mapping[str, Columns]
    user_names: Mapping[str, str]

    @classmethod
    def of(
        cls,
        frame: nw.LazyFrame[Any],
        schema: Mapping[str, Any],
        rule: ScoreRule,
        named: Mapping[str, Columns],
        *,
        unit: str | None = None,
    ) -> Self:
        """Return a table from a user's frame, the columns of every candidate and that of units, by the user's names."""
        names = dict.fromkeys(name for columns in named.values() for name in columns.numeric)
        ours = {name: f"c{k}" for k, name in enumerate(names)}
        group = next(iter(named.values())).group
        user_names = {here: name for name, here in ours.items()}
        user_names |= {here: name for here, name in ((GROUP, group), (UNIT, unit)) if name is not None}
        return cls(
            rename_columns(frame, user_names),
            {ours[name]: schema[name] for name in names},
            rule,
            {key: columns.renamed(ours) for key, columns in named.items()},
            user_names,
        )

    @property
    def score_columns(self) -> dict[str, str]:
        """The column of scores of every candidate: q0, q1 and so on."""
        return {name: f"q{k}" for k, name in enumerate(self.candidates)} if self.target else {}

    @property
    def scores(self) -> dict[str, nw.Expr]:
        """The scores of every candidate, by their columns; empty without targets."""
        return {column: score(self.rule, self.candidates[name]) for name, column in self.score_columns.items()}

    @property
    def scored(self) -> nw.LazyFrame[Any]:
        """The table with its scores."""
        return self.frame.with_columns(**self.scores) if self.target else self.frame

    @property
    def target(self) -> Names:
        """The columns of y."""
        return next(iter(self.candidates.values())).target

    @property
    def predictions(self) -> list[str]:
        """The columns of T(x) of all candidates."""
        return list(dict.fromkeys(name for columns in self.candidates.values() for name in columns.prediction))

    @property
    def scales(self) -> dict[str, nw.Expr]:
        """The columns of σ̂(x) of all candidates, with the declared floor."""
        names = dict.fromkeys(name for columns in self.candidates.values() for part in columns.scale for name in part)
        return {name: scale_part(self.rule, name) for name in names}

    @property
    def inexact(self) -> dict[str, nw.Expr]:
        """Whether a row has an integer or a decimal beyond 2**53, for each column whose type has such values."""
        beyond = {name: beyond_exact(name, dtype) for name, dtype in self.schema.items()}
        # A missing value is not beyond.
        return {
            name: nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)) == 1
            for name, condition in beyond.items()
            if condition is not None
        }

    def fetch_first(self, n_rows: int) -> dict[str, Any]:
        """Return the first rows as numpy arrays, under the user's names; raise if integers are beyond 2**53."""
        flags = {f"beyond_{name}": condition for name, condition in self.inexact.items()}
        # Numpy would make objects of booleans with gaps.
        floats = {name: number(name) for name, dtype in self.schema.items() if dtype in (*NOT_IN_NUMPY, nw.Boolean)}
        frame = self.frame.head(n_rows)
        if flags or floats:
            frame = frame.with_columns(**flags, **floats)
        found = fetch_columns(frame, [*self.user_names, *flags])
        for name, flag in zip(self.inexact, flags, strict=True):
            if np.ma.filled(np.asanyarray(found[flag]), False).any():
                refuse_large_integers(f"column {self.user_names[name]!r}")
        return {name: found[here] for here, name in self.user_names.items()}
