"""Tables in files: CSV and Parquet, one or many, read and written by an embedded DuckDB in a stream.

The cells of a CSV file are texts. They stay texts, so that columns which are only copied come out unchanged; the
columns that are computed with are read as float64. An error states in one sentence what cannot be read: which file,
line and column, and what is there. If a file changes while it is read, it is refused and nothing is written.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from pacband.core.atomic_files import draft_file
from pacband.core.extras import require
from pacband.exceptions import InvalidInput
from pacband.tables.connection import allowing, connect, draft_of, literal, literals, quoted, workspace
from pacband.tables.delimited import csv_header, float_sql, is_parquet, refuse_long_end
from pacband.tables.messages import SOURCE_COLUMN, explain
from pacband.tables.parquet import ParquetTable, parquet_table
from pacband.tables.paths import Found, find_files

__all__ = ["Files", "open_files", "reading", "write_table"]

duckdb = require("duckdb", purpose="a table in a file")


@dataclass(frozen=True)
class Files:
    """Files of one kind that make one table.

    CSV files have a header and a delimiter, Parquet files a `ParquetTable`.
    """

    found: tuple[Found, ...]
    folder: str
    header: tuple[str, ...] = ()
    delimiter: str = ","
    parquet: ParquetTable | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The absolute paths of the files."""
        return tuple(file.path for file in self.found)

    @property
    def plain_columns(self) -> list[str]:
        """The columns that can be read although nobody asks for them: of Parquet files, those with one type in all."""
        if self.parquet is None:
            return list(self.header)
        names = [*self.parquet.kinds[0][0], *self.parquet.keys]
        return [name for name in names if name in self.parquet.keys or self.parquet.is_uniform([name])]

    @property
    def kind(self) -> str:
        """The kind of the files: csv or parquet."""
        return "csv" if self.parquet is None else "parquet"

    def relation(
        self, numeric: Iterable[str] = (), *, only: Sequence[str] | None = None, threads: int | None = None
    ) -> Any:
        """Return the table as a DuckDB relation; these columns of a CSV file are read as numbers.

        To write rows in their order, read them with one thread: several threads hold back rows that come too early, and
        memory grows with the file.

        Parameters
        ----------
        numeric : iterable of str
            The columns that are computed with.
        only : sequence of str, optional
            The only columns to read. If one of them is missing, all are read, and the caller finds out which.
        threads : int, optional
            The number of threads to read with; by default one for each core.
        """
        with self.reading():
            connection = connect(threads=threads)
            if self.parquet is not None:
                names = [*self.parquet.kinds[0][0], *self.parquet.keys]
                return connection.sql(self.parquet.select(None if only is None or set(only) - set(names) else only))
            wanted = self.header if only is None or set(only) - set(self.header) else only
            numbers = set(numeric)
            listed = ", ".join(
                f"{float_sql(name)} as {quoted(name)}" if name in numbers else quoted(name)
                for name in self.header
                if name in wanted
            )
            # Literals, not parameters: with those DuckDB would read the whole table at once.
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.header)
            return connection.sql(
                f"select {listed} from read_csv({literals(map(glob.escape, self.paths))}, auto_detect=false, "
                f"header=true, hive_partitioning=false, delim={literal(self.delimiter)}, quote='\"', escape='\"', "
                f"columns={{{columns}}})"
            )

    def converted(self, numeric: Iterable[str], *, only: Sequence[str] | None = None) -> str:
        """Write the table, as `relation` reads it, to a Parquet file in our folder; return its path."""
        path = os.path.join(self.folder, "table.parquet")
        write_table(self.relation(numeric, only=only), path)
        return path

    def reading(self) -> AbstractContextManager[None]:
        """Raise an error of one sentence if a file cannot be read. It names the rows with a text for a number."""
        names = {file.path: file.shown for file in self.found}
        return reading(self.found[0].shown, locate=self._text_rows, names=names)

    @contextmanager
    def writing(self, output: str | None) -> Iterator[None]:
        """Let `write_table` write this output. It gets its name at the end, if no file changed."""
        if output is None:
            yield
        elif output == "-":
            # DuckDB would open the stream again and cut off what was written to it before.
            rows = os.path.join(self.folder, "rows.csv")
            with allowing(drafts={output: rows}):
                yield
            self.refuse_changes()
            with open(rows, "rb") as written:
                copyfileobj(written, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        else:
            with draft_file(Path(output)) as draft, allowing(drafts={output: str(draft)}):
                yield
                self.refuse_changes()

    def refuse_changes(self) -> None:
        """Raise if a file changed since it was found."""
        for file in self.found:
            file.refuse_change()

    def _text_rows(self, message: str) -> str:
        """Return a sentence that names the first rows with a text in a column of numbers; empty for other messages."""
        found = SOURCE_COLUMN.search(message)
        if found is None or found["column"] not in self.header:
            return ""
        name = quoted(found["column"])
        texts = self.relation().project(f"row_number() over () - 1 as row, {name}")
        bad = texts.filter(f"{name} is not null and try_cast({name} as double) is null").order("row").limit(3)
        rows = [str(row) for row, _ in bad.fetchall()]
        if not rows:
            return ""
        return f" The first such row{' is' if len(rows) == 1 else 's are'} {', '.join(rows)} (counting from 0)."


@contextmanager
def open_files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[Files]:
    """Yield the files behind paths, globs, directories and ``-`` for standard input, found and of one kind.

    If a file changed in the meantime, an error names it, also in place of the error that the change caused.
    """
    with workspace() as folder:
        found = find_files([os.fspath(path) for path in paths], folder)
        with allowing([file.path for file in found]):
            files = _files(tuple(found), folder)
            try:
                yield files
            except Exception:  # if a file changed, that is the cause to name
                files.refuse_changes()
                raise
            files.refuse_changes()


def _files(found: tuple[Found, ...], folder: str) -> Files:
    kinds = {is_parquet(file.path, file.shown) for file in found}
    if len(kinds) != 1:
        raise InvalidInput(f"the files must be all CSV or all Parquet, got {len(found)} of both kinds.")
    if kinds == {True}:
        with reading(found[0].shown, names={file.path: file.shown for file in found}):
            return Files(found, folder, parquet=parquet_table(found))
    header, delimiter = csv_header(found[0].path, found[0].shown)
    for file in found[1:]:
        if csv_header(file.path, file.shown) != (header, delimiter):
            raise InvalidInput(f"{file.shown} has other columns than {found[0].shown}.")
    for file in found:
        refuse_long_end(file.path, file.shown)
    return Files(found, folder, header, delimiter)


@contextmanager
def reading(
    path: str | None = None,
    *,
    locate: Callable[[str], str] = lambda message: "",
    names: dict[str, str] | None = None,
) -> Iterator[None]:
    """Raise an error of one sentence if DuckDB cannot read a file. `path` is the file if DuckDB does not name it."""
    try:
        yield
    except duckdb.Error as error:
        raise InvalidInput(explain(str(error), path, names or {}) + locate(str(error))) from None
    except RuntimeError as error:
        # DuckDB reports Ctrl-C in this way.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def write_table(relation: Any, path: str) -> None:
    """Write a relation to a CSV or Parquet file: an output of `Files.writing`, or a file in our own folder."""
    try:
        if Path(path).suffix.lower() in (".parquet", ".pq"):
            relation.write_parquet(draft_of(path), use_tmp_file=False)
        else:
            relation.write_csv(draft_of(path), header=True, use_tmp_file=False)
    except duckdb.IOException as error:
        # `reading` explains errors of reading: it knows the files.
        raise InvalidInput(explain(str(error), path if path != "-" else "standard output", {})) from None
