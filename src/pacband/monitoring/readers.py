"""From the cells of a stream to the rows that a monitor counts: with a certificate by columns, with a model by itself.

A stream is CSV, whose cells are texts, or JSON lines. Both readers name the columns that they need (`numbers` and
`words`, among them `late` for labels that may be missing, and `inputs` for words that a model reads as numbers), and
count the rows of a batch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.cells import is_gap, matching, number, spelled
from pacband.core.dates import order_words, to_days
from pacband.draws import Draws
from pacband.estimators.base import Certified
from pacband.estimators.grouping import match_groups
from pacband.exceptions import InvalidInput
from pacband.monitoring.monitor import Monitor
from pacband.scores.columns import Columns
from pacband.tables.certified_draws import table_draws
from pacband.tables.columns import read_predicted, read_values
from pacband.tables.date_columns import DATE_KINDS
from pacband.tables.survey import known_kinds, model_kinds, number_columns

__all__ = ["ColumnReader", "ModelReader", "Reader"]

# The cells of a batch, by the names of their columns.
Cells = Mapping[str, Sequence[Any]]


class Reader(ABC):
    """What both readers share: the columns they read, and the units of the rows."""

    numbers: Sequence[str]
    words: Sequence[str]
    late: Sequence[str]
    inputs: Sequence[str] = ()

    def __init__(self, monitor: Monitor, unit: str | None) -> None:
        self._monitor = monitor
        self._draws = table_draws(monitor.certificate.basis, unit=unit)
        self._unit = None if self._draws is None else self._draws.column

    @abstractmethod
    def count(self, cells: Cells) -> None:
        """Count the rows of a batch."""

    def _units(self, cells: Cells) -> Draws | None:
        """Return the units of the rows, if the promise is about units."""
        return None if self._draws is None or self._unit is None else self._draws.bind(self._labels(cells))

    def _labels(self, cells: Cells) -> list[str]:
        """Return the labels of the units as texts: a unit is the same in CSV and in JSON lines."""
        assert self._unit is not None
        texts = ["" if cell is None else str(cell) for cell in cells[self._unit]]
        for row, text in enumerate(texts, 1):
            if is_gap(text):
                raise InvalidInput(f"every row must have a unit in {self._unit!r}: row {row} of a batch has none.")
        return texts


class ColumnReader(Reader):
    """Reads y, T, σ̂ and the group from columns of the stream."""

    def __init__(self, monitor: Monitor, columns: Columns, unit: str | None) -> None:
        super().__init__(monitor, unit)
        self._columns = columns
        self.numbers, self.late = columns.numeric, columns.target
        self.words = [name for name in (columns.group, self._unit) if name is not None]

    def count(self, cells: Cells) -> None:
        """Count the rows of a batch."""
        prediction, scale = read_predicted(cells, self._columns)
        groups = None
        if self._columns.group is not None:
            match = matching(self._monitor.groups, exact_texts=True)
            groups = [match(cell) for cell in cells[self._columns.group]]
        y = read_values(cells, self._columns.target)
        self._monitor.update(y, prediction, scale, groups=groups, draws=self._units(cells))


class ModelReader(Reader):
    """Reads y and the inputs of a model, which predicts the rows. The cells mean what they mean in a table."""

    def __init__(self, monitor: Monitor, target: Sequence[str], unit: str | None) -> None:
        super().__init__(monitor, unit)
        assert isinstance(monitor.model, Certified)
        self._model = monitor.model
        self._kinds = known_kinds(model_kinds(self._model))
        n_outputs = monitor.certificate.basis.n_outputs
        if len(target) != n_outputs:
            raise InvalidInput(
                f"the model predicts {n_outputs} output(s): name as many target columns, got {len(target)}."
            )
        self.numbers = self.late = tuple(target)
        self.words = [*self._kinds, *filter(None, [self._unit])]
        self.inputs = number_columns(self._model)

    def count(self, cells: Cells) -> None:
        """Count the rows of a batch."""
        import pandas as pd

        X = pd.DataFrame({name: self._column(name, kind, cells[name]) for name, kind in self._kinds.items()})
        match_groups(self._model, X)
        declared, y = self._model.draws, read_values(cells, tuple(self.numbers))
        if self._unit is not None and declared is not None and declared.column is not None:
            # The model itself reads the units from the column that it names.
            self._monitor.update(X.assign(**{declared.column: self._labels(cells)}), y)
        else:
            self._monitor.update(X, y, draws=self._units(cells))

    def _column(self, name: str, kind: str, cells: Sequence[Any]) -> npt.NDArray[Any]:
        """Return the cells of a column as the model takes them. A category is an object, even if all are gaps."""
        if kind == "number":
            return np.array([_number(name, cell) for cell in cells])
        if kind in DATE_KINDS:
            return np.array([_days(name, DATE_KINDS[kind], cell) for cell in cells])
        if self._model.reads_categories:
            return np.array([math.nan if text is None else text for text in map(spelled, cells)], dtype=object)
        for cell in cells:
            if not (cell is None or isinstance(cell, str)):
                raise InvalidInput(
                    f"column {name!r} held texts in the fit, and holds {cell!r} now: write it as a text."
                )
        return np.array([math.nan if cell is None or is_gap(cell) else cell for cell in cells], dtype=object)


def _days(name: str, order: str, cell: Any) -> float:
    """Return a date as days since 1970-01-01, NaN for a gap. It may be in ISO format as well."""
    if cell is None or (isinstance(cell, str) and is_gap(cell)):
        return math.nan
    found = [to_days(cell.strip(" "), each) for each in (order, "ymd")] if isinstance(cell, str) else [None]
    days = next((value for value in found if value is not None), None)
    if days is None:
        raise InvalidInput(
            f"column {name!r} must hold dates, {order_words(order)} as in the fit or in ISO format, got {cell!r}."
        )
    return days


def _number(name: str, cell: Any) -> float:
    value = number(cell)
    if value is None:
        raise InvalidInput(f"column {name!r} must be numeric, got {cell!r}.")
    if math.isinf(value):
        raise InvalidInput(f"column {name!r} must be finite or missing, got {cell!r}.")
    return value
