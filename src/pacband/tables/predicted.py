"""A table of raw rows with what a model predicts of them: a table that a certificate can be used with.

So all that reads a table with predictions reads a table without them too, by way of the model: reports, diagnoses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacband.certification.reused_rows import SeenRows
from pacband.core.progress import Progress
from pacband.draws import Units
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.tables.connection import connect, literal, quoted, workspace
from pacband.tables.model_rows import ModelTable
from pacband.tables.new_columns import NewColumns

__all__ = ["PredictedTable", "predicted_table"]


@dataclass(frozen=True, eq=False)
class PredictedTable:
    """Raw rows with the predictions and scales of a model.

    Attributes
    ----------
    relation : DuckDB relation
        The rows. If the model promises within groups, their column has the labels of the certificate.
    columns : Columns
        Where y, T, σ̂ and the group are.
    seen : SeenRows
        How many of the rows the model was fitted on.
    seen_units : int
        How many of the units the model was fitted on.
    """

    relation: Any
    columns: Columns
    seen: SeenRows
    seen_units: int


@contextmanager
def predicted_table(table: ModelTable, progress: Progress = lambda done, total: None) -> Iterator[PredictedTable]:
    """Predict all rows in batches, and yield them with the predictions. Memory does not grow with their number.

    The rows and predictions are in a temporary file, which is removed at the end.
    """
    import pandas as pd

    seen, columns = SeenRows(table.model.training_rows_), Columns(target=table.target, prediction=())
    # New columns get names that no column of the table has.
    free = "_" * max(map(len, table.relation.columns))
    with workspace() as folder:
        found = NewColumns(folder, table.relation, table.kinds)
        for rows in table.batches(progress, hash_sql=found.hash_sql):
            prediction, scale = table.model.predict_with_scale(rows.X)
            parts = scale if isinstance(scale, tuple) else () if scale is None else (scale,)
            arrays = _columns(f"prediction{free}", prediction)
            scales = [_columns(f"scale{k}{free}", part) for k, part in enumerate(parts)]
            columns = Columns(
                target=table.target,
                prediction=tuple(arrays),
                scale=tuple(tuple(names) for names in scales),
                group=table.own_group or table.group,
            )
            frame = pd.DataFrame({name: values for each in (arrays, *scales) for name, values in each.items()})
            if table.own_group is not None:
                frame[f"group{free}"] = rows.groups
            found.add(frame, rows.hashes)
            seen.add(rows.X, rows.y)
        if not found.n_rows:
            raise InvalidInput("the table is empty: at least one row is needed.")
        seen.compare()
        own = {} if table.own_group is None else {table.own_group: f"group{free}"}
        path = literal(f"{folder}/predicted.parquet")
        with connect(enable_external_file_cache="false") as connection:
            connection.execute(f"copy ({found.joined_sql(columns.predicted, own)}) to {path} (format parquet)")
        relation = connect().sql(f"from read_parquet({path})")
        yield PredictedTable(relation, columns, seen, _count_seen_units(table, relation))


def _columns(name: str, values: Any) -> dict[str, Any]:
    """Return one column, or one for each of several outputs."""
    array = np.asarray(values, dtype=np.float64)
    return {name: array} if array.ndim == 1 else {f"{name}{k}": array[:, k] for k in range(array.shape[1])}


def _count_seen_units(table: ModelTable, relation: Any) -> int:
    """Return how many of the units in a table the model was fitted on."""
    if not isinstance(table.draws, Units) or table.model.training_units_ is None:
        return 0
    (values,) = relation.project(quoted(table.drawn[0])).distinct().fetchnumpy().values()
    return table.model.count_seen_units(table.draws.bind(np.asarray(values)))
