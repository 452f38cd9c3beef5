"""Predict the rows of a table with a fitted model, in batches, and write them with the prediction and its band.

Memory does not grow with the number of rows: what is predicted goes to temporary files, which are joined to the table
by position at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pacband.core.progress import Progress
from pacband.estimators.grouping import match_groups
from pacband.exceptions import InvalidInput
from pacband.tables.batches import batches
from pacband.tables.connection import connect, workspace
from pacband.tables.new_columns import ROW_HASH, NewColumns
from pacband.tables.survey import check_kinds, find_columns, inputs_sql, model_kinds
from pacband.tables.writing import write_table

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["write_predictions"]


def write_predictions(
    model: Certified,
    relation: Any,
    output: str,
    *,
    names: Mapping[str, str],
    candidate: str | None = None,
    copied: Any = None,
    progress: Progress = lambda done, total: None,
) -> int:
    """Write all rows of a table with the model's prediction and the ends of its band; return the number of rows.

    Parameters
    ----------
    model : Certified
        The model, fitted on a dataframe.
    relation : DuckDB relation
        The rows. The model finds its columns by their names.
    output : str
        The CSV or Parquet file; ``-`` is standard output.
    names : mapping of str to str
        The names of the new columns "prediction", "lower" and "upper", and of "scale", if σ̂ shall be written. A pair
        of scales has two columns, whose names end with _lower and _upper.
    candidate : str, optional
        The candidate of a family that predicts. By default the sharpest one predicts.
    copied : DuckDB relation, optional
        The same rows with the cells to write. By default those of `relation` are written.
    progress : function of (done, total)
        Called after every batch.
    """
    kinds = model_kinds(model)
    find_columns(relation, list(kinds))
    with workspace() as folder:
        found = NewColumns(folder, relation, kinds)
        columns = _predict_to_files(found, model, relation, kinds, names, candidate, progress)
        # What is read once need not be cached.
        with connect(enable_external_file_cache="false") as connection:
            write_table(connection.sql(found.joined_sql(columns, copied=copied)), output)
    return found.n_rows


def _predict_to_files(
    found: NewColumns,
    model: Certified,
    relation: Any,
    kinds: Mapping[str, str | None],
    names: Mapping[str, str],
    candidate: str | None,
    progress: Progress,
) -> list[str]:
    """Write what the model predicts to files, batch by batch; return the names of the new columns."""
    texts = not model.reads_categories
    inputs = inputs_sql(relation, check_kinds(relation, kinds, texts=texts), texts=texts)
    options = {} if candidate is None else {"candidate": candidate}
    ((total,),) = relation.aggregate("count(*)").fetchall()
    columns: list[str] = []
    for batch in batches(relation, f"{inputs}, {found.hash_sql}"):
        hashes = batch.pop(ROW_HASH)
        match_groups(model, batch)
        bands = model.predict_interval(batch, output="frame", **options)
        bands.columns = [_new_name(name, names) for name in bands.columns]
        if "scale" in names:
            for name, values in _scale_columns(model.predict_scale(batch, **options), names["scale"]).items():
                if name in bands:
                    raise InvalidInput(f"two new columns are called {name!r}: choose another name for the scale.")
                bands[name] = values
        columns = list(bands.columns)
        for name in set(columns) & set(relation.columns) if not found.n_rows else ():
            raise InvalidInput(f"the table has a column {name!r} already: choose another name for the new column.")
        found.add(bands, hashes)
        progress(found.n_rows, total)
    return columns


def _scale_columns(scale: Any, name: str) -> dict[str, Any]:
    """Return the columns of σ̂: lower and upper of a pair, and a number for each of several outputs."""
    if isinstance(scale, tuple):
        ends = zip(("lower", "upper"), scale, strict=True)
        return {new: part for end, values in ends for new, part in _scale_columns(values, f"{name}_{end}").items()}
    return {name: scale} if scale.ndim == 1 else {f"{name}_{k}": scale[:, k] for k in range(scale.shape[1])}


def _new_name(name: str, names: Mapping[str, str]) -> str:
    """Return the user's name of a new column; with several outputs a number follows it."""
    kind, _, number = name.partition("_")
    return f"{names[kind]}_{number}" if number else names[kind]
