"""A table in an engine: its rows scored where they are, checked as arrays are, and averaged to the last bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np

from pacband.core.arrays import refuse_large_integers
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns, Names
from pacband.scores.expressions import (
    NOT_IN_NUMPY,
    all_of,
    beyond_exact,
    broken,
    count,
    distances,
    fixed_terms,
    number,
    positive,
    scale_part,
    score,
    sound,
)
from pacband.scores.means import fixed_mean, fixed_unit
from pacband.selection import check_unchanged
from pacband.tables.engines import chosen, fetch_columns, fetch_rows, first_rows

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """A table in an engine, with the columns and the rule by which its rows are scored.

    Its columns are called c0, c1 and so on here, and the group g, so that no name of the user's can be taken for one of
    ours: to some engines Q0 is q0. Without targets there are no scores, only predictions and scales to be checked.

    Attributes
    ----------
    frame : LazyFrame
        The columns that are needed, under their names here.
    schema : mapping of str to dtype
        What they hold.
    rule : ScoreRule
        How rows are scored.
    candidates : mapping of str to Columns
        The columns of every candidate, under their names here.
    called : mapping of str to str
        What the user calls them.
    """

    frame: nw.LazyFrame[Any]
    schema: Mapping[str, Any]
    rule: ScoreRule
    candidates: Mapping[str, Columns]
    called: Mapping[str, str]

    @classmethod
    def of(
        cls, frame: nw.LazyFrame[Any], schema: Mapping[str, Any], rule: ScoreRule, named: Mapping[str, Columns]
    ) -> Self:
        """Return a table from a user's frame, and the columns of every candidate as the user calls them."""
        names = dict.fromkeys(name for columns in named.values() for name in columns.numeric)
        ours = {name: f"c{k}" for k, name in enumerate(names)}
        group = next(iter(named.values())).group
        called = {here: name for name, here in ours.items()} | ({} if group is None else {"g": group})
        return cls(
            chosen(frame, called),
            {ours[name]: schema[name] for name in names},
            rule,
            {key: columns.renamed(ours) for key, columns in named.items()},
            called,
        )

    @property
    def scores(self) -> dict[str, nw.Expr]:
        """The scores of every candidate, in columns q0, q1 and so on; without targets, the predictions."""
        return {
            f"q{k}": score(self.rule, columns) if columns.target else number(columns.prediction[0])
            for k, columns in enumerate(self.candidates.values())
        }

    def first(self, n_rows: int) -> dict[str, Any]:
        """Return the first rows as numpy arrays, under the user's names; integers beyond 2**53 are refused."""
        beyond = {f"beyond{k}": self._beyond(name) for k, name in enumerate(self._wide)}
        # Of booleans with gaps numpy would make objects.
        floats = {name: number(name) for name, dtype in self.schema.items() if dtype in (*NOT_IN_NUMPY, nw.Boolean)}
        frame = self.frame.head(n_rows)
        if beyond or floats:
            frame = frame.with_columns(**beyond, **floats)
        found = fetch_columns(frame, [*self.called, *beyond])
        for name, flag in zip(self._wide, beyond, strict=True):
            if np.ma.filled(np.asanyarray(found[flag]), False).any():
                refuse_large_integers(f"column {self.called[name]!r}")
        return {name: found[here] for here, name in self.called.items()}

    def whole(self) -> nw.Expr:
        """Whether a row can be scored, in a frame that has the scores; false or null where it cannot."""
        conditions = [~self._beyond(name) for name in self._wide]
        conditions += [positive(value) for value in self._scales().values()]
        if self.rule.nonfinite == "violate":
            conditions += [sound(number(name)) for name in self._target]
        elif self._target:
            conditions += [sound(nw.col(name)) for name in self.scores]
        else:
            conditions += [sound(number(name)) for name in self._predictions]
        return all_of(conditions or [nw.lit(1) == 1])

    def check(self, n_rows: int, n_whole: int) -> None:
        """Raise unless all rows can be scored, by how many can; the error names the rows that cannot."""
        if n_rows == 0:
            raise InvalidInput("the table is empty: at least one row is needed.")
        if n_whole != n_rows:
            self._refuse_rows()
            raise InvalidInput(
                f"{n_rows - n_whole} rows cannot be scored in one reading of the table, and all can in the next: rows "
                "changed between two readings."
            )

    def check_all(self) -> None:
        """Raise unless all rows can be scored; a pass of its own. An empty table breaks no rule."""
        frame = self.frame.with_columns(**self.scores)
        (row,) = fetch_rows(frame.select(nw.len().alias("n"), count(self.whole()).alias("whole")))
        if row["n"]:
            self.check(int(row["n"]), int(row["whole"] or 0))

    def mean_scales(self, n_rows: int) -> dict[str, float]:
        """Return the mean of σ̂ of every columns, as for arrays; raise where the rows are no longer so many."""
        sets = {
            (name, k): [scale_part(self.rule, column) for column in part]
            for name, columns in self.candidates.items()
            for k, part in enumerate(columns.scale)
        }
        means = self._means(sets, n_rows)
        return {
            name: sum(means[name, k] for k in range(len(columns.scale))) / len(columns.scale) if columns.scale else 1.0
            for name, columns in self.candidates.items()
        }

    def mean_offsets(self, n_rows: int) -> dict[str, float]:
        """Return the mean distance from y to T(x) towards the side that is bounded; zero where both are."""
        if self.rule.side == "both":
            return dict.fromkeys(self.candidates, 0.0)
        sign = 1.0 if self.rule.side == "upper" else -1.0
        means = self._means({name: distances(columns) for name, columns in self.candidates.items()}, n_rows)
        return {name: mean * (1.0 if math.isinf(mean) else sign) for name, mean in means.items()}

    def unanswered(self, n_rows: int) -> dict[str, int]:
        """Return how many rows of every candidate have a prediction that counts as an infinite error, as for arrays."""
        if self.rule.nonfinite == "raise":
            return dict.fromkeys(self.candidates, 0)
        finite = [all_of([number(name).is_finite() for name in c.prediction]) for c in self.candidates.values()]
        asked = {f"n{k}": count(broken(rows)) for k, rows in enumerate(finite)}
        (row,) = fetch_rows(self.frame.select(nw.len().alias("n"), **asked))
        check_unchanged(n_rows, int(row["n"]))
        return {name: int(row[f"n{k}"]) for k, name in enumerate(self.candidates)}

    def _means(self, sets: Mapping[Any, list[nw.Expr]], n_rows: int) -> dict[Any, float]:
        """Return the exact mean of each set of columns, nulls left out; infinite where nothing is left."""
        names = {key: [f"v{k}x{j}" for j in range(len(part))] for k, (key, part) in enumerate(sets.items())}
        if not names:
            return {}
        columns = {name: value for key, part in sets.items() for name, value in zip(names[key], part, strict=True)}
        frame = self.frame.select(**columns)
        ends = {f"{end}{name}": getattr(nw.col(name), end)() for name in columns for end in ("min", "max")}
        (row,) = fetch_rows(frame.select(nw.len().alias("n"), **ends))
        check_unchanged(n_rows, int(row["n"]))
        means: dict[Any, float] = {}
        sums: dict[str, nw.Expr] = {}
        units: dict[Any, float] = {}
        for key, part in names.items():
            units[key] = fixed_unit(max(abs(row[f"{end}{name}"] or 0.0) for name in part for end in ("min", "max")))
            for name in part:
                coarse, fine = fixed_terms(nw.col(name), units[key])
                sums |= {f"c{name}": coarse.sum(), f"f{name}": fine.sum(), f"n{name}": count(sound(nw.col(name)))}
        (row,) = fetch_rows(frame.select(nw.len().alias("n"), **sums))
        check_unchanged(n_rows, int(row["n"]))
        for key, part in names.items():
            totals = [sum(int(row[f"{what}{name}"] or 0) for name in part) for what in "cfn"]
            means[key] = fixed_mean(totals[0], totals[1], units[key], totals[2]) if totals[2] else math.inf
        return means

    @property
    def _target(self) -> Names:
        return next(iter(self.candidates.values())).target

    @property
    def _predictions(self) -> list[str]:
        return list(dict.fromkeys(name for columns in self.candidates.values() for name in columns.prediction))

    @property
    def _wide(self) -> list[str]:
        """The columns whose integers or decimals float64 may not hold."""
        return [name for name, dtype in self.schema.items() if beyond_exact(name, dtype) is not None]

    def _beyond(self, name: str) -> nw.Expr:
        condition = beyond_exact(name, self.schema[name])
        assert condition is not None
        # A missing value is not beyond.
        return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)) == 1

    def _scales(self) -> dict[str, nw.Expr]:
        names = dict.fromkeys(name for columns in self.candidates.values() for part in columns.scale for name in part)
        return {name: scale_part(self.rule, name) for name in names}

    def _refuse_rows(self) -> None:
        """Raise for the first rule that some row breaks: the rules of arrays, in their order."""
        for name in self._wide:
            (row,) = fetch_rows(self.frame.select(count(self._beyond(name)).alias("n")))
            if row["n"]:
                refuse_large_integers(f"column {self.called[name]!r}")
        cure = "" if self.rule.min_scale is not None else " Declare a min_scale to put a floor under it."
        for name, value in self._scales().items():
            column = f"column {self.called[name]!r}"
            rule = f"scale must be positive and finite in every row: {column} is zero, negative, NaN or infinite"
            self._refuse(broken(positive(value)), rule, cure, InvalidScale)
        finite = list(self._target)
        if self.rule.nonfinite == "raise":
            finite += self._predictions
        for name in finite:
            rule = f"column {self.called[name]!r} must be finite: it is NaN, infinite or missing"
            self._refuse(broken(sound(number(name))), rule)
        if self.rule.nonfinite == "raise":
            for value in self.scores.values():
                self._refuse(broken(sound(value)), "the score overflows float64")

    def _refuse(self, bad: nw.Expr, rule: str, cure: str = "", kind: type[InvalidInput] = InvalidInput) -> None:
        (row,) = fetch_rows(self.frame.select(count(bad).alias("n")))
        if n_bad := row["n"]:
            rows = ", ".join(map(str, first_rows(self.frame, bad)))
            where = (f", row {rows}" if n_bad == 1 else f", the first {rows}") + " (counting from 0)" if rows else ""
            raise kind(f"{rule} in {n_bad} row{'s' if n_bad > 1 else ''}{where}.{cure}")
