"""Which rows of a table in an engine cannot be scored, and the error that names them: the rules of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import narwhals as nw

from pacband.core.arrays import refuse_large_integers
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores.clip import outside_words
from pacband.scores.expressions import all_of, fails, finite, in_range, number, outside_range, positive
from pacband.tables.asks import Ask, ask_rows, count_rows
from pacband.tables.engines import first_rows
from pacband.tables.table import Table

__all__ = ["Guards"]


@dataclass(frozen=True)
class Guards:
    """The rules that every row of a table has to keep."""

    table: Table

    def can_be_scored(self) -> nw.Expr:
        """Whether a row can be scored, in a frame that has the scores; false or null if it cannot."""
        table = self.table
        conditions = [~beyond for beyond in table.inexact.values()]
        conditions += [positive(value) for value in table.scales.values()]
        conditions += self._in_range().values()
        if table.rule.nonfinite == "violate" and table.rule.own:
            # Every score is a number or +∞.
            return all_of([*conditions, *(nw.col(name) > -math.inf for name in table.scores)])
        if table.rule.nonfinite == "violate":
            conditions += [finite(number(name)) for name in table.target]
        elif table.target and (outside := outside_range(table.rule, table.target)) is not None:
            # The score of such a row is infinite, because its y is far out and not because a number is missing.
            conditions += [finite(number(name)) for name in (*table.target, *table.predictions)]
            conditions += [finite(nw.col(name)) | (outside & (nw.col(name) > 0.0)) for name in table.scores]
        elif table.target:
            conditions += [finite(nw.col(name)) for name in table.scores]
        else:
            conditions += [finite(number(name)) for name in table.predictions]
        return all_of(conditions or [nw.lit(1) == 1])

    def count_scorable(self) -> Ask:
        """Ask how many rows can be scored, for `check`."""
        return count_rows(self.can_be_scored())

    def check(self, n_rows: int, n_scorable: int) -> None:
        """Raise unless there are rows and all of them can be scored. The error names the rows that cannot."""
        if n_rows == 0:
            raise InvalidInput("the table is empty: at least one row is needed.")
        if n_scorable != n_rows:
            self._refuse_rows()
            raise InvalidInput(
                f"{n_rows - n_scorable} rows cannot be scored in one reading of the table, and all can in the next: "
                "rows changed between two readings."
            )

    def check_all(self) -> None:
        """Raise unless all rows can be scored, in a pass of its own. An empty table is accepted."""
        scorable = self.count_scorable()
        answers = ask_rows(self.table.scored, [scorable])
        if answers.n_rows:
            self.check(answers.n_rows, answers[scorable])

    def count_outside(self) -> int:
        """Return how many rows have a y outside of its declared range, in a pass of its own; see `outside_range`."""
        outside = outside_range(self.table.rule, self.table.target)
        return 0 if outside is None else self._count(outside)

    def _refuse_rows(self) -> None:
        """Raise for the first rule that some row breaks, in the order of the rules for arrays."""
        table = self.table
        for name, beyond in table.inexact.items():
            if self._count(beyond):
                refuse_large_integers(f"column {table.user_names[name]!r}")
        cure = "" if table.rule.min_scale is not None else " Declare a min_scale to put a floor under it."
        for name, value in table.scales.items():
            column = f"column {table.user_names[name]!r}"
            rule = f"scale must be positive and finite in every row: {column} is zero, negative, NaN or infinite"
            self.refuse(fails(positive(value)), rule, cure, InvalidScale)
        must_be_finite = [] if table.rule.own and table.rule.nonfinite == "violate" else [*table.target]
        must_be_finite += [*(table.predictions if table.rule.nonfinite == "raise" else [])]
        for name in must_be_finite:
            rule = f"column {table.user_names[name]!r} must be finite: it is NaN, infinite or missing"
            self.refuse(fails(finite(number(name))), rule)
        for name, inside in self._in_range().items():
            assert table.rule.clip is not None  # there is a range to lie in
            self.refuse(fails(inside), outside_words(table.rule.clip, f"column {table.user_names[name]!r}"))
        if table.rule.nonfinite == "raise":
            for value in table.scores.values():
                lost = fails(finite(value))
                outside = outside_range(table.rule, table.target)
                self.refuse(lost if outside is None else lost & ~outside, "the score overflows float64")

    def _in_range(self) -> dict[str, nw.Expr]:
        """Whether the targets lie in the declared range of y, by their columns; none if they need not."""
        if self.table.rule.outside == "violate":
            return {}
        inside = {name: in_range(self.table.rule, number(name)) for name in self.table.target}
        return {name: condition for name, condition in inside.items() if condition is not None}

    def refuse(self, bad: nw.Expr, rule: str, cure: str = "", kind: type[InvalidInput] = InvalidInput) -> None:
        """Raise if a condition is true in any row. The error states the rule, the number of rows and the first."""
        if n_bad := self._count(bad):
            rows = ", ".join(map(str, first_rows(self.table.frame, bad)))
            where = (f", row {rows}" if n_bad == 1 else f", the first {rows}") + " (counting from 0)" if rows else ""
            raise kind(f"{rule} in {n_bad} row{'s' if n_bad > 1 else ''}{where}.{cure}")

    def _count(self, condition: nw.Expr) -> int:
        ask = count_rows(condition)
        return int(ask_rows(self.table.frame, [ask])[ask])
