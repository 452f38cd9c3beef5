"""Tables in files: CSV and Parquet, one or many, read and written by an embedded DuckDB in a stream.

The cells of a CSV file are texts. They stay as they are, so that what is passed through comes out as it went in; the
columns that are computed with are read as float64. An error states in one sentence what cannot be read: which file,
line and column, and what is there. A file that changes while it is read is refused, and then nothing is written.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import duckdb

from pacband.core.arrays import refuse_large_integers
from pacband.core.atomic_files import draft_file
from pacband.exceptions import InvalidInput
from pacband.tables.connection import allowing, connect, draft_of, literal, literals, quoted, workspace
from pacband.tables.delimited import LARGE_INTEGER, LONGEST_ROW, csv_header, float_sql, is_parquet, refuse_long_end
from pacband.tables.parquet import ParquetTable, parquet_table
from pacband.tables.paths import Found, find_files

__all__ = ["Files", "open_files", "reading", "write_table"]

_SOURCE_COLUMN = re.compile(r"Could not convert string '(.*)' to DOUBLE when casting from source column (.*)")


@dataclass(frozen=True)
class Files:
    """Files of one kind that make one table; for CSV their columns and delimiter, for Parquet what they hold."""

    found: tuple[Found, ...]
    folder: str
    header: tuple[str, ...] = ()
    delimiter: str = ","
    parquet: ParquetTable | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the files are."""
        return tuple(file.path for file in self.found)

    @property
    def kind(self) -> str:
        """What the files are: csv or parquet."""
        return "csv" if self.parquet is None else "parquet"

    def relation(
        self, numeric: Iterable[str] = (), *, only: Sequence[str] | None = None, threads: int | None = None
    ) -> Any:
        """Return the table as a DuckDB relation; these columns of a CSV file are read as numbers.

        Rows that are to be written in their order are best read by one thread: several hold back what comes too early,
        and memory grows with the file.

        Parameters
        ----------
        numeric : iterable of str
            The columns that are computed with.
        only : sequence of str, optional
            The only columns to read. Where one of them is not there, all are read, so that others can say so.
        threads : int, optional
            How many to read with; by default one for each core.
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
        """Write the table to a Parquet file in our folder, by the rules above; return its path."""
        path = os.path.join(self.folder, "table.parquet")
        write_table(self.relation(numeric, only=only), path)
        return path

    def reading(self) -> AbstractContextManager[None]:
        """Say in one sentence what cannot be read: as `reading`, and in which row a text stands for a number."""
        names = {file.path: file.shown for file in self.found}
        return reading(self.found[0].shown, locate=self._text_rows, names=names)

    @contextmanager
    def writing(self, output: str | None) -> Iterator[None]:
        """Let `write_table` write this output. It gets its name at the end, where all went well and no file changed."""
        if output is None:
            yield
        elif output == "-":
            # DuckDB would open the stream anew, and so cut off what was written to it before.
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
        """Raise where a file is not what it was when it was found."""
        for file in self.found:
            file.refuse_change()

    def _text_rows(self, message: str) -> str:
        found = _SOURCE_COLUMN.search(message)
        if found is None or found.group(2) not in self.header:
            return ""
        name = quoted(found.group(2))
        texts = self.relation().project(f"row_number() over () - 1 as row, {name}")
        bad = texts.filter(f"{name} is not null and try_cast({name} as double) is null").order("row").limit(3)
        rows = [str(row) for row, _ in bad.fetchall()]
        return f" So it is in row {', '.join(rows)} (counting from 0)." if rows else ""


@contextmanager
def open_files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[Files]:
    """Yield the files behind paths, globs, directories and ``-`` for standard input, found and of one kind.

    A file that is not the same at the end is refused, and is named as the cause of what went wrong before.
    """
    with workspace() as folder:
        found = find_files([os.fspath(path) for path in paths], folder)
        with allowing([file.path for file in found]):
            files = _files(tuple(found), folder)
            try:
                yield files
            except Exception:  # whatever went wrong, a file that changed is the reason to name
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
    """Say in one sentence what DuckDB could not read, and which file that is: this one, where it does not say."""
    try:
        yield
    except duckdb.Error as error:
        raise InvalidInput(_sentence(str(error), path, names or {}) + locate(str(error))) from None
    except RuntimeError as error:
        # This is how DuckDB reports that Ctrl-C was pressed.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def write_table(relation: Any, path: str) -> None:
    """Write a relation to a CSV or Parquet file: an output of `Files.writing`, or a file in a folder of our own."""
    try:
        if Path(path).suffix.lower() in (".parquet", ".pq"):
            relation.write_parquet(draft_of(path), use_tmp_file=False)
        else:
            relation.write_csv(draft_of(path), header=True, use_tmp_file=False)
    except duckdb.IOException as error:
        # Of what cannot be read, `reading` makes a sentence: it knows the files.
        raise InvalidInput(_sentence(str(error), path if path != "-" else "standard output", {})) from None


def _sentence(message: str, path: str | None, names: dict[str, str]) -> str:
    """Turn a message of DuckDB's into one sentence."""
    where = re.search(r"^\s*file = (.*)$", message, re.MULTILINE)
    file = where.group(1).strip() if where else ""
    name = names.get(file, file) or path or "the table"
    at = re.search(r"CSV Error on Line: (\d+)", message)
    line = f"{name}, line {at.group(1)}" if at else name
    if text := re.search(r'Error when converting column "(.*)". Could not convert string "(.*)" to', message):
        return f"{line}: column {text.group(1)!r} must be numeric, got {text.group(2)!r}."
    if text := _SOURCE_COLUMN.search(message):
        return f"{line}: column {text.group(2)!r} must be numeric, got {text.group(1)!r}."
    if text := re.search(f"{re.escape(LARGE_INTEGER)}(.*)", message):
        refuse_large_integers(f"{line}: column {text.group(1)!r}")
    if ragged := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return f"{line}: a row must have {ragged.group(1)} cells like the header, got {ragged.group(2)}."
    if full := re.search(r'Could not write file \\?".*?\\?": ([^"]*)', message):
        return f"{name}: {full.group(1).strip()}."
    if "utf-8" in message:
        return f"{line}: the file must be text in UTF-8."
    if "Maximum line size" in message or "Parallel CSV Reader currently does not support" in message:
        return f"{line}: a row must have at most {LONGEST_ROW:,} bytes."
    if "unterminated quote" in message:
        return f"{line}: a cell that begins with a quote must end with one."
    if "No space left on device" in message:
        return f"{name}: there is no space left on the device."
    for known, shown in names.items():
        message = message.replace(known, shown)
    first = message.strip().splitlines()[0]
    return f"{line}: {first.split(': ', 1)[-1]}" if not at else f"{line}: {message.strip().splitlines()[1]}"
