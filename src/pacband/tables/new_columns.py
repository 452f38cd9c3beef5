"""New columns for the rows of a table: written to temporary files batch by batch, and joined to the table by position.

The table is read twice. A prediction beside the row of another is worse than none: so every batch also has a hash of
the cells that it was computed from, and the hash of every row is compared again when the columns are joined.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pacband.tables.connection import connect, literal, quoted

__all__ = ["ROW_HASH", "NewColumns"]

# The column of the hashes in a batch.
ROW_HASH = "pacband_row"
_CHANGED = "the rows were read in another order the second time: has the file changed meanwhile?"


class NewColumns:
    """Columns that are computed from some columns of a table, its `inputs`, for every row.

    Parameters
    ----------
    folder : str
        The folder for the temporary files; see `workspace`.
    relation : DuckDB relation
        The table.
    inputs : iterable of str
        The columns to compute from.
    """

    def __init__(self, folder: str, relation: Any, inputs: Iterable[str]) -> None:
        self._folder, self._relation, self._inputs = folder, relation, list(inputs)
        self._store = connect()
        self.n_rows = 0

    @property
    def hash_sql(self) -> str:
        """The hash of the cells of a row, for a SELECT."""
        return f"{self._hash()} as {ROW_HASH}"

    def add(self, frame: Any, hashes: Any) -> None:
        """Write the new columns of the next rows, a pandas dataframe, and the hashes of these rows."""
        frame[ROW_HASH] = hashes
        self._store.register("batch", frame)
        self._store.execute(f"copy (from batch) to {literal(f'{self._folder}/part{self.n_rows:012}.parquet')}")
        self._store.unregister("batch")
        self.n_rows += len(frame)

    def joined_sql(self, columns: Sequence[str], replaced: Mapping[str, str] | None = None, copied: Any = None) -> str:
        """Return the SELECT of all rows with the new columns.

        `replaced` maps columns of the table to the new columns that take their place. `copied` is a
        relation of the same rows whose cells are returned in place of those of the table.
        """
        replace = ", ".join(f"b.{quoted(new)} as {quoted(old)}" for old, new in (replaced or {}).items())
        parts = literal(f"{glob.escape(self._folder)}/part*.parquet")
        others = "" if copied is None else f"({copied.sql_query()}) c positional join "
        return (
            f"select {'t' if copied is None else 'c'}.*"
            f"{f' replace ({replace})' if replace else ''}, {', '.join(f'b.{quoted(c)}' for c in columns)} "
            f"from {others}({self._relation.sql_query()}) t positional join read_parquet({parts}) b "
            f"where case when {self._hash('t.')} = b.{ROW_HASH} then true else error('{_CHANGED}') end"
        )

    def _hash(self, table: str = "") -> str:
        return f"hash({', '.join(f'{table}{quoted(name)}' for name in self._inputs)})"
