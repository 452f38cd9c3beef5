"""Tables in files: CSV, Excel and Parquet, one or many, read and written by an embedded DuckDB in a stream.

The cells of a CSV file are texts. They stay texts, so that columns which are only copied come out unchanged; the
columns that are computed with are read as float64. The rows of a file with decimal commas are written with
decimal commas and the delimiter of the file, in UTF-8; all other rows are written as plain CSV. An error states in one
sentence what cannot be read: which file, line and column, and what is there. If a file changes while it is read, it is
refused and nothing is written.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from pacband.core.atomic_files import draft_file
from pacband.core.cells import is_gap
from pacband.core.number_formats import (
    PLAIN,
    PLAIN_FORMAT,
    SAY_HOW,
    FoundFormat,
    looks_written_otherwise,
    refuse_unclear,
)
from pacband.exceptions import InvalidInput
from pacband.tables.connection import Draft, allowing, connect, literal, literals, quoted, workspace
from pacband.tables.delimited import (
    NO_LAYOUT,
    Layout,
    find_numbers,
    float_sql,
    found_words,
    guarded_sql,
    is_parquet,
    plain_text_sql,
    read_layout,
    refuse_long_end,
)
from pacband.tables.dialects import FIND, Dialect
from pacband.tables.line_ends import other_line_end, with_one_line_end
from pacband.tables.messages import LINE_ENDS, NO_NUMBER_COLUMN, SOURCE_COLUMN
from pacband.tables.parquet import ParquetTable, parquet_table
from pacband.tables.paths import Found, find_files
from pacband.tables.plain_copies import plain_copy
from pacband.tables.reading_errors import reading
from pacband.tables.writing import write_table

__all__ = ["Files", "open_files"]


@dataclass(frozen=True)
class Files:
    """Files of one kind that make one table.

    CSV files have a layout and a number format, Parquet files a `ParquetTable`.
    """

    found: tuple[Found, ...]
    folder: str
    layout: Layout = NO_LAYOUT
    format: FoundFormat = PLAIN_FORMAT
    parquet: ParquetTable | None = None

    @property
    def header(self) -> tuple[str, ...]:
        """The columns of CSV files."""
        return self.layout.header

    @property
    def copied(self) -> Any:
        """The table with the texts of the files, if `relation` changes some of them; otherwise None."""
        return None if self.format.numbers.is_plain else self.relation()

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
        self,
        numeric: Iterable[str] = (),
        *,
        inputs: Iterable[str] = (),
        surveyed: Iterable[str] = (),
        only: Sequence[str] | None = None,
        threads: int | None = None,
    ) -> Any:
        """Return the table as a DuckDB relation; these columns of a CSV file are read as numbers.

        The other columns have the texts of the file: 1.234 and 1234 may be two machines, although both are the same
        number in a German file. Raises if numbers in `numeric` or `inputs` have two meanings; the relation raises if it
        reads such a number.

        To write rows in their order, read them with one thread: several threads hold back rows that come too early, and
        memory grows with the file.

        Parameters
        ----------
        numeric : iterable of str
            The columns that are computed with.
        inputs : iterable of str
            The columns that a model reads as numbers. They stay texts, in the plain format: in a file with decimal
            commas, 1,5 becomes 1.5, and 1.5 is refused. Gaps stay as they are.
        surveyed : iterable of str
            Columns that may hold numbers or labels. Every cell that is a number becomes a text in the plain format.
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
            numeric, inputs, numbers = set(numeric), set(inputs), self.format.numbers
            refuse_unclear(self.format, numeric | inputs, self.found[0].shown)
            cells = {}
            if not numbers.is_plain:
                cells = {name: f"coalesce({numbers.plain_sql(quoted(name))}, {quoted(name)})" for name in surveyed}
                cells |= {name: plain_text_sql(name, numbers) for name in inputs}
            cells |= {name: float_sql(name, numbers) for name in numeric}
            for name in self.format.undecided & (numeric | inputs):
                cells[name] = guarded_sql(name, cells.get(name, quoted(name)))
            listed = ", ".join(
                f"{cells[name]} as {quoted(name)}" if name in cells else quoted(name)
                for name in self.header
                if name in wanted
            )
            # Literals, not parameters: with those DuckDB would read the whole table at once.
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.header)
            return connection.sql(
                f"select {listed} from read_csv({literals(map(glob.escape, self.paths))}, auto_detect=false, "
                f"header=true, skip={self.layout.skip}, hive_partitioning=false, "
                f"delim={literal(self.layout.delimiter)}, quote='\"', escape='\"', columns={{{columns}}})"
            )

    def converted(
        self, numeric: Iterable[str], *, surveyed: Iterable[str] = (), only: Sequence[str] | None = None
    ) -> str:
        """Write the table, as `relation` reads it, to a Parquet file in our folder; return its path."""
        path = os.path.join(self.folder, "table.parquet")
        write_table(self.relation(numeric, surveyed=surveyed, only=only), path)
        return path

    def reading(self) -> AbstractContextManager[None]:
        """Raise an error of one sentence if a file cannot be read. It names the rows with a text for a number."""
        names = {file.path: file.shown for file in self.found}
        return reading(self.found[0].shown, locate=self._locate, names=names)

    @contextmanager
    def writing(self, output: str | None) -> Iterator[None]:
        """Let `write_table` write this output. It gets its name at the end, if no file changed."""
        draft = Draft("") if self.format.numbers.decimal == "." else Draft("", self.layout.delimiter, ",")
        if output is None:
            yield
        elif output == "-":
            # DuckDB would open the stream again and cut off what was written to it before.
            rows = os.path.join(self.folder, "rows.csv")
            with allowing(drafts={output: replace(draft, path=rows)}):
                yield
            self.refuse_changes()
            with open(rows, "rb") as written:
                copyfileobj(written, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        else:
            with draft_file(Path(output)) as path, allowing(drafts={output: replace(draft, path=str(path))}):
                yield
                self.refuse_changes()

    def refuse_changes(self) -> None:
        """Raise if a file changed since it was found."""
        for file in self.found:
            file.refuse_change()

    def _locate(self, message: str) -> str:
        """Return a sentence that names what a message of DuckDB is about; empty if that is not known."""
        if LINE_ENDS.search(message):
            found = (other_line_end(file, self.layout.delimiter) for file in self.found)
            return next((f" {sentence}" for sentence in found if sentence), "")
        return self._text_rows(message)

    def _text_rows(self, message: str) -> str:
        """Return a sentence that names the first rows with a text in a column of numbers; empty for other messages."""
        foreign = NO_NUMBER_COLUMN.search(message)
        found = SOURCE_COLUMN.search(message) or foreign
        if found is None or found["column"] not in self.header:
            return ""
        name = quoted(found["column"])
        plain = name if self.format.numbers.is_plain else self.format.numbers.plain_sql(name)
        # If the text is a number in the plain format, those that are none in any format are not such texts.
        such = name if PLAIN.plain(found["text"]) is None else PLAIN.plain_sql(name)
        texts = self.relation().project(f"row_number() over () - 1 as row, {name}")
        bad = texts.filter(f"{such} is not null and try_cast({plain} as double) is null").order("row").limit(3)
        rows = [str(row) for row, _ in bad.fetchall()]
        say, digits = "", any(map(str.isdigit, found["text"]))
        if is_gap(found["text"]):
            say = " It stands for a missing value: leave such rows out."
        elif looks_written_otherwise(found["text"]) or (foreign and digits):
            say = f" {SAY_HOW}"
        elif len(rows) > 1 and not digits:
            say = " The column holds texts."
        if not rows:
            return say
        return f" The first such row{' is' if len(rows) == 1 else 's are'} {', '.join(rows)} (counting from 0).{say}"


@contextmanager
def open_files(
    paths: Sequence[str | os.PathLike[str]],
    dialect: Dialect = FIND,
    *,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Files]:
    """Yield the files behind paths, globs, directories and ``-`` for standard input, found and of one kind.

    If a file changed in the meantime, an error names it, also in place of the error that the change caused.

    Parameters
    ----------
    paths : sequence of str or PathLike
        The names.
    dialect : Dialect
        How the files are written. What it leaves open is found in the files.
    note : function of a text
        Called with a sentence if the files are not written as plain CSV, and nobody said so.
    """
    with workspace() as folder:
        found = find_files([os.fspath(path) for path in paths], folder, dialect)
        with allowing([file.path for file in found]):
            files = _files(tuple(found), folder, dialect, note)
            try:
                yield files
            except Exception:  # if a file changed, that is the cause to name
                files.refuse_changes()
                raise
            files.refuse_changes()


def _files(found: tuple[Found, ...], folder: str, dialect: Dialect, note: Callable[[str], None]) -> Files:
    kinds = {is_parquet(file.path, file.shown) for file in found}
    if len(kinds) != 1:
        raise InvalidInput(f"the files must be all CSV or all Parquet, got {len(found)} of both kinds.")
    if kinds == {True}:
        with reading(found[0].shown, names={file.path: file.shown for file in found}):
            return Files(found, folder, parquet=parquet_table(found))
    first, *others = copies = [plain_copy(file, folder, number, dialect) for number, file in enumerate(found)]
    layout = read_layout(first.file.path, first.file.shown, dialect)
    for copy in others:
        if read_layout(copy.file.path, copy.file.shown, dialect) != layout:
            raise InvalidInput(f"{copy.file.shown} has other columns than {first.file.shown}.")
    for copy in copies:
        refuse_long_end(copy.file.path, copy.file.shown)
    numbers = find_numbers([copy.file.path for copy in copies], layout, dialect)
    if said := [*first.notes, *found_words(layout, numbers, dialect)]:
        note(f"Read {first.file.shown} with {', '.join(said)}.")
    plain = (with_one_line_end(copy.file, folder, number, layout.delimiter) for number, copy in enumerate(copies))
    return Files(tuple(plain), folder, layout, numbers)
