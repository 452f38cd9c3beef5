"""The rows of a table for a model to judge: its inputs as it takes them, the targets, the groups and the draws.

`check_model`, `predicted_table` and `recalibrate_model` read the rows in this one way, in batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pacband.core.progress import Progress
from pacband.draws import Draws, Weighted
from pacband.estimators.base import Certified
from pacband.estimators.grouping import match_groups, read_labels
from pacband.exceptions import InvalidInput
from pacband.tables.batches import batches
from pacband.tables.certified_draws import table_draws
from pacband.tables.columns import as_frame, check_columns, read_values, refuse_inexact
from pacband.tables.connection import quoted
from pacband.tables.free_names import free_names
from pacband.tables.new_columns import ROW_HASH
from pacband.tables.survey import check_kinds, inputs_sql, model_kinds

__all__ = ["ModelTable", "RawRows", "joined"]


@dataclass(frozen=True, eq=False)
class RawRows:
    """Some rows: the inputs of the model, the targets, the groups, the columns of the draws, and the row hashes."""

    X: Any
    y: Any
    groups: Any
    drawn: tuple[Any, ...]
    hashes: Any

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True, eq=False)
class ModelTable:
    """A table of raw rows with a model that predicts them.

    Attributes
    ----------
    model : Certified
        The model, with its certificate.
    relation : DuckDB relation
        The rows.
    target : tuple of str
        The columns of y, one for each output.
    group : str or None
        A column of groups to list beside a promise about all rows.
    draws : Draws or None
        The draws of the rows, by the names of their columns; None if every row is a draw.
    """

    model: Certified
    relation: Any
    target: tuple[str, ...]
    group: str | None
    draws: Draws | None

    @classmethod
    def of(
        cls,
        model: Certified,
        relation: Any,
        *,
        target: Sequence[str],
        group: str | None = None,
        unit: str | None = None,
        importance: str | None = None,
    ) -> Self:
        """Return the table, or raise unless it has the columns that the model and its promise need.

        A model that promises within groups accepts only its own column as `group`. `unit` is the column of units, by
        default the one that names them. `importance` is the column of weights, if the rows are distributed as the
        calibration rows were.
        """
        certificate: Any = model.certificate_
        n_outputs = certificate.basis.n_outputs
        if len(target) != n_outputs:
            raise InvalidInput(
                f"the model predicts {n_outputs} output(s): name as many target columns, got {len(target)}."
            )
        table = cls(
            model, relation, tuple(target), None, table_draws(certificate.basis, None, unit=unit, importance=importance)
        )
        own = table.own_group
        if own is None:
            table = cls(model, relation, tuple(target), group, table.draws)
        elif group not in (None, own):
            raise InvalidInput(f"the model promises within the groups of {own!r}: group must be that, got {group!r}.")
        frame: Any = as_frame(relation)
        numbers = [*target, *(table.drawn if isinstance(table.draws, Weighted) else ())]
        refuse_inexact(frame, check_columns(frame, numbers, table.group, *table.drawn, *table.kinds), numbers)
        return table

    @property
    def kinds(self) -> dict[str, str | None]:
        """The columns that the model predicts from, in its order, and what each holds."""
        return model_kinds(self.model)

    @property
    def own_group(self) -> str | None:
        """The column of the groups that the model promises about, if it does."""
        own = self.model.grouping_
        return (
            own
            if own is None or isinstance(own, str)
            else list(self.kinds)[own]
            if isinstance(own, int)
            else "a function"
        )

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns of the draws."""
        return () if self.draws is None else self.draws.columns

    def count(self) -> int:
        """Return the number of rows."""
        ((n_rows,),) = self.relation.aggregate("count(*)").fetchall()
        return int(n_rows)

    def batches(
        self, progress: Progress = lambda done, total: None, *, hash_sql: str | None = None
    ) -> Iterator[RawRows]:
        """Yield all rows, in their order. `hash_sql` adds a hash to every row; see `NewColumns`."""
        kinds, n_target = self.kinds, len(self.target)
        total, done = self.count(), 0
        others = [*self.target, *filter(None, [self.group]), *self.drawn]
        listed = _select_columns(self.relation, kinds, others, texts=not self.model.reads_categories)
        for table in batches(self.relation, listed if hash_sql is None else f"{listed}, {hash_sql}"):
            hashes = None if hash_sql is None else table.pop(ROW_HASH)
            match_groups(self.model, table)
            X, rest = (
                table.iloc[:, : len(kinds)],
                [table.iloc[:, k].to_numpy() for k in range(len(kinds), table.shape[1])],
            )
            groups = read_labels(self.model.grouping_, X)
            if self.group is not None:
                groups = rest[n_target]
            y = read_values(dict(zip(self.target, rest, strict=False)), self.target)
            yield RawRows(X, y, groups, tuple(rest[len(rest) - len(self.drawn) :]), hashes)
            done += len(table)
            progress(done, total)

    def bind(self, batches: Sequence[RawRows]) -> Draws | None:
        """Return the draws of all rows, with the values of their columns."""
        if self.draws is None or not self.drawn:
            return self.draws
        return self.draws.bind(
            *(np.concatenate(parts) for parts in zip(*(rows.drawn for rows in batches), strict=True))
        )


def joined(parts: Sequence[Any]) -> Any:
    """Return the values of all batches as one: arrays, pairs of arrays, or None."""
    if parts[0] is None:
        return None
    return tuple(map(joined, zip(*parts, strict=True))) if isinstance(parts[0], tuple) else np.concatenate(parts)


def _select_columns(relation: Any, kinds: Mapping[str, str | None], others: Sequence[str], *, texts: bool) -> str:
    """Return the list of a SELECT: the columns that the model predicts from, as it takes them, then the others."""
    inputs = inputs_sql(relation, check_kinds(relation, kinds, texts=texts), texts=texts)
    free = free_names(relation, len(others))
    return ", ".join(
        [inputs, *(f"{quoted(name)} as {quoted(other)}" for name, other in zip(others, free, strict=True))]
    )
