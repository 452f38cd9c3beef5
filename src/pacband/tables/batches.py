"""The rows of a DuckDB relation in batches of pandas, in their order, for models to fit on and to predict from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pacband.tables.connection import connect
from pacband.tables.reading_errors import reading

__all__ = ["batches"]


def batches(relation: Any, columns: str, n_rows: int = 20_480) -> Iterator[Any]:
    """Yield all rows in order as pandas dataframes.

    A gap in a column of texts is NaN, as pandas reads it from a file: some models distinguish NaN from None.

    Parameters
    ----------
    relation : DuckDB relation
        The table.
    columns : str
        The columns, as the list of a SELECT.
    n_rows : int
        The number of rows in a batch.
    """
    # A relation would load all rows at once, so this opens a connection of its own. It has one thread, since several
    # threads return the rows in any order.
    with reading(), connect(threads=1) as connection:
        stream = connection.execute(f"select {columns} from ({relation.sql_query()})")
        while len(batch := stream.fetch_df_chunk(n_rows // 2048)):
            for name in (name for name in batch.columns if batch[name].dtype.kind == "O"):
                batch[name] = batch[name].where(batch[name].notna(), float("nan"))
            yield batch
