"""Test the promise of a model on raw rows: the model predicts them, and `check` judges the predictions.

The rows are read from a table in pieces, so that memory does not grow with their number, except where draws are not
rows: then targets, predictions and scales of all rows are kept. A model has the fingerprints of the rows and of the
units that it was fitted on: the verdict states how many of them are among these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pacband.certification.reused_rows import refuse_reused_rows
from pacband.core.progress import Progress
from pacband.core.row_hashes import Fingerprints, row_bits, row_fingerprints
from pacband.estimators.base import Certified
from pacband.estimators.drawing import seen_units
from pacband.estimators.grouping import match_groups, read_labels
from pacband.exceptions import InvalidInput, ReusedData
from pacband.judging.checking import Piece, check_pieces
from pacband.judging.verdicts import Verdict
from pacband.tables.batches import batches
from pacband.tables.certified_draws import table_draws
from pacband.tables.columns import as_frame, check_columns, read_values, refuse_inexact
from pacband.tables.connection import quoted
from pacband.tables.survey import check_kinds, inputs_sql

__all__ = ["check_model"]

# The cells that are compared with the training rows at a time. They take 64 MB.
_CELLS_COMPARED = 1 << 23


def check_model(
    model: Certified,
    kinds: Mapping[str, str | None],
    relation: Any,
    *,
    target: Sequence[str],
    group: str | None = None,
    unit: str | None = None,
    level: float = 0.01,
    progress: Progress = lambda done, total: None,
) -> Verdict:
    """Test the promise of a fitted model on the rows of a DuckDB relation.

    Parameters
    ----------
    model : Certified
        The model, with its certificate.
    kinds : mapping of str to str or None
        The columns that it predicts from, in its order, and what each holds; see `check_kinds`.
    relation : DuckDB relation
        The labelled rows.
    target : sequence of str
        The columns of y, one for each output.
    group : str, optional
        A column of groups to list beside a promise about all rows. A model that promises within groups
        accepts only its own column.
    unit : str, optional
        The column of units, if the promise is about units; by default the one that names them.
    level
        As in `check`.
    progress : function of (done, total)
        Called after every piece.

    Returns
    -------
    Verdict
        It is `reused` also where more of the rows were used to fit the model than chance explains, or any of the
        units: new rows of a unit that the model has seen violate too seldom.
    """
    certificate: Any = model.certificate_
    n_outputs = certificate.basis.n_outputs
    if len(target) != n_outputs:
        raise InvalidInput(f"the model predicts {n_outputs} output(s): name as many target columns, got {len(target)}.")
    own = model.grouping_
    if own is not None:
        own = own if isinstance(own, str) else list(kinds)[own] if isinstance(own, int) else "a function"
        if group not in (None, own):
            raise InvalidInput(f"the model promises within the groups of {own!r}: group must be that, got {group!r}.")
        group = None
    draws = table_draws(certificate.basis, unit=unit)
    column = None if draws is None else draws.column
    frame: Any = as_frame(relation)
    refuse_inexact(frame, check_columns(frame, target, group, column, *kinds), target)
    seen = _TrainingRows(model.training_rows_)
    units: list[Any] = []
    n_seen = 0

    def pieces() -> Iterator[Piece]:
        ((total,),) = relation.aggregate("count(*)").fetchall()
        done = 0
        others = [*target, *(name for name in (group, column) if name is not None)]
        for table in batches(relation, _select_columns(relation, kinds, others, texts=not model.reads_categories)):
            match_groups(model, table)
            X = table.iloc[:, : len(kinds)]
            labels = read_labels(model.grouping_, X)
            if group is not None:
                labels = table.iloc[:, len(kinds) + len(target)].to_numpy()
            if column is not None:
                units.append(table.iloc[:, -1])
            outputs = {name: table.iloc[:, len(kinds) + k].to_numpy() for k, name in enumerate(target)}
            y = read_values(outputs, tuple(target))
            yield y, *model.predict_with_scale(X), labels
            seen.add(X, y)
            done += len(table)
            progress(done, total)

    if draws is None:
        verdict = check_pieces(certificate, pieces(), level=level)
    else:
        whole = _joined(list(pieces()))
        found = draws if column is None else draws.bind(np.concatenate([part.to_numpy() for part in units]))
        verdict = check_pieces(certificate, [whole], level=level, draws=found)
        n_seen = len(seen_units(model.training_units_, found))
    seen.compare()
    reused = verdict.reused or seen.reused or n_seen > 0
    return replace(verdict, reused=reused, training_rows=seen.n_rows, training_units=n_seen)


def _joined(pieces: Sequence[Piece]) -> Piece:
    """Return the rows of all pieces as one: a unit may have rows in several, and a series goes on."""
    if not pieces:
        raise InvalidInput("the table is empty: at least one row is needed.")

    def join(parts: Sequence[Any]) -> Any:
        if parts[0] is None:
            return None
        return tuple(map(join, zip(*parts, strict=True))) if isinstance(parts[0], tuple) else np.concatenate(parts)

    y, y_pred, scale, labels = map(join, zip(*pieces, strict=True))
    return y, y_pred, scale, labels


class _TrainingRows:
    """Counts the rows that a model was fitted on, in large batches: every comparison sorts the training rows."""

    def __init__(self, training: Fingerprints | None) -> None:
        self._training = training
        self._waiting: list[tuple[Fingerprints, Fingerprints]] = []
        self.n_rows, self.reused = 0, False

    def add(self, X: Any, y: Any) -> None:
        """Add some rows. They are compared when there are enough of them."""
        if self._training is None or not len(self._training) or (bits := row_bits(X, y)) is None:
            return
        self._waiting.append(bits)
        if sum(part.size for rows in self._waiting for part in rows) >= _CELLS_COMPARED:
            self.compare()

    def compare(self) -> None:
        """Compare the rows that were added since the last comparison."""
        if not self._waiting or self._training is None:
            return
        X, y = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting = []
        rows = row_fingerprints(X, y)
        assert rows is not None  # they are arrays
        self.n_rows += int(np.isin(rows, self._training).sum())
        try:
            refuse_reused_rows(self._training, rows, (X, y))
        except ReusedData:
            self.reused = True


def _select_columns(relation: Any, kinds: Mapping[str, str | None], others: Sequence[str], *, texts: bool) -> str:
    """Return the list of a SELECT: the columns that the model predicts from, as it takes them, then the others."""
    inputs = inputs_sql(relation, check_kinds(relation, kinds, texts=texts), texts=texts)
    # The others get names that no column of the table has.
    free = max(map(len, relation.columns)) * "_"
    return ", ".join([inputs, *(f"{quoted(name)} as {quoted(f'{free}_{k}')}" for k, name in enumerate(others))])
