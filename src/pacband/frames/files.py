"""Tables in files: CSV and Parquet, one or many, read and written by an embedded DuckDB in a stream.

The cells of a CSV file are texts. They stay as they are, so that what is passed through comes out as it went in; the
columns that are computed with are read as float64. What cannot be read is said in one sentence: which file, line and
column, and what is there.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from pacband._storage import drafted
from pacband.exceptions import InvalidInput

__all__ = ["Files", "open_files", "reading", "write_table"]

_DELIMITERS = ",;\t|"
_SOURCE_COLUMN = re.compile(r"Could not convert string '(.*)' to DOUBLE when casting from source column (.*)")


@dataclass(frozen=True)
class Files:
    """Files of one kind that make one table; for CSV, their columns and delimiter."""

    paths: tuple[str, ...]
    kind: str
    header: tuple[str, ...] = ()
    delimiter: str = ","
    # A relation of older releases of DuckDB does not keep its connection open by itself.
    _connections: list[Any] = field(default_factory=list, repr=False, compare=False)

    def relation(self, numeric: Iterable[str] = (), *, threads: int | None = None) -> Any:
        """Return the table as a DuckDB relation; these columns of a CSV file are read as numbers.

        Rows that are to be written in their order are best read by one thread: several hold back what comes too early,
        and memory grows with the file.
        """
        connection = duckdb.connect(config={"threads": threads or os.cpu_count() or 1})
        self._connections.append(connection)
        paths = list(self.paths)
        with reading(*self.paths):
            if self.kind == "parquet":
                return connection.read_parquet(paths, hive_partitioning=len(paths) > 1 or "=" in paths[0])
            # Literals, not parameters: with those DuckDB would read the whole table at once.
            columns = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in self.header)
            texts = connection.sql(
                f"select * from read_csv([{', '.join(map(_literal, paths))}], auto_detect=false, header=true, "
                f"delim={_literal(self.delimiter)}, quote='\"', escape='\"', columns={{{columns}}})"
            )
            wanted = set(numeric)
            return texts.project(
                ", ".join(
                    f"cast({quoted(name)} as double) as {quoted(name)}" if name in wanted else quoted(name)
                    for name in self.header
                )
            )

    def reading(self) -> AbstractContextManager[None]:
        """Say in one sentence what cannot be read: as `reading`, and in which row a text stands for a number."""
        return reading(*self.paths, locate=self._text_rows)

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
    """Yield the files behind paths, globs, directories and ``-`` for standard input, found and of one kind."""
    with TemporaryDirectory(prefix="pacband-") as folder:
        found = [path for given in paths for path in _expanded(os.fspath(given), folder)]
        kinds = {_kind(path) for path in found}
        if len(kinds) != 1:
            raise InvalidInput(f"the files must be all CSV or all Parquet, got {len(found)} of both kinds.")
        if kinds == {"parquet"}:
            yield Files(tuple(found), "parquet")
        else:
            header, delimiter = _header(found[0])
            for path in found[1:]:
                if _header(path) != (header, delimiter):
                    raise InvalidInput(f"{path} has other columns than {found[0]}.")
            yield Files(tuple(found), "csv", header, delimiter)


@contextmanager
def reading(*paths: str, locate: Callable[[str], str] = lambda message: "") -> Iterator[None]:
    """Say in one sentence what DuckDB could not read."""
    try:
        yield
    except duckdb.Error as error:
        raise InvalidInput(_said(str(error), paths) + locate(str(error))) from None
    except RuntimeError as error:
        # This is how DuckDB tells that Ctrl-C was pressed.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def write_table(relation: Any, path: str) -> None:
    """Write a relation to a CSV or Parquet file, whole or not at all; ``-`` is CSV on standard output."""
    if path == "-":
        # DuckDB would open the stream anew, and so cut off what was written to it before.
        with TemporaryDirectory(prefix="pacband-") as folder:
            spooled = Path(folder) / "rows.csv"
            write_table(relation, str(spooled))
            with open(spooled, "rb") as rows:
                copyfileobj(rows, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        return
    with drafted(Path(path)) as draft, reading(path):
        if Path(path).suffix.lower() in (".parquet", ".pq"):
            relation.write_parquet(str(draft), use_tmp_file=False)
        else:
            relation.write_csv(str(draft), header=True, use_tmp_file=False)


def quoted(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _expanded(path: str, folder: str) -> list[str]:
    if path == "-":
        spooled = os.path.join(folder, "standard input")
        with open(spooled, "wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        return [spooled]
    if os.path.isdir(path):
        found = sorted(glob(os.path.join(glob_escaped(path), "**", "*.parquet"), recursive=True))
        if not found:
            raise InvalidInput(f"{path} is a directory without Parquet files.")
        return found
    found = [path] if os.path.exists(path) else sorted(glob(path, recursive=True))
    if not found:
        raise InvalidInput(f"{path}: there is no such file.")
    return found


def glob_escaped(path: str) -> str:
    """Return a path whose special characters stand for themselves."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _kind(path: str) -> str:
    with open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise InvalidInput(f"{_shown(path)} is empty.")
    return "parquet" if start == b"PAR1" else "csv"


def _header(path: str) -> tuple[tuple[str, ...], str]:
    """Return the columns and the delimiter of a CSV file."""
    opener: Any = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        try:
            line = file.readline()
        except (UnicodeDecodeError, OSError):
            raise InvalidInput(f"{_shown(path)} is neither Parquet nor text in UTF-8.") from None
    delimiter = max(_DELIMITERS, key=line.count)
    if line.startswith("{"):
        raise InvalidInput(f"{_shown(path)} is neither CSV nor Parquet: it looks like JSON.")
    names = next(csv.reader([line], delimiter=delimiter), [])
    if not any(names):
        raise InvalidInput(f"{_shown(path)} has no header: its first line must name the columns.")
    # A column without a name, such as the index that pandas writes, gets one.
    names = [name or f"unnamed_{place}" for place, name in enumerate(names)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(
            f"{_shown(path)} has {len(twice)} column name(s) more than once: {', '.join(map(repr, twice[:5]))}."
        )
    return tuple(names), delimiter


def _said(message: str, paths: Sequence[str]) -> str:
    """Turn a message of DuckDB's into one sentence."""
    where = re.search(r"^\s*file = (.*)$", message, re.MULTILINE)
    name = _shown(where.group(1) if where else paths[0]) if where or paths else "the table"
    at = re.search(r"CSV Error on Line: (\d+)", message)
    line = f"{name}, line {at.group(1)}" if at else name
    if text := re.search(r'Error when converting column "(.*)". Could not convert string "(.*)" to', message):
        return f"{line}: column {text.group(1)!r} must be numeric, got {text.group(2)!r}."
    if text := _SOURCE_COLUMN.search(message):
        return f"{line}: column {text.group(2)!r} must be numeric, got {text.group(1)!r}."
    if ragged := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return f"{line}: a row must have {ragged.group(1)} cells like the header, got {ragged.group(2)}."
    if full := re.search(r'Could not write file \\?".*?\\?": ([^"]*)', message):
        return f"{name}: {full.group(1).strip()}."
    if "utf-8" in message:
        return f"{line}: the file must be text in UTF-8."
    first = message.strip().splitlines()[0]
    return f"{line}: {first.split(': ', 1)[-1]}" if not at else f"{line}: {message.strip().splitlines()[1]}"


def _shown(path: str) -> str:
    return "standard input" if os.path.basename(path) == "standard input" else path
