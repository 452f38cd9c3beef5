"""Write a table to a CSV or Parquet file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pacband.core.extras import require
from pacband.exceptions import InvalidInput
from pacband.tables.connection import draft_of, quoted
from pacband.tables.messages import explain

__all__ = ["write_table"]

duckdb = require("duckdb", purpose="a table in a file")


def write_table(relation: Any, path: str) -> None:
    """Write a relation to a CSV or Parquet file: an output of `Files.writing`, or a file in our own folder."""
    draft = draft_of(path)
    try:
        if Path(path).suffix.lower() in (".parquet", ".pq"):
            relation.write_parquet(draft.path, use_tmp_file=False)
        else:
            if draft.decimal != ".":
                relation = relation.project(_spell_numbers(relation, draft.decimal))
            relation.write_csv(draft.path, header=True, sep=draft.delimiter, use_tmp_file=False)
    except duckdb.IOException as error:
        # `reading` explains errors of reading: it knows the files.
        raise InvalidInput(explain(str(error), path if path != "-" else "standard output", {})) from None


def _spell_numbers(relation: Any, decimal: str) -> str:
    """Return the columns of a relation for a SELECT, its numbers with this decimal mark."""
    columns = zip(map(quoted, relation.columns), map(str, relation.types), strict=True)
    return ", ".join(
        f"replace(cast({name} as varchar), '.', '{decimal}') as {name}" if held in ("DOUBLE", "FLOAT") else name
        for name, held in columns
    )
