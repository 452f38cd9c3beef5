"""Predict the rows of a table with a fitted model, in batches, and write them with the prediction and its band.

Memory does not grow with the number of rows: what is predicted goes to temporary files, which are joined to the table
by position at the end.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pacband.core.cells import matching
from pacband.core.progress import Progress
from pacband.exceptions import InvalidInput
from pacband.tables.batches import batches
from pacband.tables.connection import connect, literal, quoted, workspace
from pacband.tables.survey import check_kinds, find_columns, inputs_sql, model_kinds
from pacband.tables.writing import write_table

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["match_groups", "write_predictions"]

_CHANGED = "the rows were read in another order the second time: has the file changed meanwhile?"


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
        The names of the new columns "prediction", "lower" and "upper".
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
        columns, n_rows = _predict_to_files(folder, model, relation, kinds, names, candidate, progress)
        # What is read once need not be cached.
        with connect(enable_external_file_cache="false") as connection:
            # A band beside the row of another prediction is worse than none: the hash of the row is compared again.
            predicted = literal(f"{glob.escape(folder)}/*.parquet")
            same = f"{_row_hash_sql(kinds, table='t.')} = b.pacband_row"
            others = "" if copied is None else f"({copied.sql_query()}) c positional join "
            joined = connection.sql(
                f"select {'t' if copied is None else 'c'}.*, {', '.join(f'b.{quoted(name)}' for name in columns)} "
                f"from {others}({relation.sql_query()}) t positional join read_parquet({predicted}) b "
                f"where case when {same} then true else error('{_CHANGED}') end"
            )
            write_table(joined, output)
    return n_rows


def match_groups(model: Certified, table: Any) -> None:
    """Replace the groups of a pandas table by the labels of the certificate, where a file spells them differently.

    Changes `table` in place.
    """
    group = model.grouping_
    if isinstance(group, str):
        certificate: Any = model.certificate_
        match = matching(certificate.groups)
        table[group] = [match(cell) for cell in table[group]]


def _predict_to_files(
    folder: str,
    model: Certified,
    relation: Any,
    kinds: Mapping[str, str | None],
    names: Mapping[str, str],
    candidate: str | None,
    progress: Progress,
) -> tuple[list[str], int]:
    """Write what the model predicts to Parquet files, batch by batch; return the new columns and the number of rows."""
    texts = not model.reads_categories
    inputs = inputs_sql(relation, check_kinds(relation, kinds, texts=texts), texts=texts)
    options = {} if candidate is None else {"candidate": candidate}
    ((total,),) = relation.aggregate("count(*)").fetchall()
    columns: list[str] = []
    done = 0
    with connect() as store:
        for batch in batches(relation, f"{inputs}, {_row_hash_sql(kinds)} as pacband_row"):
            row_hashes = batch.pop("pacband_row")
            match_groups(model, batch)
            bands = model.predict_interval(batch, output="frame", **options)
            bands.columns = columns = [_new_name(name, names) for name in bands.columns]
            for name in set(columns) & set(relation.columns) if not done else ():
                raise InvalidInput(f"the table has a column {name!r} already: choose another name for the new column.")
            bands["pacband_row"] = row_hashes
            store.register("batch", bands)
            store.execute(f"copy (from batch) to {literal(f'{folder}/{done:012}.parquet')}")
            store.unregister("batch")
            done += len(batch)
            progress(done, total)
    return columns, done


def _row_hash_sql(names: Iterable[str], table: str = "") -> str:
    """Return the hash of the cells of a row in these columns, for a SELECT."""
    return f"hash({', '.join(f'{table}{quoted(name)}' for name in names)})"


def _new_name(name: str, names: Mapping[str, str]) -> str:
    """Return the user's name of a new column; with several outputs a number follows it."""
    kind, _, number = name.partition("_")
    return f"{names[kind]}_{number}" if number else names[kind]
